#include "provider/local/spawn_owner.h"

#include "provider/local/owner.h"
#include "provider/local/spawn.h"

#include "sys/fd.h"

#include <fcntl.h>

namespace slipway::provider::local {

namespace {

// A copy above all numbers that it may be moved to.
Result<sys::Fd> moved_up(const sys::Fd& fd, std::string_view doing) {
  sys::Fd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 20));
  if (!copy.is_open()) return sys::system_error(doing);
  return copy;
}

Result<sys::Fd> open_up(const std::string& path, int flags) {
  const sys::Fd fd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!fd.is_open()) return sys::system_error("opening " + path);
  return moved_up(fd, "opening " + path);
}

}  // namespace

Result<LineSocket> spawn_owner(const std::vector<std::string>& command, const std::string& log) {
  std::vector<std::string> argv = {
      "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private", "--"};
  argv.insert(argv.end(), command.begin(), command.end());
  auto [ours, theirs] = TRY(LineSocket::pair());
  const sys::Fd ready = TRY(moved_up(theirs.fd(), "starting the owner"));
  const sys::Fd proc = TRY(open_up("/proc", O_PATH | O_DIRECTORY));
  const sys::Fd network = TRY(open_up("/proc/self/ns/net", O_RDONLY));
  const sys::Fd null = TRY(open_up("/dev/null", O_RDONLY));
  const sys::Fd output = TRY(open_up(log, O_WRONLY | O_APPEND | O_CREAT));

  // Whoever starts us may wait for our session, working folder or terminal; the owner has none of them.
  TRY(spawn({.argv = std::move(argv),
             .descriptors = {{null.get(), 0},
                             {output.get(), 1},
                             {output.get(), 2},
                             {ready.get(), ready_fd},
                             {proc.get(), host_proc_fd},
                             {network.get(), host_network_fd}},
             .environment =
                 std::vector<std::string>{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"},
             .directory = "/",
             .new_session = true}));
  return std::move(ours);
}

}  // namespace slipway::provider::local
