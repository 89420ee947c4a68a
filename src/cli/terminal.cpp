#include "cli/terminal.h"

#include "sys/fd.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace slipway::cli {

namespace {

constexpr int input = STDIN_FILENO;
constexpr char end_of_input = 4, kill_line = 21, backspace = 8, rub_out = 127;

// Turns off echo and line editing during its lifetime. Ctrl-C still sends its signal.
class Hidden {
 public:
  Hidden() {
    if (::tcgetattr(input, &before_) != 0) return;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    is_set_ = ::tcsetattr(input, TCSADRAIN, &now) == 0;
  }
  ~Hidden() {
    if (!is_set_) return;
    ::tcsetattr(input, TCSADRAIN, &before_);
    show("\n");  // the newline of the user was not echoed
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

  bool is_set() const { return is_set_; }

 private:
  termios before_{};
  bool is_set_ = false;
};

// Waits for input; false when a stop was requested.
Result<bool> wait_for_input(const sys::Fd& stopped) {
  std::array<pollfd, 2> waiting = {{{input, POLLIN, 0}, {stopped.get(), POLLIN, 0}}};
  while (::poll(waiting.data(), waiting.size(), -1) < 0) {
    if (errno != EINTR) return sys::system_error("waiting for input from the terminal");
  }
  return waiting[1].revents == 0;
}

// Reads available input: a line in line mode, keys otherwise. Empty at the end of the input.
Result<std::string> read_some(const sys::Fd& stopped) {
  if (!TRY(wait_for_input(stopped))) return error(Code::cancelled, "stopped while waiting for an answer");
  std::array<char, 4096> piece;
  const ssize_t got = ::read(input, piece.data(), piece.size());
  if (got < 0) return sys::system_error("reading from the terminal");
  return std::string(piece.data(), static_cast<std::size_t>(got));
}

// Reads a line from keys, with the editing that the terminal does not do without line mode; nothing at the end of the input.
Result<std::optional<std::string>> read_keys(const sys::Fd& stopped) {
  std::string line;
  for (;;) {
    const std::string keys = TRY(read_some(stopped));
    if (keys.empty()) return std::optional<std::string>(std::nullopt);
    for (const char key : keys) {
      if (key == '\n' || key == '\r') return std::optional(std::move(line));
      if (key == end_of_input && line.empty()) return std::optional<std::string>(std::nullopt);
      if (key == backspace || key == rub_out) {
        if (!line.empty()) line.pop_back();
      } else if (key == kill_line) {
        line.clear();
      } else if (key != end_of_input) {
        line += key;
      }
    }
  }
}

}  // namespace

bool is_at_terminal() { return ::isatty(input) == 1 && ::isatty(STDERR_FILENO) == 1; }

void show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

Result<std::optional<std::string>> read_line(std::stop_token stop, std::string_view prompt, bool hidden) {
  const sys::Fd stopped(::eventfd(0, EFD_CLOEXEC));
  if (!stopped.is_open()) return sys::system_error("creating an eventfd");
  const std::stop_callback wake(stop, [&stopped] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stopped.get(), &one, sizeof one);  // the counter cannot overflow
  });
  if (hidden) {
    const Hidden hiding;
    if (!hiding.is_set()) return error(Code::internal, "cannot turn off echo on the terminal");
    show(prompt);
    return read_keys(stopped);
  }
  show(prompt);
  std::string line = TRY(read_some(stopped));
  if (line.empty()) return std::optional<std::string>(std::nullopt);
  if (line.ends_with('\n')) line.pop_back();
  return std::optional(std::move(line));
}

}  // namespace slipway::cli
