#include "provider/os_image.h"

#include "release/commit_metadata.h"
#include "release/disk_image.h"

#include <fmt/core.h>

namespace slipway::provider {

namespace {

constexpr std::size_t identity_length = 12;

}  // namespace

Result<std::string> identify_os_image(const net::Environment& environment, const OsImageSource& source) {
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
  std::string file = fmt::format("{}/{}", source.work_folder, name);
  TRY(environment.files.remove(file));  // of a call that was killed
  TRY(environment.files.make_directories(source.work_folder, 0700));
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

}  // namespace slipway::provider
