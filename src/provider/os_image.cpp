#include "provider/os_image.h"

#include "base/digest.h"
#include "base/text.h"
#include "release/commit_metadata.h"
#include "release/disk_image.h"
#include "sys/fd.h"

#include <fcntl.h>

#include <fmt/core.h>

namespace slipway::provider {

namespace {

constexpr std::size_t identity_length = 12;
constexpr std::size_t digest_length = 64;
constexpr const char* os_image_name = "machine-os";

Result<> download(const net::Environment& environment, const std::string& from, const std::string& path) {
  const sys::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.is_open()) return sys::system_error("creating " + path);
  Sha256 digest;
  // What arrives without TLS is checked by its digest, which the check of the install-config requires.
  net::Url url = TRY(net::parse_url(from));
  const net::Request request{.url = std::move(url), .tls = {.plain_http = true}};
  const net::Answer answer =
      TRY(environment.http.send(request, environment.context.stop, [&](std::string_view piece) -> Result<> {
        digest.update(piece);
        return sys::write_all(fd, piece, "writing " + path);
      }));
  if (answer.status != 200) return error(Code::invalid, "{}: status {}", net::authority(request.url), answer.status);
  const std::string wanted = digest_of_url(from), got = digest.finish_hex();
  if (wanted.empty() || wanted == got) return Ok{};
  return error(Code::invalid, "the file has the SHA-256 {}, not {}", got, wanted);
}

}  // namespace

std::string digest_of_url(std::string_view url) {
  constexpr std::string_view name = "sha256=";
  const std::size_t query = url.find('?');
  if (query == std::string_view::npos) return "";
  for (const std::string_view part : split(url.substr(query + 1), '&')) {
    if (part.starts_with(name) && part.size() == name.size() + digest_length) return to_lower(part.substr(name.size()));
  }
  return "";
}

Result<std::string> identify_os_image(const net::Environment& environment, const OsImageSource& source) {
  if (!source.url.empty()) {
    const std::string digest = digest_of_url(source.url);
    return (digest.empty() ? sha256_hex(source.url) : digest).substr(0, identity_length);
  }
  std::vector<std::string> command = {"sha256sum", source.file};
  if (source.file.empty()) command = {"ostree", "rev-parse", "--repo=" + source.repository, std::string(release::machine_os_ref)};
  const std::string what = source.file.empty() ? source.repository : source.file;
  const std::string output =
      TRY(sys::run_checked(environment.runner, environment.context, {.argv = std::move(command)}).context(what));
  if (output.size() < identity_length) return error(Code::internal, "{}: has no digest", what);
  return output.substr(0, identity_length);
}

Result<std::string> os_image_file(const net::Environment& environment, const OsImageSource& source, std::string_view platform,
                                  std::string_view format, const std::string& name) {
  if (!source.file.empty()) return source.file;
  std::string file = fmt::format("{}/{}.{}", source.work_folder, name, format);
  TRY(environment.files.remove(file));  // of a call that was killed
  TRY(environment.files.make_directories(source.work_folder, 0700));
  if (!source.url.empty()) {
    Result<> loaded = download(environment, source.url, file).context("clusterOSImage");
    if (!loaded.ok()) {
      (void)environment.files.remove(file).ok();
      return std::move(loaded).error();
    }
    return file;
  }
  TRY(release::make_disk_image(environment.context, environment.files, environment.runner,
                               {.programs = source.programs,
                                .repository = source.repository,
                                .ref = std::string(release::machine_os_ref),
                                .platform = release::find_disk_platform(platform),
                                .format = std::string(format),
                                .name = name,
                                .output = file}));
  return file;
}

OsImage::~OsImage() {
  if (!path_.empty() && source_.file.empty()) (void)environment_.files.remove(path_).ok();
}

Result<std::string> OsImage::file(const sys::Context& context) {
  std::lock_guard lock(mutex_);
  if (!path_.empty()) return path_;
  if (source_.is_made() && source_.repository.empty()) {
    return error(Code::not_found,
                 "the image of the machine OS is missing, and this command makes none (run `slipway create cluster` again)");
  }
  path_ = TRY(os_image_file(environment_.with(context), source_, platform_, format_, os_image_name));
  return path_;
}

}  // namespace slipway::provider
