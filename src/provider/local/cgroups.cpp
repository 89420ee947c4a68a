#include "provider/local/cgroups.h"

#include "base/number.h"
#include "base/text.h"
#include "sys/fd.h"
#include "sys/wait_for.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

namespace slipway::provider::local {

namespace {

// Kernel files accept a value in one write and cannot be replaced, as sys::Files would do.
Result<> write_setting(const std::string& path, std::string_view value) {
  const std::string doing = fmt::format("writing {} to {}", trim(value), path);
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return sys::system_error(doing);
  return sys::write_all(file, value, doing);
}

// The folder and all folders below it, deepest first.
std::vector<std::string> deepest_first(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code ignored;  // folders may disappear during the iteration
  if (!std::filesystem::is_directory(folder, ignored)) return found;
  found.push_back(folder);
  for (std::filesystem::recursive_directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) found.push_back(at->path().string());
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::set<int> processes_in(const std::vector<std::string>& folders) {
  sys::RealFiles files;
  std::set<int> found;
  for (const std::string& folder : folders) {
    for (const std::string& cgroup : deepest_first(folder)) {
      const Result<std::string> text = files.read(cgroup + "/cgroup.procs");
      if (!text.ok()) continue;
      for (std::string_view line : split(text.value(), '\n')) {
        const int pid = parse_number<int>(line).value_or(0);
        if (pid > 0) found.insert(pid);  // 0 is a process outside of our process namespace
      }
    }
  }
  return found;
}

bool is_namespace_init(int pid) {
  sys::RealFiles files;
  const Result<std::string> status = files.read(fmt::format("/proc/{}/status", pid));
  if (!status.ok()) return false;
  const std::vector<int> pids = namespace_pids(status.value());
  return pids.size() > 1 && pids.back() == 1;
}

// What kubelet, containerd and systemd of a machine use.
constexpr std::array used_controllers = {std::string_view("cpu"), std::string_view("cpuset"), std::string_view("hugetlb"),
                                         std::string_view("io"),  std::string_view("memory"), std::string_view("pids")};

// Version 2: the controllers that a cgroup lacks for its children.
Result<std::vector<std::string>> missing_controllers(sys::Files& files, const std::string& folder) {
  const std::string available = TRY(files.read(folder + "/cgroup.controllers"));
  return controllers_to_enable(available, TRY(files.read(folder + "/cgroup.subtree_control")));
}

Result<> enable_controllers(const std::string& folder, const std::vector<std::string>& controllers) {
  if (controllers.empty()) return Ok{};
  return write_setting(folder + "/cgroup.subtree_control", fmt::format("+{}", join(controllers, " +")));
}

// An extended attribute of HIERARCHY/slipway: the controllers that slipway enabled for the children of the root, "cpu io". It
// exists as long as that cgroup.
constexpr const char* enabled_attribute = "trusted.slipway.enabled";

std::string enabled_by_slipway(const std::string& top) {
  char value[256];
  const ssize_t size = ::getxattr(top.c_str(), enabled_attribute, value, sizeof value);
  return size > 0 ? std::string(value, static_cast<std::size_t>(size)) : "";
}

// Held while HIERARCHY/slipway is created or removed together with the settings of the root.
sys::Fd lock_root(const std::string& hierarchy) {
  sys::Fd root(::open(hierarchy.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.is_open()) ::flock(root.get(), LOCK_EX);
  return root;
}

Result<> enable_for_children_of_root(sys::Files& files, const std::string& hierarchy, const std::string& top) {
  const std::vector<std::string> missing = TRY(missing_controllers(files, hierarchy));
  if (missing.empty()) return Ok{};
  const std::string before = enabled_by_slipway(top);
  const std::string value = fmt::format("{}{}{}", before, before.empty() ? "" : " ", join(missing, " "));
  // If the kernel does not keep the attribute, the controllers stay enabled.
  ::setxattr(top.c_str(), enabled_attribute, value.data(), value.size(), 0);
  return enable_controllers(hierarchy, missing);
}

// Removes HIERARCHY/slipway after the last cluster, and disables what slipway enabled for it. The kernel refuses that for a
// controller that a service manager hands down to cgroups below the root's children meanwhile.
void remove_top(const std::filesystem::path& top) {
  const std::string root = top.parent_path();
  const sys::Fd lock = lock_root(root);
  const std::string enabled = enabled_by_slipway(top);
  if (::rmdir(top.c_str()) != 0 || enabled.empty()) return;
  for (std::string_view controller : split(enabled, ' '))
    (void)write_setting(root + "/cgroup.subtree_control", fmt::format("-{}", controller));
}

}  // namespace

std::vector<std::string> controllers_to_enable(std::string_view available, std::string_view enabled) {
  const std::vector<std::string_view> before = split(trim(enabled), ' ');
  std::vector<std::string> missing;
  for (std::string_view controller : split(trim(available), ' ')) {
    const bool is_used = std::ranges::find(used_controllers, controller) != used_controllers.end();
    if (is_used && std::ranges::find(before, controller) == before.end()) missing.emplace_back(controller);
  }
  return missing;
}

std::vector<Hierarchy> hierarchies(std::string_view mounts) {
  std::vector<Hierarchy> found;
  for (std::string_view line : split(mounts, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() < 4 || (fields[2] != "cgroup" && fields[2] != "cgroup2")) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const Hierarchy& other) { return other.path == fields[1]; });
    if (known) continue;
    Hierarchy hierarchy{.path = std::string(fields[1]), .unified = fields[2] == "cgroup2"};
    if (!hierarchy.unified) {
      for (std::string_view option : split(fields[3], ',')) {
        if (option != "rw" && option != "ro" && option != "relatime" && !option.starts_with("no"))
          hierarchy.controllers.emplace_back(option);
      }
    }
    found.push_back(std::move(hierarchy));
  }
  return found;
}

std::vector<std::string> cgroup_folders(const std::vector<Hierarchy>& all, std::string_view id, std::string_view member) {
  std::vector<std::string> folders;
  for (const Hierarchy& hierarchy : all) {
    folders.push_back(fmt::format("{}/slipway/{}{}{}", hierarchy.path, id, member.empty() ? "" : "/", member));
  }
  return folders;
}

Result<> make_cgroups(sys::Files& files, const std::vector<Hierarchy>& all, std::string_view id, std::string_view member) {
  for (const Hierarchy& hierarchy : all) {
    const std::string top = hierarchy.path + "/slipway", cluster = fmt::format("{}/{}", top, id),
                      own = fmt::format("{}/{}", cluster, member);
    for (const std::string& stale : deepest_first(own)) (void)::rmdir(stale.c_str());
    const sys::Fd lock = lock_root(hierarchy.path);
    TRY(files.make_directories(own, 0755));
    const bool has_cpuset =
        std::find(hierarchy.controllers.begin(), hierarchy.controllers.end(), "cpuset") != hierarchy.controllers.end();
    if (has_cpuset) {
      // In version 1 a new cpuset is empty, and no process can join it.
      for (const std::string& setting : {std::string("/cpuset.cpus"), std::string("/cpuset.mems")}) {
        const std::string value = TRY(files.read(hierarchy.path + setting));
        for (const std::string& level : {top, cluster, own}) TRY(write_setting(level + setting, value));
      }
    }
    if (hierarchy.unified) {
      TRY(enable_for_children_of_root(files, hierarchy.path, top));
      for (const std::string& level : {top, cluster}) TRY(enable_controllers(level, TRY(missing_controllers(files, level))));
    }
  }
  return Ok{};
}

Result<> join_cgroups(const std::vector<Hierarchy>& all, std::string_view id, std::string_view member) {
  for (const std::string& folder : cgroup_folders(all, id, member)) TRY(write_setting(folder + "/cgroup.procs", "0"));
  return Ok{};
}

std::vector<std::string> in_cgroups(const std::vector<std::string>& folders, const std::vector<std::string>& command) {
  std::vector<std::string> argv = {"/bin/sh", "-c",
                                   R"(while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit; shift; done; shift; exec "$@")",
                                   "in-cgroups"};
  argv.insert(argv.end(), folders.begin(), folders.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

std::vector<std::string> cgroups_beside(const std::vector<Hierarchy>& all, std::string_view cgroups) {
  std::vector<std::string> folders;
  for (std::string_view line : split(cgroups, '\n')) {  // "4:cpu,cpuacct:/slipway/ID/m0"; of version 2 "0::/slipway/ID/m0"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::vector<std::string_view> controllers = split(line.substr(first + 1, second - first - 1), ',');
    const auto hierarchy = std::ranges::find_if(all, [&](const Hierarchy& each) {
      return each.unified
                 ? controllers.front().empty()
                 : std::ranges::find(controllers, each.controllers.empty() ? "" : each.controllers.front()) != controllers.end();
    });
    if (hierarchy == all.end()) continue;
    std::string path(line.substr(second + 1));
    if (hierarchy->unified) path = path.substr(0, path.rfind('/')) + "/slipway-shell";
    folders.push_back(hierarchy->path + path);
  }
  return folders;
}

Result<> end_cgroups(const sys::Context& context, const std::vector<Hierarchy>& all, std::string_view id,
                     std::string_view member) {
  const std::vector<std::string> folders = cgroup_folders(all, id, member);
  // The kernel does not report when a cgroup of version 1 becomes empty. Polling is cheap: it reads a few files.
  const sys::Pace pace{Milliseconds(2), Milliseconds(100)};
  auto observe = [&]() -> Result<sys::Observation> {
    const std::set<int> processes = processes_in(folders);
    const bool has_inits = std::any_of(processes.begin(), processes.end(), is_namespace_init);
    for (int pid : processes) {
      if (!has_inits || is_namespace_init(pid)) ::kill(pid, SIGKILL);
    }
    std::string remaining;
    for (const std::string& folder : folders) {
      for (const std::string& cgroup : deepest_first(folder)) {
        if (::rmdir(cgroup.c_str()) != 0 && errno != ENOENT) remaining = fmt::format("{}: {}", cgroup, std::strerror(errno));
      }
      // Succeeds only for the last cluster, because the folder must be empty.
      if (member.empty()) remove_top(std::filesystem::path(folder).parent_path());
    }
    return remaining.empty() ? sys::Observation::done()
                             : sys::Observation::not_yet("{}, {} processes", remaining, processes.size());
  };
  return sys::wait_for(context, "the removal of the cluster's cgroups", Seconds(10), observe, nullptr, pace);
}

std::vector<int> namespace_pids(std::string_view status) {
  for (std::string_view line : split(status, '\n')) {
    if (!line.starts_with("NSpid:")) continue;
    std::vector<int> pids;
    for (std::string_view field : split(line, '\t')) {
      const int pid = parse_number<int>(field).value_or(0);
      if (pid > 0) pids.push_back(pid);
    }
    return pids;
  }
  return {};
}

}  // namespace slipway::provider::local
