#include "sys/exec.h"

#include "base/check.h"
#include "sys/fd.h"

#include <linux/close_range.h>
#include <unistd.h>
#include <csignal>

namespace slipway::sys {

Error become_program(std::vector<std::string> argv) {
  CHECK(!argv.empty());
  std::vector<char*> pointers;
  for (std::string& word : argv) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // Includes descriptors that libraries opened. If the exec fails, all of them are still open.
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  reset_signals();
  ::execvp(pointers[0], pointers.data());
  return system_error("starting " + argv[0]);
}

void reset_signals() {
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &normal, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace slipway::sys
