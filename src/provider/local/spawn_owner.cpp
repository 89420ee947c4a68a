#include "provider/local/spawn_owner.h"

#include "provider/local/cgroups.h"
#include "provider/local/owner_descriptors.h"
#include "provider/local/spawn.h"

#include "sys/environment_variable.h"
#include "sys/fd.h"

#include <fmt/core.h>

#include <fcntl.h>

namespace slipway::provider::local {

namespace {

// A copy with a number above those in Spawn::descriptors.
Result<sys::Fd> duplicate_high(const sys::Fd& fd, std::string_view doing) {
  sys::Fd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 20));
  if (!copy.is_open()) return sys::system_error(doing);
  return copy;
}

Result<sys::Fd> open_high(const std::string& path, int flags) {
  const sys::Fd fd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!fd.is_open()) return sys::system_error("opening " + path);
  return duplicate_high(fd, "opening " + path);
}

// The registry of the cluster uses the proxies of the host.
std::vector<std::string> owner_environment() {
  std::vector<std::string> kept = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"};
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}) {
    if (const std::string value = sys::environment_variable(name); !value.empty())
      kept.push_back(fmt::format("{}={}", name, value));
  }
  return kept;
}

}  // namespace

Result<LineSocket> spawn_owner(const std::vector<std::string>& command, const std::string& log,
                               const std::vector<std::string>& cgroups) {
  std::vector<std::string> argv = {
      "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private", "--"};
  argv.insert(argv.end(), command.begin(), command.end());
  auto [our_end, owner_end] = TRY(LineSocket::pair());
  const sys::Fd ready = TRY(duplicate_high(owner_end.fd(), "starting the owner"));
  const sys::Fd proc = TRY(open_high("/proc", O_PATH | O_DIRECTORY));
  const sys::Fd network = TRY(open_high("/proc/self/ns/net", O_RDONLY));
  const sys::Fd mounts = TRY(open_high("/proc/self/ns/mnt", O_RDONLY));
  const sys::Fd root = TRY(open_high("/", O_PATH | O_DIRECTORY));
  const sys::Fd null = TRY(open_high("/dev/null", O_RDONLY));
  const sys::Fd output = TRY(open_high(log, O_WRONLY | O_APPEND | O_CREAT));

  // A program that starts slipway may wait for its session, working directory or terminal, so the owner uses none of them.
  TRY(spawn({.argv = in_cgroups(cgroups, argv),
             .descriptors = {{null.get(), 0},
                             {output.get(), 1},
                             {output.get(), 2},
                             {ready.get(), ready_fd},
                             {proc.get(), host_proc_fd},
                             {network.get(), host_network_fd},
                             {mounts.get(), host_mounts_fd},
                             {root.get(), host_root_fd}},
             .environment = owner_environment(),
             .directory = "/",
             .new_session = true}));
  return std::move(our_end);
}

}  // namespace slipway::provider::local
