#include "provider/local/cgroups.h"
#include "provider/local/preflight.h"

#include "base/number.h"
#include "base/text.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <filesystem>

namespace slipway::provider::local {

namespace {

// Requests the generation of nftables' rules. The request makes the kernel load the module if it is available.
bool has_nftables() {
  const sys::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!socket.is_open()) return false;
  const timeval limit{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  struct {
    nlmsghdr header;
    nfgenmsg message;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  if (::send(socket.get(), &request, sizeof request, 0) != sizeof request) return false;
  char answer[1024];
  const ssize_t size = ::recv(socket.get(), answer, sizeof answer, 0);
  nlmsghdr header;
  if (size < static_cast<ssize_t>(sizeof header)) return false;
  std::memcpy(&header, answer, sizeof header);
  return header.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN);
}

bool has_overlay(sys::Files& files) {
  const Result<std::string> filesystems = files.read("/proc/filesystems");
  return filesystems.ok() && filesystems->find("\toverlay\n") != std::string::npos;
}

bool has_br_netfilter() { return std::filesystem::exists("/proc/sys/net/bridge/bridge-nf-call-iptables"); }

// br_netfilter passes the packets on bridges to the rules for forwarded packets, and is on for each network namespace at first.
// Turns it off for the host, whose bridges (of virtual machines) worked without it; the namespaces of machines keep it on. A
// kernel before 5.3 has one setting for all namespaces: there it stays on.
void keep_bridges_of_the_host() {
  utsname kernel{};
  if (::uname(&kernel) != 0 || !has_bridge_settings_of_namespaces(kernel.release)) return;
  for (const char* setting : {"bridge-nf-call-iptables", "bridge-nf-call-ip6tables", "bridge-nf-call-arptables"}) {
    const sys::Fd file(::open(fmt::format("/proc/sys/net/bridge/{}", setting).c_str(), O_WRONLY | O_CLOEXEC));
    if (file.is_open()) (void)sys::write_all(file, "0", setting);
  }
}

std::optional<std::uint64_t> number_in(sys::Files& files, const std::string& path) {
  const Result<std::string> text = files.read(path);
  if (!text.ok()) return std::nullopt;
  return parse_number<std::uint64_t>(trim(text.value()));
}

int inotify_instances() {
  int found = 0;
  std::error_code ignored;  // processes may end during the iteration
  for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
    if (process.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    struct stat info {};
    if (::stat(process.path().c_str(), &info) != 0 || info.st_uid != ::geteuid()) continue;
    for (std::filesystem::directory_iterator at(process.path() / "fd", ignored), end; at != end; at.increment(ignored)) {
      if (std::filesystem::read_symlink(at->path(), ignored) == "anon_inode:inotify") ++found;
    }
  }
  return found;
}

// The nearest folder that exists.
std::string nearest_existing(std::string path) {
  while (path != "/" && !std::filesystem::exists(path)) path = std::filesystem::path(path).parent_path();
  return path;
}

// Type of the file system with this device number, from /proc/self/mountinfo.
std::string filesystem_of(sys::Files& files, dev_t device) {
  const std::string number = fmt::format("{}:{}", device >> 8 & 0xfff, (device & 0xff) | (device >> 12 & 0xfff00));
  const Result<std::string> mounts = files.read("/proc/self/mountinfo");
  if (!mounts.ok()) return {};
  for (std::string_view line : split(mounts.value(), '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() < 3 || fields[2] != number) continue;
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash != fields.end() && dash + 1 != fields.end()) return std::string(dash[1]);
  }
  return {};
}

}  // namespace

bool has_bridge_settings_of_namespaces(std::string_view kernel_release) {
  const int major = take_number<int>(kernel_release).value_or(0);
  if (kernel_release.empty()) return false;
  kernel_release.remove_prefix(1);  // the dot
  return std::pair(major, take_number<int>(kernel_release).value_or(0)) >= std::pair(5, 3);
}

void load_modules(const sys::Context& context, sys::Files& files, sys::Runner& runner) {
  std::vector<std::string> missing;
  if (!has_overlay(files)) missing.emplace_back("overlay");
  if (!has_br_netfilter()) missing.emplace_back("br_netfilter");
  if (missing.empty() || ::geteuid() != 0) return;
  for (const std::string& module : missing) {
    const Result<std::string> loaded = sys::run_checked(runner, context, {.argv = {"modprobe", module}, .limit = Seconds(30)});
    if (!loaded.ok()) continue;
    context.log.info("kernel module {}: loaded", module);
    if (module == "br_netfilter") keep_bridges_of_the_host();
  }
}

Facts gather_facts(sys::Files& files, const std::string& state, const std::string& os_repo) {
  Facts facts;
  facts.is_root = ::geteuid() == 0;
  for (const sys::NeededProgram& program : needed_programs()) {
    if (!sys::is_in_path(program.name)) facts.missing_programs.emplace_back(program.name);
  }
  const Result<std::string> mounts = files.read("/proc/self/mounts");
  const std::vector<Hierarchy> cgroups = hierarchies(mounts.ok() ? mounts.value() : "");
  facts.has_cgroups = !cgroups.empty();
  facts.has_unified_cgroups = facts.has_cgroups && std::ranges::all_of(cgroups, &Hierarchy::unified);
  facts.has_overlay = has_overlay(files);
  facts.has_nftables = !facts.is_root || has_nftables();  // only root may ask
  facts.has_br_netfilter = has_br_netfilter();
  if (const auto limit = number_in(files, "/proc/sys/fs/inotify/max_user_instances"))
    facts.inotify_instances_limit = static_cast<int>(*limit);
  facts.inotify_instances_used = inotify_instances();
  facts.state_folder = state;
  facts.os_repo = os_repo;
  struct stat at_state {
  }, at_repo{};
  const std::string folder = nearest_existing(state);
  if (::stat(folder.c_str(), &at_state) == 0) facts.state_filesystem = filesystem_of(files, at_state.st_dev);
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) == 0)
    facts.state_free_bytes = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  facts.os_repo_exists = std::filesystem::exists(os_repo + "/objects") && ::stat(os_repo.c_str(), &at_repo) == 0;
  facts.os_repo_on_same_filesystem = facts.os_repo_exists && at_repo.st_dev == at_state.st_dev;
  const Result<std::string> memory = files.read("/proc/meminfo");
  if (memory.ok()) {
    for (std::string_view line : split(memory.value(), '\n')) {
      if (!line.starts_with("MemAvailable:")) continue;
      std::string_view kilobytes = trim(line.substr(line.find(':') + 1));
      facts.available_memory_bytes = take_number<std::uint64_t>(kilobytes).value_or(0) * 1024;
    }
  }
  return facts;
}

}  // namespace slipway::provider::local
