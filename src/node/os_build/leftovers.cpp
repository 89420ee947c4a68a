#include "node/os_build/leftovers.h"

#include "machineconfig/os_build.h"
#include "machineconfig/os_build_limits.h"
#include "sys/wait_for.h"

#include <optional>
#include <utility>
#include <vector>

namespace slipway::node {

namespace {

// Not in a folder that is removed.
constexpr const char* lock_file = "/run/slipway-os-build.lock";

Result<sys::FileLock> lock_machine(const std::string& root) {
  return sys::FileLock::acquire(root + lock_file, "the build of OS images");
}

}  // namespace

Result<sys::FileLock> wait_for_machine(const sys::Context& context, const std::string& root) {
  std::optional<sys::FileLock> lock;
  TRY(sys::wait_for(context, "another build on this machine", machineconfig::os_build_limits::run,
                    [&]() -> Result<sys::Observation> {
                      lock = TRY(lock_machine(root));
                      return sys::Observation::done();
                    }));
  return *std::move(lock);
}

Result<> remove_other_builds(sys::Files& files, const std::string& root, const std::string& name) {
  const std::string folder = root + machineconfig::os_images_folder;
  if (!TRY(files.info(folder))) return Ok{};
  const std::vector<std::string> builds = TRY(files.list(folder));
  for (const std::string& build : builds) {
    if (build != name) TRY(files.remove(folder + "/" + build));
  }
  return Ok{};
}

Result<> remove_leftovers_of_builds(const sys::Context& context, sys::Files& files) {
  const Result<sys::FileLock> lock = lock_machine("");
  if (!lock.ok() && lock.error().code() == Code::conflict) {
    context.log.info("an OS image is being built on this machine: what earlier builds left is kept");
    return Ok{};
  }
  if (!lock.ok()) return lock.error();
  TRY(files.remove(machineconfig::os_images_folder));
  return files.remove(os_build_storage);
}

}  // namespace slipway::node
