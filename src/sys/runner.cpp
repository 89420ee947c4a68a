#include "sys/runner.h"

#include "base/check.h"
#include "base/text.h"
#include "sys/exec.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

extern "C" {  // glibc 2.36 lacks it in this header
#include <sys/pidfd.h>
}

namespace slipway::sys {

namespace {

struct Pipe {
  Fd read, write;

  static Result<Pipe> make() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return system_error("creating a pipe");
    return Pipe{Fd(fds[0]), Fd(fds[1])};
  }
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// This process's environment; settings of the command replace variables of the same name. An entry
// without = is no variable and is left out.
std::vector<std::string> merged_environment(const std::vector<std::string>& settings) {
  std::vector<std::string> result = settings;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view variable = *entry;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    bool replaced = false;
    for (const std::string& setting : settings) replaced |= setting.starts_with(name);
    if (!replaced) result.emplace_back(variable);
  }
  return result;
}

// Everything that the child needs. It is allocated before the fork: allocation is not allowed between fork and exec.
struct ChildPlan {
  std::vector<char*> argv, environment;
  const char* directory;
  int in, out, err, failure;
  pid_t parent;
};

[[noreturn]] void exec_child(const ChildPlan& plan) {
  auto fail = [&] {
    const int reason = errno;
    (void)!::write(plan.failure, &reason, sizeof reason);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);  // the parent died before the line above
  reset_signals();
  if (::dup2(plan.in, 0) < 0 || ::dup2(plan.out, 1) < 0 || ::dup2(plan.err, 2) < 0) fail();
  if (*plan.directory && ::chdir(plan.directory) != 0) fail();
  environ = const_cast<char**>(plan.environment.data());
  ::execvp(plan.argv[0], plan.argv.data());
  fail();
  ::_exit(127);
}

// Collects one output stream up to a limit and passes on whole lines.
class Collector {
 public:
  Collector(Fd fd, Stream stream, const Command& command) : fd_(std::move(fd)), stream_(stream), command_(command) {
    ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  }

  int fd() const { return fd_.get(); }

  // Reads the available bytes; closes the descriptor at the end of the stream.
  void read() {
    char piece[65536];
    for (;;) {
      const ssize_t got = ::read(fd_.get(), piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return fd_.reset();
      take({piece, static_cast<std::size_t>(got)});
    }
  }

  std::string finish() {
    if (!line_.empty()) emit_line(line_);
    return std::move(kept_);
  }

 private:
  void take(std::string_view piece) {
    kept_.append(piece.substr(0, command_.output_limit - std::min<std::uint64_t>(kept_.size(), command_.output_limit)));
    if (!command_.on_line) return;
    line_.append(piece);
    std::size_t start = 0;
    for (std::size_t end; (end = line_.find('\n', start)) != std::string::npos; start = end + 1) {
      emit_line(std::string_view(line_).substr(start, end - start));
    }
    line_.erase(0, start);
  }
  void emit_line(std::string_view line) {
    if (command_.on_line) command_.on_line(stream_, line);
  }

  Fd fd_;
  Stream stream_;
  const Command& command_;
  std::string kept_;
  std::string line_;  // incomplete last line
};

class Child {
 public:
  static Result<Child> start(const Command& command, const Fd& in, Pipe& out, Pipe& err) {
    std::vector<std::string> argv = command.argv;
    std::vector<std::string> environment = merged_environment(command.environment);
    Pipe failure = TRY(Pipe::make());
    const ChildPlan plan{pointers(argv),  pointers(environment), command.directory.c_str(), in.get(),
                         out.write.get(), err.write.get(),       failure.write.get(),       ::getpid()};
    const pid_t pid = ::fork();
    if (pid < 0) return system_error("starting " + command.argv[0]);
    if (pid == 0) exec_child(plan);
    ::setpgid(pid, pid);  // parent and child both call it: the order of the two is unknown
    Child child(pid);
    out.write.reset();
    err.write.reset();
    failure.write.reset();
    int reason = 0;
    ssize_t got;
    do {
      got = ::read(failure.read.get(), &reason, sizeof reason);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof reason) {
      return system_error(reason == ENOENT && !command.directory.empty()
                              ? fmt::format("starting {} in {}", argv[0], command.directory)
                              : "starting " + argv[0],
                          reason);
    }
    child.pidfd_ = Fd(::pidfd_open(pid, 0));
    if (!child.pidfd_.is_open()) return system_error("watching " + argv[0]);
    return child;
  }

  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}
  ~Child() {
    if (pid_ > 0) (void)reap();
  }

  int pidfd() const { return pidfd_.get(); }
  // Also signals the program itself, which may have left the group.
  void signal(int number) const {
    ::kill(-pid_, number);
    ::kill(pid_, number);
  }

  // Kills the rest of the group and returns the status of the program. The kill is safe: the kernel does not reuse the group's
  // number before its leader is waited for.
  int reap() {
    signal(SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  explicit Child(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  Fd pidfd_;
};

// The program's standard input: a complete file in memory. Unlike a pipe, it needs no writer, and the program need not read
// to the end.
Result<Fd> input_file(std::string_view input) {
  const std::string doing = "creating standard input";
  if (input.empty()) {
    Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.is_open()) return system_error(doing);
    return null;
  }
  Fd file(::memfd_create("input", MFD_CLOEXEC));
  if (!file.is_open()) return system_error(doing);
  TRY(write_all(file, input, doing));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return system_error(doing);
  return file;
}

// A descriptor that becomes readable on a stop request.
class StopSignal {
 public:
  explicit StopSignal(std::stop_token stop)
      : fd_(::eventfd(0, EFD_CLOEXEC)),
        callback_(std::move(stop), std::function<void()>([this] { ::eventfd_write(fd_.get(), 1); })) {}
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
  std::stop_callback<std::function<void()>> callback_;
};

}  // namespace

Result<Output> RealRunner::run(const Context& context, const Command& command) {
  CHECK(!command.argv.empty());
  const Fd in = TRY(input_file(command.input));
  Pipe out = TRY(Pipe::make()), err = TRY(Pipe::make());
  Child child = TRY(Child::start(command, in, out, err));
  Collector collect_out(std::move(out.read), Stream::out, command), collect_err(std::move(err.read), Stream::err, command);
  const StopSignal stop(context.stop);

  // The first reason to stop the program is the one that is returned. From then on the deadline is the end of the grace time.
  std::optional<Error> ending;
  std::optional<SteadyTime> deadline;
  if (command.limit.count() > 0) deadline = context.clock.steady() + command.limit;
  auto end_because = [&](Error reason) {
    ending = std::move(reason);
    child.signal(SIGTERM);
    deadline = context.clock.steady() + command.grace;
  };

  for (;;) {
    std::array<pollfd, 4> watched = {{{child.pidfd(), POLLIN, 0},
                                      {collect_out.fd(), POLLIN, 0},
                                      {collect_err.fd(), POLLIN, 0},
                                      {ending ? -1 : stop.fd(), POLLIN, 0}}};
    const auto left = deadline ? std::max(*deadline - context.clock.steady(), Milliseconds(0)) : Milliseconds(-1);
    if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return system_error("waiting for " + command.argv[0]);
    }
    if (watched[1].revents) collect_out.read();
    if (watched[2].revents) collect_err.read();
    if (watched[0].revents) break;
    if (watched[3].revents) {
      end_because(error(Code::cancelled, "{}: stopped", command.argv[0]));
    } else if (deadline && context.clock.steady() >= *deadline) {
      if (ending) {
        child.signal(SIGKILL);
        deadline.reset();
      } else {
        end_because(
            error(Code::timeout, "{}: killed after its time limit of {}", command.argv[0], human_duration(command.limit)));
      }
    }
  }
  const int status = child.reap();
  // The pipes still hold the last output. Other processes that hold the pipes open were killed or left the group; this does not
  // wait for them.
  if (collect_out.fd() >= 0) collect_out.read();
  if (collect_err.fd() >= 0) collect_err.read();
  Output output{status, collect_out.finish(), collect_err.finish()};
  if (ending) return std::move(*ending);
  return output;
}

Result<std::string> run_checked(Runner& runner, const Context& context, const Command& command) {
  Output output = TRY(runner.run(context, command));
  if (output.status == 0) return std::move(output.out);
  std::string_view text = trim(output.err.empty() ? output.out : output.err);
  constexpr std::size_t max_length = 2000;
  if (text.size() > max_length) text.remove_prefix(text.size() - max_length);
  return error(Code::unavailable, "`{}` failed with exit status {}{}{}", shell_quote(command.argv), output.status,
               text.empty() ? "" : ": ", text);
}

}  // namespace slipway::sys
