// A connection to libvirt: the calls that slipway needs, with our errors and types. The library is loaded at run time, so that
// slipway runs on hosts without it. Facts about the calls: https://libvirt.org/html/index.html
//
// Errors of all calls: not_found: no such object; conflict: an object with this name exists, or it is in use; denied: no
// permission; unavailable: no connection, and all other errors, with libvirt's text; invalid: libvirt rejects the XML, or the
// host cannot do it; cancelled. Removing an object that does not exist succeeds.
//
// Threads: any. Calls block for the answer of the daemon, at most a minute if the daemon is gone. While a connection exists, a
// thread answers the keepalive messages of its daemon. The program must ignore SIGPIPE (sys/signals.h).
#pragma once

#include "base/result.h"
#include "sys/context.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::libvirt {

struct Pool {
  std::string name;
  std::string xml{};
  bool is_active = false;
  std::uint64_t available = 0;  // bytes; 0 if it is not active
};

struct Volume {
  std::string pool;
  std::string name;
  std::string path{};
  std::string xml{};
};

struct Network {
  std::string name;
  std::string xml{};  // of the inactive configuration
  bool is_active = false;
};

struct Domain {
  std::string name;
  std::string xml{};     // of the inactive configuration
  std::string state{};   // as virsh calls it: "running", "shut off", "crashed", "paused"
  std::string reason{};  // why, if it is not running: "shutdown", "crashed", "failed"
  bool is_active = false;
};

struct Lease {
  std::string mac;
  std::string address;  // without the prefix length
  std::string host_name;
};

struct HostFacts {
  std::uint64_t free_memory = 0;  // bytes, with the caches, which machines can have
  int processors = 0;
};

// A change of a domain's state.
struct DomainEvent {
  std::string domain;
  std::string event;   // "started", "stopped", "crashed", ...
  std::string detail;  // "booted", "failed", ...
};

// Reads the next piece of an upload into the buffer; returns its size, 0 at the end.
using Reader = std::function<Result<std::size_t>(char* buffer, std::size_t size)>;

enum class Refresh { no, yes };

// Whether a URI of libvirt names the daemon of this computer: "qemu:///system". Pure.
bool is_on_this_computer(std::string_view uri);

class Connection {
 public:
  // uri: "qemu:///system", "qemu+ssh://root@host/system", "test:///default"
  // errors: unavailable: libvirt0 is not installed, or the daemon does not answer, each with a hint; denied; invalid: libvirt
  // does not know the URI
  static Result<std::unique_ptr<Connection>> open(const std::string& uri);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& uri() const;
  // False when the connection has ended: all calls fail from then on. A daemon that restarts ends its connections.
  bool is_open() const;

  Result<HostFacts> host_facts();
  // Whether a machine starts. It exists only during this call, also if this process is killed. errors: denied
  Result<bool> starts(const std::string& xml);
  // Whether the host offers a type of virtualization for x86-64 machines: "kvm", "qemu". libvirt offers KVM if QEMU can open
  // /dev/kvm, which does not prove that machines run with it.
  Result<bool> offers(const std::string& type);

  Result<std::vector<Pool>> pools();
  Result<std::optional<Pool>> find_pool(const std::string& name);
  // Defines the pool, has it started with the host, creates its folder and starts it, so that an active pool is complete. Each of
  // these is skipped if it was done; the definition of an existing pool is kept.
  Result<> create_pool(const std::string& xml, const std::string& name);
  // Stops the pool, removes its folder, which must be empty, and its definition.
  // errors: conflict: there are volumes or other files, and the pool remains active
  Result<> remove_pool(const std::string& name);

  // Volumes of an active pool. Empty if the pool is not active. A refresh finds files that libvirt did not create itself, such as
  // console logs.
  Result<std::vector<Volume>> volumes(const std::string& pool, Refresh refresh);
  // Without a refresh. Nothing if the pool or the volume does not exist, or the pool is not active.
  Result<std::optional<Volume>> find_volume(const std::string& pool, const std::string& name);
  Result<> create_volume(const std::string& pool, const std::string& xml);
  // Replaces the content of a volume. errors: invalid: the reader returned less or more than `size` bytes; those of the reader
  Result<> upload(const sys::Context& context, const std::string& pool, const std::string& volume, std::uint64_t size,
                  const Reader& reader);
  // errors: too_large: the volume has more than `limit` bytes
  Result<std::string> download(const sys::Context& context, const std::string& pool, const std::string& volume,
                               std::uint64_t limit);
  Result<> remove_volume(const std::string& pool, const std::string& name);

  Result<std::vector<Network>> networks();
  Result<std::optional<Network>> find_network(const std::string& name);
  // errors: conflict: a network with this name, but another UUID, exists
  Result<> define_network(const std::string& xml);
  // Has it started with the host, then starts it, so that an active one is complete. Succeeds if it is active.
  Result<> start_network(const std::string& name);
  Result<> remove_network(const std::string& name);
  // Empty if the network does not exist, is not active or has no DHCP server.
  Result<std::vector<Lease>> leases(const std::string& network);

  Result<std::vector<Domain>> domains();
  Result<std::optional<Domain>> find_domain(const std::string& name);
  // errors: conflict: a domain with this name, but another UUID, exists
  Result<> define_domain(const std::string& xml);
  // Has it started with the host, then starts it, so that an active one is complete. Succeeds if it is active.
  Result<> start_domain(const std::string& name);
  // Ends it at once and removes its definition, with its NVRAM, saved state and snapshots. Volumes remain.
  Result<> remove_domain(const std::string& name);

  // Calls `changed`, on this thread, for each change of a domain until a stop.
  // errors: unavailable: the connection ended; cancelled
  Result<> follow(const sys::Context& context, const std::function<void(const DomainEvent&)>& changed);

 private:
  struct State;
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::provider::libvirt
