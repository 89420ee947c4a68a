#include "node/os_update/image_source.h"

#include "machineconfig/os_build.h"
#include "release/reference.h"

#include <optional>
#include <string>

namespace slipway::node {

namespace {

const std::string path(machineconfig::os_image_source_file);

}  // namespace

Result<> add_os_image_source(sys::Files& files, release::RegistryOptions& options) {
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (!text) return Ok{};
  const machineconfig::OsImageSource source = TRY(machineconfig::parse_os_image_source(*text, path));
  const release::Reference image = TRY(release::parse_reference(source.image).context(path));
  const release::Mirror mirror = {.source = image.registry + "/" + image.repository,
                                  .mirrors = {source.server + "/" + image.repository},
                                  .ca_pem = source.ca};
  options.mirrors.insert(options.mirrors.begin(), mirror);
  options.credentials.set(source.server, {source.username, source.password});
  return Ok{};
}

Result<> remove_os_image_source(sys::Files& files) {
  if (!TRY(files.info(path))) return Ok{};
  return files.remove(path);
}

}  // namespace slipway::node
