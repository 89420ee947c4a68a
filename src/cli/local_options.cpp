#include "cli/local_options.h"

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
          .help = "OSTree repository of the machine OS, for a new cluster",
          .fallback = "build/payload/os/repo"};
}

Option images_option() {
  return {.name = "--images",
          .value = "DIR",
          .help = "folder with the images that `make payload` built, for a new cluster",
          .fallback = "build/payload"};
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

}  // namespace slipway::cli
