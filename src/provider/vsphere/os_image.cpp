#include "provider/vsphere/os_image.h"

#include "base/digest.h"
#include "base/text.h"
#include "release/commit_metadata.h"
#include "release/disk_image.h"
#include "sys/fd.h"

#include <fcntl.h>

#include <fmt/core.h>

namespace slipway::provider::vsphere {

namespace {

constexpr std::size_t identity_length = 12;
constexpr std::size_t digest_length = 64;
constexpr std::string_view platform = "vmware";

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

OsImage::~OsImage() {
  if (!path_.empty()) (void)environment_.files.remove(path_).ok();
}

Result<std::string> OsImage::identify(const sys::Context& context) {
  if (!source_.url.empty()) {
    const std::string digest = digest_of_url(source_.url);
    return (digest.empty() ? sha256_hex(source_.url) : digest).substr(0, identity_length);
  }
  const std::string output = TRY(
      sys::run_checked(environment_.runner, context,
                       {.argv = {"ostree", "rev-parse", "--repo=" + source_.repository, std::string(release::machine_os_ref)}})
          .context(source_.repository));
  if (output.size() < identity_length) return error(Code::internal, "{}: has no digest", source_.repository);
  return output.substr(0, identity_length);
}

Result<std::string> OsImage::file(const sys::Context& context) {
  std::lock_guard lock(mutex_);
  if (!path_.empty()) return path_;
  if (source_.url.empty() && source_.repository.empty()) {
    return error(Code::not_found,
                 "the template with the machine OS is missing, and this command makes none (create a template in "
                 "the failure domain, or run `slipway create cluster` again)");
  }
  const std::string path = source_.work_folder + "/machine-os.ova";
  TRY(environment_.files.remove(path));  // of a run that was killed
  TRY(environment_.files.make_directories(source_.work_folder, 0700));
  if (!source_.url.empty()) {
    TRY(download(context, path).context("platform.vsphere.clusterOSImage"));
  } else {
    TRY(release::make_disk_image(context, environment_.files, environment_.runner,
                                 {.programs = source_.programs,
                                  .repository = source_.repository,
                                  .ref = std::string(release::machine_os_ref),
                                  .platform = release::find_disk_platform(platform),
                                  .format = "ova",
                                  .name = "machine-os",
                                  .output = path}));
  }
  path_ = path;
  return path_;
}

Result<> OsImage::download(const sys::Context& context, const std::string& path) {
  const sys::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.is_open()) return sys::system_error("creating " + path);
  Sha256 digest;
  // What arrives without TLS is checked by its digest (check_config).
  net::Url url = TRY(net::parse_url(source_.url));
  const net::Request request{.url = std::move(url), .tls = {.plain_http = true}};
  const net::Answer answer = TRY(environment_.http.send(request, context.stop, [&](std::string_view piece) -> Result<> {
    digest.update(piece);
    return sys::write_all(fd, piece, "writing " + path);
  }));
  if (answer.status != 200) return error(Code::invalid, "{}: status {}", net::authority(request.url), answer.status);
  const std::string wanted = digest_of_url(source_.url), got = digest.finish_hex();
  if (wanted.empty() || wanted == got) return Ok{};
  return error(Code::invalid, "the file has the SHA-256 {}, not {}", got, wanted);
}

}  // namespace slipway::provider::vsphere
