#include "provider/local/preload.h"

#include "sys/fd.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mount.h>

namespace slipway::provider::local {

Result<> preload_images(const sys::Context& context, sys::Runner& runner, sys::Files& files, const std::string& folder,
                        const std::string& var_folder) {
  const std::string target = var_folder + "/lib/containerd";
  if (TRY(files.info(target)) && !TRY(files.list(target)).empty()) {
    return error(Code::conflict, "{} is not empty, its images are not changed", target);
  }
  TRY(files.make_directories(var_folder + "/lib", 0755));
  TRY(sys::run_checked(runner, context, {.argv = {"cp", "--archive", folder + "/state/.", target}}));
  return files.make_directories(var_folder + std::string(images_in_var), 0700);
}

Result<> mount_images(sys::Files& files, const std::string& folder, const std::string& place) {
  // An overlay without an upper layer needs two lower layers. Both are on one file system, so that files keep their inode
  // numbers.
  const std::string nothing = folder + "/nothing";
  for (const std::string& path : {place, nothing}) TRY(files.make_directories(path, 0700));
  const std::string images = folder + "/images";
  const sys::Fd of_cluster(::open(images.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const sys::Fd empty(::open(nothing.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!of_cluster.is_open() || !empty.is_open()) return sys::system_error("opening " + images);
  // Descriptors instead of paths: a comma or colon in a path would end an option.
  const std::string options = fmt::format("lowerdir=/proc/self/fd/{}:/proc/self/fd/{}", of_cluster.get(), empty.get());
  if (::mount("images", place.c_str(), "overlay", MS_RDONLY, options.c_str()) != 0)
    return sys::system_error("mounting the images of machines, " + images);
  return Ok{};
}

}  // namespace slipway::provider::local
