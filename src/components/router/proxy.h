// The haproxy processes of the router: one that takes connections, and those before it, which end when their connections have.
//
// A new process gets the listening sockets of the one before over its socket (-x) and tells it to end once it listens itself
// (-sf): no connection is refused meanwhile. There is no master process: we start each one ourselves and so see at once what is
// wrong with it. Facts: haproxy's management guide, "Stopping and restarting", and its command line.
#pragma once

#include "base/guarded.h"
#include "components/router/configuration.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace slipway::components::router {

// Threads: one but for ask().
class Proxy {
 public:
  // files, runner: outlive it. changed: called, by any thread, when a process has ended
  Proxy(sys::Files& files, sys::Runner& runner, const Options& options, std::function<void()> changed);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();  // kills what is left

  // What separates the process that takes connections from a configuration and its servers.
  struct Differences {
    bool is_replacement = false;        // it takes another process
    std::vector<std::string> commands;  // what this one can be told meanwhile, or that is all
  };
  Differences distance_to(const Configuration& configuration, const Servers& servers) const;

  // Tells the process that runs, as far as it has places. errors: unavailable: it does not answer, or refuses; then replace it
  Result<> tell(const Servers& servers);

  // Starts a process and waits until it serves; the one before serves when it cannot.
  //
  //   errors  invalid: haproxy does not take the configuration, with its words; timeout, those of Files
  //   time    50 ms for few routes; a stop does not end it
  Result<> replace(const sys::Context& context, const Configuration& configuration, const Servers& servers);

  // Whether haproxy takes a configuration; nothing is started. errors: as replace; cancelled
  Result<> check(const sys::Context& context, const Configuration& configuration, const Servers& servers);

  // How many processes of before have connections still.
  int draining();

  // Whether the process that takes connections answers. Threads: any.
  Result<> ask() const;

  // Takes no more connections, and returns when there are none or the limit is over.
  void finish(const sys::Context& context, Milliseconds limit);

 private:
  struct Process;

  std::unique_ptr<Process> start(const sys::Context& context, std::string folder, std::vector<std::string> more);
  Result<std::string> write(const std::string& name, const Configuration& configuration, const Layout& layout);
  void sweep();
  bool is_running() const;

  sys::Files& files_;
  sys::Runner& runner_;
  const Options options_;
  const std::function<void()> changed_;
  int next_ = 1;
  std::unique_ptr<Process> current_;
  std::list<std::unique_ptr<Process>> old_;
  Configuration configuration_;
  Layout layout_;
  Guarded<std::string> socket_;  // of current_; empty: there is none
};

}  // namespace slipway::components::router
