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

// The functions below return values that are added to keepalived's priority; keepalived.conf documents them.

// The value of a machine that can serve. The address stays where it is: its holder has the highest value. In VRRP, machines with
// higher priority take over earlier (RFC 5798, 6.1, Skew_Time). With the same priority two machines take over at the same time,
// and one of them gives the address up again, which cuts the calls that it got. So the value of another machine depends on its
// own address; consecutive addresses have values that are far apart.
int full_priority(const net::IpAddress& own, bool holds_address);

//   up       number of healthy API servers
//   needed   number of healthy API servers for the full priority
//   answers  a request through the proxy was answered
//   full     full_priority()
int priority_change(int up, int needed, bool answers, int full);

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
    std::function<Result<bool>()> answers;       // whether an API server answers through the proxy, with any status
    std::function<Result<int>()> full_priority;  // of this machine now
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
int priority_change(RouterHealth health, int full);

// Tells keepalived whether this machine may hold the virtual IP of the ingress: only while it has a router, with higher priority
// if the router is ready. Threads: one.
class RouterMonitor {
 public:
  struct Parts {
    std::string track_file;
    std::function<Result<RouterHealth>()> ask;
    std::function<Result<>(const sys::Context& context, int change)> leave;  // Departure::leave
    std::function<Result<int>()> full_priority;                              // of this machine now
  };
  RouterMonitor(sys::Files& files, Parts parts);

  // Checks the router once, and writes the file if it differs. If the router stops being ready, it calls `leave` first: the
  // router still serves, so calls do not have to be cut. errors: those of the files and of the parts; the file stays then
  Result<> update(const sys::Context& context);

 private:
  sys::Files& files_;
  const Parts parts_;
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
