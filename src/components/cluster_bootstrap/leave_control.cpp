#include "components/cluster_bootstrap/leave_control.h"

#include "base/time.h"
#include "components/controller/leader.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace slipway::components::cluster_bootstrap {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds leases_limit = 20s;
constexpr Milliseconds lease_read_interval = 2s;  // for leases that no longer change
constexpr Milliseconds address_limit = 30s;

struct LeaseName {
  std::string_view space;
  std::string_view name;
  Milliseconds longest_silence;  // of a live holder
};
// The first two are renewed twice a second (data/components), the others every ten seconds (components/controller/leader.h).
constexpr std::array<LeaseName, 4> leases_of_control_plane = {{
    {"kube-system", "kube-controller-manager", 3s},
    {"kube-system", "kube-scheduler", 3s},
    {"kube-system", "cluster-policy-controller-lock", 13s},
    {"openshift-cluster-version", "version", 13s},
}};
constexpr std::array<std::string_view, 2> spaces = {"kube-system", "openshift-cluster-version"};

std::string_view first_label(std::string_view name) { return name.substr(0, name.find('.')); }

bool is_of_host(std::string_view holder, std::string_view host) {
  const std::string_view name = first_label(holder.substr(0, holder.find('_')));
  return !name.empty() && (name == first_label(host) || name == "bootstrap");
}

const LeaseName* find_lease(const Json& lease, std::string_view space) {
  const auto found = std::ranges::find_if(
      leases_of_control_plane, [&](const LeaseName& each) { return each.space == space && each.name == kube::name_of(lease); });
  return found == leases_of_control_plane.end() ? nullptr : &*found;
}

std::string_view holder_of(const Json& lease) { return find_string(lease, {"spec", "holderIdentity"}).value_or(""); }

Result<> wait_for_leases(const sys::Context& context, const TearDown& work, Milliseconds limit) {
  return sys::for_each_at_once(context, spaces.size(), spaces.size(), [&](const sys::Context& each, std::size_t i) {
    return kube::wait_until(each, work.api, fmt::format("the Leases in {} to be released", spaces[i]), limit, kube::types::leases,
                            spaces[i], {}, [&](const kube::Objects& leases) -> Result<std::optional<std::string>> {
                              return held_here(leases, spaces[i], work.host);
                            });
  });
}

Result<> release_abandoned_leases(const sys::Context& context, const TearDown& work) {
  for (const std::string_view space : spaces) {
    const kube::Objects leases = TRY(kube::list(context, work.api, kube::types::leases, space));
    for (const Json& lease : leases) {
      const WallTime now = context.clock.now();
      if (!is_abandoned(lease, space, work.host, now)) continue;
      context.log.info("Lease {}/{}: still held by {}, which is gone; releasing it", space, kube::name_of(lease),
                       holder_of(lease));
      const Result<Json> given = kube::update(context, work.api, kube::types::leases, released_lease(lease, now));
      // A conflict means that the holder is alive.
      if (!given.ok() && given.error().code() != Code::conflict) return given.error();
    }
  }
  return Ok{};
}

Result<> wait_and_release_leases(const sys::Context& context, const TearDown& work) {
  const SteadyTime end = context.clock.steady() + leases_limit;
  for (;;) {
    const Result<> back = wait_for_leases(context, work, lease_read_interval);
    if (back.ok() || back.error().code() != Code::timeout || context.clock.steady() >= end) return back;
    TRY(release_abandoned_leases(context, work));
  }
}

// `ip monitor` reports each change immediately. The repeated reads are for changes before the monitor was ready.
Result<> wait_for_address(const sys::Context& context, const TearDown& work) {
  if (work.virtual_ips.empty()) return Ok{};
  const auto read_address = [&](const sys::Context& own) -> Result<sys::Observation> {
    const std::vector<HostAddress> addresses = TRY(host_addresses(work.runner, own));
    const std::optional<std::string> here = address_here(addresses, work.virtual_ips);
    return here ? sys::Observation::not_yet("{}", *here) : sys::Observation::done();
  };
  if (TRY(read_address(context)).is_done()) return Ok{};
  sys::Wakeup changed;
  sys::TaskGroup tasks(context);
  tasks.run("watching addresses", [&](const sys::Context& own) -> Result<> {
    const Result<sys::Output> ended = work.runner.run(
        own,
        {.argv = {"ip", "monitor", "address"}, .grace = 1s, .on_line = [&](sys::Stream, std::string_view) { changed.notify(); }});
    if (!ended.ok()) own.log.debug("ip monitor address: {}", ended.error().message());
    return Ok{};
  });
  tasks.run("waiting", [&](const sys::Context& own) {
    const Result<> moved = sys::wait_for(own, "the API's address to move to a master", address_limit,
                                         [&] { return read_address(own); }, &changed, {100ms, 1s});
    tasks.request_stop();
    return moved;
  });
  return tasks.wait();
}

// A failure that only slows down the handover must not stop it.
Result<> tolerate(const sys::Context& context, const Result<>& result) {
  if (result.ok()) return Ok{};
  if (context.stop.stop_requested()) return result;
  context.log.warn("{}; continuing", result.error().message());
  return Ok{};
}

}  // namespace

std::optional<std::string> held_here(const kube::Objects& leases, std::string_view space, std::string_view host) {
  for (const Json& lease : leases) {
    if (find_lease(lease, space) && is_of_host(holder_of(lease), host)) {
      return fmt::format("Lease {}/{} is held by {}", space, kube::name_of(lease), holder_of(lease));
    }
  }
  return {};
}

bool is_abandoned(const Json& lease, std::string_view space, std::string_view host, WallTime now) {
  const LeaseName* known = find_lease(lease, space);
  if (!known || !is_of_host(holder_of(lease), host)) return false;
  const Result<WallTime> renewed = parse_rfc3339(find_string(lease, {"spec", "renewTime"}).value_or(""));
  return renewed.ok() && now - renewed.value() > known->longest_silence;
}

std::optional<std::string> address_here(const std::vector<HostAddress>& addresses,
                                        const std::vector<net::IpAddress>& virtual_ips) {
  for (const HostAddress& each : addresses) {
    if (std::ranges::find(virtual_ips, each.address) != virtual_ips.end()) {
      return fmt::format("{} is still on {}", to_string(each.address), each.interface);
    }
  }
  return {};
}

Result<> leave_control(const sys::Context& context, const TearDown& work) {
  const SteadyTime start = context.clock.steady();
  const auto since = [&] { return human_duration(context.clock.steady() - start); };
  TRY(tolerate(context, wait_for_address(context, work)));
  context.log.info("the API address has moved away, after {}", since());
  TRY(work.pods.remove_controllers());
  TRY(tolerate(context, wait_and_release_leases(context, work)));
  context.log.info("the temporary controllers have stopped, after {}", since());
  TRY(work.pods.remove_all());
  context.log.info("the temporary API server is being stopped, after {}", since());
  return Ok{};
}

}  // namespace slipway::components::cluster_bootstrap
