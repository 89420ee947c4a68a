#include "cli/local_options.h"

#include "cli/release/release_store.h"
#include "sys/environment_variable.h"

#include <filesystem>

namespace slipway::cli {

namespace {

constexpr const char* default_state = "/var/lib/slipway/local";

Option option_with_default(std::string_view first) {
  return {.name = "--state",
          .value = "DIR",
          .help = fmt::format("folder of local clusters (default {}$SLIPWAY_STATE, else {})", first, default_state)};
}

}  // namespace

Option state_option() { return option_with_default(""); }

Option state_of_directory_option() { return option_with_default("the folder of this directory's cluster, else "); }

Option os_repo_option() {
  return {.name = "--os-repo",
          .value = "DIR",
          .help = "OSTree repository of the machine OS, for a new cluster (default: os/repo below the folder of --images)"};
}

Option images_option() {
  return {.name = "--images",
          .value = "DIR",
          .help = "folder with the images of machines, for a new cluster (default: the folder payload beside the release)"};
}

Option os_image_option() {
  return {
      .name = "--os-image",
      .value = "FILE",
      .help =
          "a disk image for the machines of platforms libvirt (qcow2) and aws (raw) (default: made from the machine OS of the "
          "release)"};
}

Result<std::string> images_folder(const Environment& environment, const Arguments& arguments, const std::string& release) {
  if (arguments.has("--images")) return absolute(arguments["--images"]);
  if (!release.empty()) {
    const std::string beside = absolute(release + "/../payload");
    if (TRY(environment.files.info(release + "/oci-layout")) && TRY(environment.files.info(beside))) return beside;
  }
  const std::string store = store_folder();
  const auto folder = default_release(environment.files, TRY(own_program()), store);
  // An existing cluster has its own copies. Without a release a new one fails where the release is chosen.
  if (!folder.ok() && folder.error().code() == Code::not_found) return provider::local::ReleaseFolder{store}.payload();
  return TRY(folder).payload();
}

std::string os_repo_folder(const Arguments& arguments, const std::string& images) {
  return arguments.has("--os-repo") ? absolute(arguments["--os-repo"]) : provider::local::os_repo_in(images);
}

std::string state_folder(const Arguments& arguments) {
  if (arguments.has("--state")) return absolute(arguments["--state"]);
  return absolute(sys::environment_variable("SLIPWAY_STATE", default_state));
}

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

Result<std::string> own_program() {
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) return error(Code::internal, "reading /proc/self/exe: {}", failure.message());
  return program.string();
}

Result<std::string> helper_folder() {
  return (std::filesystem::path(TRY(own_program())).parent_path().parent_path() / "lib/slipway").string();
}

}  // namespace slipway::cli
