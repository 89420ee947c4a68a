// `runtimecfg monitor`: tells the haproxy of a master which API servers there are, and keepalived whether that haproxy and this
// machine's router work, so that a machine has a virtual address only while connections to it arrive.
//
// haproxy forgets at its end what it was told, so each look compares what it has with what it should have. Formats: haproxy's
// management guide, "show servers state" (version 1) and "set server"; keepalived.conf(5), "track_file".
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

// A place for a server in haproxy.
struct ProxySlot {
  std::string name;         // "master1"
  std::string address;      // "10.0.0.10"
  bool is_enabled = false;  // haproxy looks after it
  bool is_up = false;       // its last check was good

  bool operator==(const ProxySlot&) const = default;
};

// The answer to "show servers state". errors: invalid: it is of a version that we do not know
Result<std::vector<ProxySlot>> parse_proxy_slots(std::string_view text);

// The commands after which the enabled places are those of the addresses. An address for which no place is free yet has to wait
// for the next look. Pure.
std::vector<std::string> slot_commands(const std::vector<ProxySlot>& places, const std::set<std::string>& addresses);

// What is added to the priority of keepalived; the texts of its configuration say what the numbers mean.
//
//   up       API servers that work
//   needed   how many are enough
//   answers  a request through the proxy got its answer
int priority_change(int up, int needed, bool answers);

// Addresses of Nodes in the cluster's own network, of the family.
std::set<std::string> node_addresses(const std::vector<Json>& nodes, bool v4);

// Threads: look() is called by one, set_masters() by any.
class ProxyMonitor {
 public:
  struct Parts {
    std::string own_address;
    int needed = 1;
    std::string track_file;
    std::function<Result<std::string>(std::string_view command)> ask_proxy;
    std::function<bool()> answers;  // an API server does, through the proxy, whatever it says
  };
  ProxyMonitor(sys::Files& files, Parts parts);

  // This machine is always one of them.
  void set_masters(std::set<std::string> addresses);

  // Compares and corrects once. Whether the API answers through the proxy. errors: those of the files; a proxy that cannot be
  // reached is none
  Result<bool> look(const sys::Context& context);

  // Is notified when the next look should be at once.
  sys::Wakeup& changed() { return changed_; }

 private:
  sys::Files& files_;
  const Parts parts_;
  Guarded<std::set<std::string>> masters_;
  sys::Wakeup changed_;
  std::string last_problem_;
};

enum class RouterHealth {
  absent,     // nobody answers on this machine
  not_ready,  // it only begins, or is about to end and still serves: better than none
  ready,
};
int priority_change(RouterHealth health);

// Tells keepalived whether this machine may have the address of the ingress: while it has a router, best one that is ready.
// Threads: one.
class RouterMonitor {
 public:
  RouterMonitor(sys::Files& files, std::string track_file, std::function<RouterHealth()> ask);

  // Asks once, and writes the file when it has something else. errors: those of the files
  Result<> look(const sys::Context& context);

 private:
  sys::Files& files_;
  const std::string track_file_;
  const std::function<RouterHealth()> ask_;
};

// The command: runtimecfg monitor [KUBECONFIG --api-vips=ADDRESS [--needed-backends=N]] [--ingress-vips=ADDRESS]
// --out-dir=FOLDER. Looks after the addresses that are named, until a stop.
//
// API: FOLDER has haproxy's socket "haproxy.sock" and gets the file "proxy". Masters are looked for with the kubeconfig through
// the proxy itself, first through this machine's own API server: nobody has to have the virtual address for that.
// Ingress: FOLDER gets the file "ingress". The router is asked once a second at port 1936, which it has for that.
Result<> run_monitor(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::runtimecfg
