#include "provider/local/shell.h"

#include "provider/local/cgroups.h"
#include "provider/local/disk.h"
#include "provider/local/process_id.h"
#include "provider/local/spawn.h"

#include "sys/environment_variable.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <optional>

extern "C" {  // glibc 2.36 forgets it in this header
#include <sys/pidfd.h>
}

namespace slipway::provider::local {

namespace {

// Sets the terminal of slipway to raw mode; the destructor restores it.
class RawTerminal {
 public:
  RawTerminal() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    ::cfmakeraw(&raw);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() { ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_); }

 private:
  termios before_{};
};

// A pseudo-terminal of the machine (/dev/pts/N there).
struct MachineTerminal {
  sys::Fd outer;  // slipway's end
  sys::Fd inner;  // the program's end

  static Result<MachineTerminal> open(const std::string& process) {
    const std::string path = process + "/root/dev/pts/ptmx";
    MachineTerminal terminal;
    terminal.outer = sys::Fd(::open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    int unlocked = 0;
    if (!terminal.outer.is_open() || ::ioctl(terminal.outer.get(), TIOCSPTLCK, &unlocked) != 0)
      return sys::system_error("opening " + path);
    terminal.inner = sys::Fd(::ioctl(terminal.outer.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal.inner.is_open()) return sys::system_error("opening a terminal of the machine");
    return terminal;
  }

  void copy_window_size() const {
    winsize size{};
    if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(outer.get(), TIOCSWINSZ, &size);
  }
};

// Descriptors that become readable on a stop and when the terminal is resized.
class SignalWatch {
 public:
  explicit SignalWatch(std::stop_token stop)
      : stop_(::eventfd(0, EFD_CLOEXEC)),
        callback_(std::move(stop), std::function<void()>([this] { ::eventfd_write(stop_.get(), 1); })) {
    sigset_t resized;
    sigemptyset(&resized);
    sigaddset(&resized, SIGWINCH);
    ::pthread_sigmask(SIG_BLOCK, &resized, nullptr);
    resized_ = sys::Fd(::signalfd(-1, &resized, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  int stop() const { return stop_.get(); }
  int resized() const { return resized_.get(); }

 private:
  sys::Fd stop_, resized_;
  std::stop_callback<std::function<void()>> callback_;
};

// Copies available data from one descriptor to the other. Returns false at the end of the data.
bool copy(int from, int to) {
  char piece[65536];
  const ssize_t got = ::read(from, piece, sizeof piece);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  for (ssize_t done = 0; done < got;) {
    const ssize_t written = ::write(to, piece + done, static_cast<std::size_t>(got - done));
    if (written < 0 && errno != EINTR) return false;
    done += std::max<ssize_t>(written, 0);
  }
  return got > 0;
}

// Copies between the terminals and forwards a stop as SIGTERM, until the process ends.
void relay_until_exit(pid_t pid, std::optional<MachineTerminal>& terminal, const SignalWatch& watch) {
  const sys::Fd process(::pidfd_open(pid, 0));
  if (terminal) terminal->inner.reset();  // so that the terminal ends when the program ends
  bool stopped = false, reading = terminal.has_value();
  for (;;) {
    std::array<pollfd, 5> watched = {{{process.get(), POLLIN, 0},
                                      {stopped ? -1 : watch.stop(), POLLIN, 0},
                                      {terminal ? watch.resized() : -1, POLLIN, 0},
                                      {reading ? STDIN_FILENO : -1, POLLIN, 0},
                                      {terminal ? terminal->outer.get() : -1, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents) {
      stopped = true;
      ::kill(pid, SIGTERM);
    }
    if (watched[2].revents) {
      signalfd_siginfo ignored;
      (void)!::read(watch.resized(), &ignored, sizeof ignored);
      terminal->copy_window_size();
    }
    if (watched[3].revents) reading = copy(STDIN_FILENO, terminal->outer.get());
    // Read the remaining output before handling the end of the process. A terminal without programs reports its end.
    if (watched[4].revents) {
      if (!copy(terminal->outer.get(), STDOUT_FILENO)) terminal.reset();
    } else if (watched[0].revents) {
      return;
    }
    if (!terminal) reading = false;
  }
}

// The init of a running machine.
struct RunningMachine {
  std::string process;               // its /proc folder as a path of the host
  sys::Fd owner;                     // handle of the owner process, so that its process ID is not reused
  std::vector<std::string> cgroups;  // for a command in the machine
};

// The owner process of a cluster.
struct RunningOwner {
  int pid = 0;
  sys::Fd held;  // handle of the process, so that the process ID is not reused
};

Result<RunningOwner> find_owner(sys::Files& files, const ClusterChoice& choice) {
  const ProcessId owner = TRY(parse_process_id(TRY(files.read(choice.paths().owner())), choice.paths().owner()));
  std::optional<sys::Fd> held = TRY(open_process(files, owner));
  if (!held)
    return error(Code::unavailable, "owner process of cluster {}: ended unexpectedly (run `slipway machine start`)",
                 choice.cluster);
  return RunningOwner{owner.pid, std::move(*held)};
}

Result<RunningMachine> find_running(const sys::Context& context, sys::Files& files, const ClusterChoice& choice,
                                    const std::string& machine) {
  int leader = 0;
  for (const MachineStatus& candidate : TRY(list_machines(context, files, choice))) {
    if (candidate.name != machine) continue;
    if (candidate.leader == 0) {
      return error(Code::conflict, "machine {} is {} (run `slipway machine start {}`)", machine, to_string(candidate.state),
                   machine);
    }
    leader = candidate.leader;
  }
  if (leader == 0) return error(Code::not_found, "machine {}: not found in cluster {}", machine, choice.cluster);
  RunningOwner owner = TRY(find_owner(files, choice));
  // `leader` is a process ID in the owner's namespace, so the path goes through the owner's /proc.
  std::string process = fmt::format("/proc/{}/root/proc/{}", owner.pid, leader);
  const std::string of_init = TRY(files.read(process + "/cgroup")), mounts = TRY(files.read("/proc/self/mounts"));
  std::vector<std::string> cgroups = cgroups_beside(hierarchies(mounts), of_init);
  for (const std::string& folder : cgroups) TRY(files.make_directories(folder, 0755));
  return RunningMachine{std::move(process), std::move(owner.held), std::move(cgroups)};
}

bool is_on_terminal() { return ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO) && ::isatty(STDERR_FILENO); }

}  // namespace

std::vector<std::string> enter_command(const std::string& process, const std::vector<std::string>& settings,
                                       const std::vector<std::string>& command) {
  std::vector<std::string> argv = {"nsenter"};
  for (const char* space : {"mnt", "uts", "ipc", "net", "pid", "cgroup"}) {
    argv.push_back(fmt::format("--{}={}/ns/{}", std::string_view(space) == "mnt" ? "mount" : space, process, space));
  }
  argv.insert(argv.end(), {fmt::format("--root={}/root", process), fmt::format("--wd={}/root", process), "--", "/usr/bin/env",
                           "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"});
  argv.insert(argv.end(), settings.begin(), settings.end());
  if (command.empty()) {
    argv.insert(argv.end(), {"/bin/sh", "-c", "cd; exec \"$(command -v bash || echo sh)\" -l"});
  } else {
    argv.insert(argv.end(), command.begin(), command.end());
  }
  return argv;
}

Result<int> run_in_machine(const sys::Context& context, sys::Files& files, const ClusterChoice& choice,
                           const std::string& machine, const std::vector<std::string>& command) {
  const RunningMachine running = TRY(find_running(context, files, choice, machine));
  std::vector<std::string> settings;
  std::optional<MachineTerminal> terminal;
  std::optional<RawTerminal> raw;
  if (is_on_terminal()) {
    if (const std::string kind = sys::environment_variable("TERM"); !kind.empty()) settings.push_back("TERM=" + kind);
    terminal = TRY(MachineTerminal::open(running.process));
    terminal->copy_window_size();
    raw.emplace();
  }
  const SignalWatch watch(context.stop);
  Spawn program{.argv = in_cgroups(running.cgroups, enter_command(running.process, settings, command)),
                .new_session = terminal.has_value()};
  if (terminal) program.descriptors = {{terminal->inner.get(), 0}, {terminal->inner.get(), 1}, {terminal->inner.get(), 2}};
  const pid_t pid = TRY(spawn(program));
  relay_until_exit(pid, terminal, watch);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<sys::Output> run_captured(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                                 const std::string& machine, sys::Command command) {
  const RunningMachine running = TRY(find_running(context, files, choice, machine));
  command.argv = in_cgroups(running.cgroups, enter_command(running.process, {}, command.argv));
  return runner.run(context, command);
}

Result<sys::Output> run_on_disk(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                                const std::string& machine, sys::Command command) {
  const RunningOwner owner = TRY(find_owner(files, choice));
  const std::string disk = mounted_disk(run_folder, machine), process = fmt::format("/proc/{}", owner.pid);
  const Deployment deployment = TRY(newest_deployment(files, process + "/root" + disk));
  std::vector<std::string> argv = {"nsenter",
                                   fmt::format("--net={}/root/run/netns/{}", process, machine),
                                   fmt::format("--mount={}/ns/mnt", process),
                                   "--",
                                   "chroot",
                                   disk + deployment.path,
                                   "/usr/bin/env",
                                   "-i",
                                   "PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  command.argv = std::move(argv);
  return runner.run(context, command);
}

Result<sys::Output> run_in_network(const sys::Context& context, sys::Files& files, sys::Runner& runner,
                                   const ClusterChoice& choice, sys::Command command) {
  const RunningOwner owner = TRY(find_owner(files, choice));
  const std::vector<std::string> enter = {"nsenter", fmt::format("--net=/proc/{}/ns/net", owner.pid), "--"};
  command.argv.insert(command.argv.begin(), enter.begin(), enter.end());
  return runner.run(context, command);
}

}  // namespace slipway::provider::local
