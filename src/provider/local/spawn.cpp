#include "provider/local/spawn.h"

#include "sys/fd.h"

#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace slipway::provider::local {

namespace {

// The argument list for exec. The texts must outlive it.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Result<pid_t> spawn(const Spawn& what) {
  std::vector<std::string> words = what.argv, settings = what.environment.value_or(std::vector<std::string>());
  const std::vector<char*> arguments = pointers(words), environment = pointers(settings);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  int above = STDERR_FILENO + 1;
  for (const auto& [from, to] : what.descriptors) {
    ::posix_spawn_file_actions_adddup2(&actions, from, to);
    above = std::max(above, to + 1);
  }
  // A program that outlives slipway must not inherit other descriptors, such as a lock or a pipe of the caller.
  if (what.new_session) ::posix_spawn_file_actions_addclosefrom_np(&actions, above);
  if (!what.directory.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, what.directory.c_str());
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                             (what.new_session ? POSIX_SPAWN_SETSID : 0)));
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  pid_t pid = 0;
  const int failure = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(),
                                     what.environment ? environment.data() : environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return sys::system_error("starting " + what.argv[0], failure);
  return pid;
}

}  // namespace slipway::provider::local
