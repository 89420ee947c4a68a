// `runtimecfg monitor`: configures the API servers in the haproxy of a master, and tells keepalived whether that haproxy and the
// router of this machine work. A machine then holds a virtual IP only while connections to it succeed.
//
// haproxy loses its state when it ends, so each update compares its current servers with the desired ones. Format of the file for
// keepalived: keepalived.conf(5), "track_file".
#pragma once

#include "base/guarded.h"
#include "components/program/program.h"
#include "kube/client.h"
#include "net/ip.h"
#include "sys/clock.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::runtimecfg {

// The value that is added to keepalived's priority; keepalived.conf documents the values.
//
//   up       number of healthy API servers
//   needed   number of healthy API servers for the full priority
//   answers  a request through the proxy was answered
int priority_change(int up, int needed, bool answers);

// InternalIP addresses of the nodes, of one address family.
std::set<std::string> node_addresses(const std::vector<Json>& nodes, bool v4);

// Threads: one thread calls update(); any thread may call set_masters().
class ProxyMonitor {
 public:
  struct Parts {
    std::string own_address;
    int needed = 1;
    std::string track_file;
    std::function<Result<std::string>(std::string_view command)> ask_proxy;
    std::function<Result<bool>()> answers;  // whether an API server answers through the proxy, with any status
  };
  ProxyMonitor(sys::Files& files, Parts parts);

  // This machine is always added.
  void set_masters(std::set<std::string> addresses);

  // Updates haproxy and the file for keepalived once. Returns whether the API answers through the proxy.
  // errors: those of the files; cancelled: a stop interrupted the request, and the file stays. An unreachable proxy is no error
  Result<bool> update(const sys::Context& context);

  // Notified when update() should be called at once.
  sys::Wakeup& changed() { return changed_; }

 private:
  sys::Files& files_;
  const Parts parts_;
  Guarded<std::set<std::string>> masters_;
  sys::Wakeup changed_;
  std::string last_problem_;
};

enum class RouterHealth {
  absent,     // no router answers on this machine
  not_ready,  // the router is starting, or it is shutting down and still serves: better than none
  ready,
};
int priority_change(RouterHealth health);

// Tells keepalived whether this machine may hold the virtual IP of the ingress: only while it has a router, with higher priority
// if the router is ready. Threads: one.
class RouterMonitor {
 public:
  // Departure::leave
  using Leave = std::function<Result<>(const sys::Context& context, int change)>;
  RouterMonitor(sys::Files& files, std::string track_file, std::function<Result<RouterHealth>()> ask, Leave leave);

  // Checks the router once, and writes the file if it differs. If the router stops being ready, it calls `leave` first: the
  // router still serves, so calls do not have to be cut. errors: those of the files and of `ask`; the file stays then
  Result<> update(const sys::Context& context);

 private:
  sys::Files& files_;
  const std::string track_file_;
  const std::function<Result<RouterHealth>()> ask_;
  const Leave leave_;
  bool was_ready_ = false;
};

// The command: runtimecfg monitor [KUBECONFIG --api-vips=ADDRESS [--needed-backends=N]] [--ingress-vips=ADDRESS]
// --cluster-domain=NAME --out-dir=FOLDER. Monitors the given virtual IPs until a stop is requested.
//
// After a stop request it gives away the virtual IPs that this machine holds (departure.h), at most 1 s long. Then it writes the
// file "left" to FOLDER: keepalived and haproxy may end. A master that needs only one API server has no other master, and keeps
// that of the API.
//
// API: FOLDER contains haproxy's socket "haproxy.sock"; the command writes the file "proxy" there. It watches masters with the
// kubeconfig through the proxy, at first through this machine's own API server. No machine has to hold the virtual IP for that.
//
// Ingress: the command writes the file "ingress" to FOLDER. It checks the router once a second at its health port, 1936.
Result<> run_monitor(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::runtimecfg
