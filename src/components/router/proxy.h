// The haproxy processes of the router: the current process, which accepts connections, and replaced processes, which end when
// their connections end.
//
// A new process gets the listening sockets from the previous process over its socket (-x), and stops it once it listens itself
// (-sf), so no connection is refused. There is no master process: the router starts each process itself and sees its errors at
// once. Source: haproxy's management guide, "Stopping and restarting", and its command line.
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

// Threads: one; ask() may be called by any thread.
class Proxy {
 public:
  // files, runner: must outlive the proxy. changed: called by any thread when a process has ended
  Proxy(sys::Files& files, sys::Runner& runner, const Options& options, std::function<void()> changed);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();  // kills all processes

  // Differences between the current process and a configuration with its servers.
  struct Differences {
    bool is_replacement = false;        // a new process is required
    std::vector<std::string> commands;  // commands that bring the current process as close as possible
  };
  Differences differences_to(const Configuration& configuration, const Servers& servers) const;

  // Updates the servers of the current process, as far as it has slots.
  // errors: unavailable: it does not answer, or it refuses (replace it)
  Result<> update_servers(const Servers& servers);

  // Starts a process and waits until it serves. If it cannot start, the previous process keeps serving.
  //
  //   errors  invalid: haproxy rejects the configuration, with its message; timeout, those of Files
  //   time    50 ms for few routes; a stop does not interrupt it
  Result<> replace(const sys::Context& context, const Configuration& configuration, const Servers& servers);

  // Checks whether haproxy accepts a configuration, without starting a process. errors: those of replace; cancelled
  Result<> check(const sys::Context& context, const Configuration& configuration, const Servers& servers);

  // Number of replaced processes that still have connections.
  int draining();

  // Whether the current process answers. Threads: any.
  Result<> ask() const;

  // Accepts no more connections. Returns when all connections have ended or the limit is reached. Connections of the current
  // process that have been idle for two seconds, and those to addresses that have left this machine, do not count.
  void finish(const sys::Context& context, Milliseconds limit);

 private:
  struct Process;

  std::unique_ptr<Process> start(const sys::Context& context, std::string folder, std::vector<std::string> more);
  Result<std::string> write(const std::string& name, const Configuration& configuration, const Layout& layout);
  void remove_leftovers();
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
  Guarded<std::string> socket_;  // socket of current_; empty: no process
};

}  // namespace slipway::components::router
