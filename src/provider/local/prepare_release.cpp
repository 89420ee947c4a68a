#include "provider/local/prepare_release.h"

#include "provider/local/layout.h"
#include "release/commit_metadata.h"
#include "sys/programs.h"
#include "sys/stages.h"

#include <unistd.h>
#include <array>

namespace slipway::provider::local {

namespace {

constexpr std::string_view os_image = "machine-os";

// What the programs of slipway run.
constexpr std::array programs_of_host = {sys::NeededProgram{"python3", "python3"}, sys::NeededProgram{"ostree", "ostree"},
                                         sys::NeededProgram{"unshare", "util-linux"}};

// errors: invalid: all problems, one line each with a hint
Result<> check_host(const std::string& folder) {
  Findings found;
  if (::geteuid() != 0) {
    found.error({}, "host", "local machines require root, because their files belong to several users")
        .hint("run it with sudo, or use --images-only for a host without local machines");
  }
  sys::find_missing(found, programs_of_host);
  return found.to_result().context("preparing " + folder + " for local machines");
}

sys::Stage program(sys::Runner& runner, std::string name, std::vector<std::string> needs, std::vector<std::string> command) {
  return {.name = std::move(name), .needs = std::move(needs), .run = [&runner, command](const sys::Context& context) -> Result<> {
            TRY(sys::run_checked(runner, context, {.argv = command}));
            return Ok{};
          }};
}

}  // namespace

Result<> prepare_release(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& programs,
                         const ReleaseFolder& folder, const std::string& version) {
  TRY(check_host(folder.path));
  const std::string layout = folder.layout(), payload = folder.payload(), repository = os_repo_in(payload);
  const std::string markers = folder.path + "/stages";
  TRY(files.remove(markers));
  TRY(files.make_directories(payload + "/bin", 0755));
  TRY(files.make_directories(payload + "/os", 0755));
  const std::vector<std::string> serve = {programs + "/slipway-images", "registry", "--layout", layout, "--output",
                                          payload + "/registry"};
  const std::vector<std::string> commit = {
      programs + "/commit", layout, std::string(os_image), repository, std::string(release::machine_os_ref), version};
  const std::vector<std::string> preload = {programs + "/preload", layout, repository, std::string(release::machine_os_ref),
                                            payload + "/containerd"};
  const std::vector<std::string> copy = {"cp", "--dereference", "--no-target-directory", programs + "/registry",
                                         payload + "/bin/registry"};
  TRY(sys::run_stages(context, files, markers,
                      {program(runner, "registry", {}, serve), program(runner, "registry-program", {}, copy),
                       program(runner, "machine-os", {}, commit), program(runner, "machine-images", {"machine-os"}, preload)}));
  return files.remove(markers);
}

}  // namespace slipway::provider::local
