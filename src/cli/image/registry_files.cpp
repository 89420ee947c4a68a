#include "cli/image/registry_files.h"

#include "base/digest.h"
#include "base/json.h"

#include <fmt/core.h>

namespace slipway::cli {

namespace {

Result<> write_login(sys::Files& files, const std::string& path, const provider::RegistryLogin& login) {
  const std::string encoded = base64_encode(fmt::format("{}:{}", login.user, login.password.reveal()));
  const Json config = {{"auths", {{login.address, {{"auth", encoded}}}}}};
  return files.write(path, emit_json(config, JsonStyle::pretty), 0600);
}

}  // namespace

Result<> write_registry_files(sys::Files& files, const std::string& folder, const provider::ImageRegistry& registry) {
  TRY(write_login(files, registry_login_file(folder), registry.people));
  if (registry.machines) TRY(write_login(files, os_registry_login_file(folder), *registry.machines));
  return files.write(registry_certificates(folder) + "/ca.crt", registry.authority, 0644);
}

Result<std::string> registry_address(sys::Files& files, const std::string& folder) {
  const std::string path = registry_login_file(folder);
  const auto text = TRY(files.read_if_exists(path));
  if (!text) {
    return error(
        Code::not_found,
        "{}: not found (--dir must be the directory of a cluster of platform local. A cluster of an older version has no "
        "registry for images)",
        path);
  }
  const Json config = TRY(parse_json(*text, path));
  for (const auto& entry : find_object(config, {"auths"})) return std::string(entry.key());
  return error(Code::invalid, "{}: has no login (run `slipway create cluster` again: it writes the file)", path);
}

Result<> remove_registry_files(sys::Files& files, const std::string& folder) {
  TRY(files.remove(registry_login_file(folder)));
  TRY(files.remove(os_registry_login_file(folder)));
  return files.remove(registry_certificates(folder));
}

}  // namespace slipway::cli
