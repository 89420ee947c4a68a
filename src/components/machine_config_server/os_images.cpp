#include "components/machine_config_server/os_images.h"

#include "base/digest.h"
#include "base/json.h"
#include "components/machine_config_server/constant_time.h"
#include "machineconfig/os_build_files.h"
#include "release/manifest.h"
#include "release/reference.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace slipway::components::machine_config_server {

namespace {

constexpr std::string_view version_header = "Docker-Distribution-Api-Version";
constexpr std::string_view digest_header = "Docker-Content-Digest";

// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes
net::ServerAnswer refusal(int status, std::string_view code, std::string_view message) {
  const Json body = {{"errors", JsonArray{{{"code", code}, {"message", message}}}}};
  return net::text_answer(status, emit_json(body, JsonStyle::compact), "application/json");
}

net::ServerAnswer unknown(bool is_manifest, const Error& why) {
  return refusal(404, is_manifest ? "MANIFEST_UNKNOWN" : "BLOB_UNKNOWN", why.message());
}

// The media type of a manifest that belongs to an image: the image itself, or an entry of its index.
Result<std::optional<std::string>> manifest_type(const release::Digest& image, std::string_view image_bytes,
                                                 const release::Digest& wanted) {
  const release::RawManifest top = {release::guess_media_type(image_bytes), std::string(image_bytes), image};
  if (wanted == image) return std::optional(top.media_type);
  if (!release::is_index(top.media_type)) return std::optional<std::string>();
  const release::ImageIndex index = TRY(release::parse_image_index(top));
  const auto entry = std::ranges::find(index.manifests, wanted, &release::Descriptor::digest);
  return entry == index.manifests.end() ? std::optional<std::string>() : std::optional(entry->media_type);
}

net::ServerAnswer blob_answer(const net::ServerRequest& request, const release::Digest& digest, const std::string& path,
                              std::uint64_t size) {
  net::ServerAnswer answer{.headers = {{"Content-Type", "application/octet-stream"},
                                       {std::string(digest_header), digest.text()},
                                       {"Accept-Ranges", "bytes"}}};
  const net::RangeRequest range = net::parse_range(request.header("Range").value_or(""), size);
  if (range.kind == net::RangeRequest::Kind::not_satisfiable) {
    net::ServerAnswer refused = refusal(416, "BLOB_UNKNOWN", "the range is behind the end of the blob");
    refused.headers.push_back({"Content-Range", fmt::format("bytes */{}", size)});
    return refused;
  }
  answer.file = net::FilePart{path, 0, size};
  if (range.kind == net::RangeRequest::Kind::part) {
    const auto& [first, length] = range.range;
    answer.status = 206;
    answer.headers.push_back({"Content-Range", fmt::format("bytes {}-{}/{}", first, first + length - 1, size)});
    answer.file = net::FilePart{path, first, length};
  }
  return answer;
}

}  // namespace

OsImages::OsImages(sys::Files& files, std::string folder, const Secret& control_plane_token)
    : files_(files), folder_(std::move(folder)), login_(fmt::format("{}:{}", os_image_user, control_plane_token.reveal())) {}

bool OsImages::is_allowed(const net::ServerRequest& request) const {
  constexpr std::string_view scheme = "Basic ";
  const std::string_view sent = request.header("Authorization").value_or("");
  if (!sent.starts_with(scheme)) return false;
  Result<std::string> decoded = base64_decode(sent.substr(scheme.size()));
  if (!decoded.ok()) return false;
  const Secret login(std::move(decoded).value());
  return equal_in_constant_time(login.reveal(), login_.reveal());
}

net::ServerAnswer OsImages::answer(const net::ServerRequest& request) const {
  if (!is_allowed(request)) {
    net::ServerAnswer refused = refusal(401, "UNAUTHORIZED", "access denied: the login is missing or wrong");
    refused.headers.push_back({"WWW-Authenticate", "Basic realm=\"slipway\""});
    return refused;
  }
  if (request.method != "GET") return refusal(405, "UNSUPPORTED", "this server is read-only");
  if (request.path == "/v2" || request.path == "/v2/") {
    net::ServerAnswer fine = net::text_answer(200, "{}", "application/json");
    fine.headers.push_back({std::string(version_header), "registry/2.0"});
    return fine;
  }
  const bool is_manifest = request.path.find("/manifests/") != std::string::npos;
  const Result<Content> content = parse_path(request.path);
  if (!content.ok() && content.error().code() == Code::invalid) return refusal(400, "DIGEST_INVALID", content.error().message());
  if (!content.ok()) return unknown(is_manifest, content.error());
  Result<net::ServerAnswer> found = find(request, content.value());
  if (found.ok()) return std::move(found).value();
  if (found.error().code() == Code::not_found) return unknown(content->is_manifest, found.error());
  return refusal(503, "UNAVAILABLE", found.error().message());
}

Result<OsImages::Content> OsImages::parse_path(std::string_view path) {
  constexpr std::string_view api = "/v2/", manifests = "/manifests", blobs = "/blobs";
  path.remove_prefix(std::min(api.size(), path.size()));
  const std::size_t slash = path.rfind('/');
  const std::string_view selector = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  std::string_view repository = path.substr(0, path.size() - selector.size() - (slash == std::string_view::npos ? 0 : 1));
  const bool is_manifest = repository.ends_with(manifests);
  if (!is_manifest && !repository.ends_with(blobs)) return error(Code::not_found, "only manifests and blobs exist here");
  if (is_manifest && !selector.starts_with("sha256:")) return error(Code::not_found, "images are served by digest only");
  repository.remove_suffix(is_manifest ? manifests.size() : blobs.size());
  release::Digest digest = TRY(release::Digest::parse(selector));
  return Content{.repository = std::string(repository), .is_manifest = is_manifest, .digest = std::move(digest)};
}

Result<net::ServerAnswer> OsImages::find(const net::ServerRequest& request, const Content& content) const {
  if (TRY(files_.info(folder_))) {
    const std::vector<std::string> pools = TRY(files_.list(folder_));
    for (const std::string& pool : pools) {
      std::optional<net::ServerAnswer> found = TRY(find_in(pool, request, content));
      if (found) return *std::move(found);
    }
  }
  return error(Code::not_found, "no image of this server has it");
}

Result<std::optional<net::ServerAnswer>> OsImages::find_in(const std::string& pool, const net::ServerRequest& request,
                                                           const Content& content) const {
  using Found = std::optional<net::ServerAnswer>;
  const std::string record = fmt::format("{}/{}/image.json", folder_, pool);
  const std::optional<machineconfig::OsImage> image = TRY(machineconfig::read_os_image(files_, record));
  if (!image) return Found();
  const release::Reference name = TRY(release::parse_reference(image->image()).context(record));
  if (content.repository != name.repository) return Found();
  const std::string blobs = fmt::format("{}/{}/oci/blobs/sha256/", folder_, pool);
  const std::string path = blobs + content.digest.hex();
  const std::optional<sys::FileInfo> info = TRY(files_.info(path));
  if (!info || info->kind != sys::FileKind::file) return Found();
  if (!content.is_manifest) return Found(blob_answer(request, content.digest, path, info->size));
  const std::string top = TRY(files_.read(blobs + name.digest->hex()));
  const std::optional<std::string> type = TRY(manifest_type(*name.digest, top, content.digest));
  if (!type) return Found();
  net::ServerAnswer answer = net::text_answer(200, TRY(files_.read(path)), *type);
  answer.headers.push_back({std::string(digest_header), content.digest.text()});
  return Found(std::move(answer));
}

}  // namespace slipway::components::machine_config_server
