#include "provider/local/sysroot.h"

#include "provider/local/layout.h"

#include "base/text.h"
#include "data/data.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <filesystem>
#include <vector>

namespace slipway::provider::local {

namespace {

void make_mutable(const std::string& path) {
  const sys::Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  int flags = 0;
  if (!fd.is_open() || ::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) != 0) return;
  constexpr int locked = FS_IMMUTABLE_FL | FS_APPEND_FL;
  if ((flags & locked) == 0) return;
  flags &= ~locked;
  (void)::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags);  // when it fails, so does the removal, and says so
}

}  // namespace

Result<Deployment> make_sysroot(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& os_repo,
                                const std::string& sysroot) {
  TRY(remove_tree(files, sysroot));
  const sys::Output output =
      TRY(runner.run(context, {.argv = {"/bin/sh", "-c", std::string(data::content(data::provider(), "make-disk")), "make-disk",
                                        os_repo, std::string(os_ref), std::string(os_name), sysroot}}));
  if (output.status != 0) {
    return error(Code::unavailable, "making the disk {} from {}: status {}: {}", sysroot, os_repo, output.status,
                 trim(output.err));
  }
  return deployment_to_boot(files, sysroot);
}

Result<Deployment> deployment_to_boot(sys::Files& files, const std::string& sysroot) {
  const std::string folder = sysroot + "/boot/loader/entries";
  std::vector<BootEntry> entries;
  for (const std::string& name : TRY(files.list(folder))) {
    if (!name.ends_with(".conf")) continue;
    entries.push_back(TRY(parse_boot_entry(TRY(files.read(folder + "/" + name)), name)));
  }
  const BootEntry entry = TRY(newest(entries).context(folder));
  std::error_code failure;
  const std::string target = std::filesystem::read_symlink(sysroot + entry.deployment, failure);
  if (failure) return error(Code::not_found, "{}: {}: {}", entry.file, entry.deployment, failure.message());
  return deployment_of_link(entry.deployment, target);
}

Result<> remove_tree(sys::Files& files, const std::string& folder) {
  const Result<> removed = files.remove(folder);
  if (removed.ok() || removed.error().code() != Code::denied) return removed;
  std::error_code ignored;  // what cannot be listed cannot be removed either, and is told then
  make_mutable(folder);
  for (std::filesystem::recursive_directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    if (!at->is_symlink(ignored)) make_mutable(at->path());
  }
  return files.remove(folder);
}

}  // namespace slipway::provider::local
