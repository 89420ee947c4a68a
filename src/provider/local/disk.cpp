#include "provider/local/disk.h"

#include "provider/local/preload.h"

#include "base/text.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
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
  (void)::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags);  // if this fails, the removal fails and reports the error
}

constexpr const char* grub_environment = "/boot/grub/grubenv";

std::string var_on_disk() { return fmt::format("/ostree/deploy/{}/var", os_name); }

Result<sys::Fd> open_folder(const std::string& path) {
  sys::Fd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return sys::system_error("opening " + path);
  return fd;
}

}  // namespace

Result<> make_disk(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& commit,
                   const ClusterPaths& cluster, const MachinePaths& machine) {
  for (const std::string& path : {machine.commit(), machine.layer(), machine.layer_work(), machine.var()}) {
    TRY(remove_tree(files, path));
  }
  TRY(files.make_directories(machine.layer(), 0755));
  TRY(files.make_directories(machine.layer_work(), 0700));
  TRY(sys::run_checked(runner, context,
                       {.argv = {"cp", "--archive", cluster.os() + "/" + commit + var_on_disk(), machine.var()}}));
  return files.write(machine.commit(), commit, 0600);
}

Result<MountedDisk> MountedDisk::mount(sys::Files& files, const ClusterPaths& cluster, const MachinePaths& machine,
                                       const std::string& images, std::string mount_point) {
  const std::string commit = TRY(files.read(machine.commit()));
  TRY(files.make_directories(mount_point, 0755));
  const sys::Fd os = TRY(open_folder(cluster.os() + "/" + commit));
  const sys::Fd layer = TRY(open_folder(machine.layer())), work = TRY(open_folder(machine.layer_work()));
  // Descriptors instead of paths: a comma or colon in a path would end an option. metacopy: if only metadata changes, the content
  // is not copied, because files of a deployment are hard links to OSTree objects.
  const std::string options =
      fmt::format("lowerdir=/proc/self/fd/{},upperdir=/proc/self/fd/{},workdir=/proc/self/fd/{},redirect_dir=on,metacopy=on",
                  os.get(), layer.get(), work.get());
  if (::mount("disk", mount_point.c_str(), "overlay", 0, options.c_str()) != 0) {
    return sys::system_error("mounting a disk over " + cluster.os() + "/" + commit);
  }
  MountedDisk mounted(std::move(mount_point));
  if (::mount(machine.var().c_str(), (mounted.mount_point_ + var_on_disk()).c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return sys::system_error("mounting " + machine.var());
  }
  if (TRY(files.info(machine.var() + std::string(images_in_var)))) {
    const std::string target = mounted.mount_point_ + var_on_disk() + std::string(images_in_var);
    if (::mount(images.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0) return sys::system_error("mounting " + images);
  }
  return mounted;
}

MountedDisk::~MountedDisk() {
  // Also detaches the mounts below. Processes that still use the mounts keep them until they end.
  if (!mount_point_.empty()) ::umount2(mount_point_.c_str(), MNT_DETACH);
}

Result<BootTarget> boot_target(sys::Files& files, const std::string& sysroot, BootChoice choice) {
  const std::string folder = sysroot + "/boot/loader/entries";
  std::vector<BootEntry> entries;
  for (const std::string& name : TRY(files.list(folder))) {
    if (!name.ends_with(".conf")) continue;
    entries.push_back(TRY(parse_boot_entry(TRY(files.read(folder + "/" + name)), name)));
  }
  BootEntry entry = TRY(choose(std::move(entries), choice).context(folder));
  std::error_code failure;
  const std::string target = std::filesystem::read_symlink(sysroot + entry.deployment, failure);
  if (failure) return error(Code::not_found, "{}: {}: {}", entry.file, entry.deployment, failure.message());
  Deployment deployment = TRY(deployment_of_link(entry.deployment, target));
  return BootTarget{std::move(entry), std::move(deployment)};
}

Result<Deployment> newest_deployment(sys::Files& files, const std::string& sysroot) {
  BootTarget target = TRY(boot_target(files, sysroot, BootChoice::newest));
  return std::move(target.deployment);
}

Result<std::optional<GrubEnvironment>> read_grub_environment(sys::Files& files, const std::string& sysroot) {
  const std::optional<GrubEnvironment> none;
  for (const std::string& folder : {sysroot + "/boot", sysroot + "/boot/grub"}) {
    const auto info = TRY(files.info(folder));
    if (!info || info->kind != sys::FileKind::directory) return none;
  }
  const auto info = TRY(files.info(sysroot + grub_environment));
  if (!info || info->kind != sys::FileKind::file) return none;
  Result<GrubEnvironment> environment = parse_grub_environment(TRY(files.read(sysroot + grub_environment)));
  if (!environment.ok()) return none;
  return std::optional(std::move(environment).value());
}

Result<> write_grub_environment(sys::Files& files, const std::string& sysroot, const GrubEnvironment& environment) {
  return files.write(sysroot + grub_environment, TRY(serialise(environment)), 0644);
}

Result<> remove_tree(sys::Files& files, const std::string& folder) {
  const Result<> removed = files.remove(folder);
  if (removed.ok() || removed.error().code() != Code::denied) return removed;
  std::error_code ignored;  // folders that cannot be listed cannot be removed either; the removal reports the error
  make_mutable(folder);
  for (std::filesystem::recursive_directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    if (!at->is_symlink(ignored)) make_mutable(at->path());
  }
  return files.remove(folder);
}

}  // namespace slipway::provider::local
