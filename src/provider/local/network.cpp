#include "provider/local/network.h"

namespace slipway::provider::local {

namespace {

constexpr std::string_view bridge = "br0";

}  // namespace

Result<> make_bridge(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan) {
  // The bridge has its own MAC address. Otherwise it would use the lowest one of its ports: this changes when machines start or
  // stop, and the other machines would send packets for the name server to the old address.
  const std::string batch = fmt::format(
      "link set lo up\n"
      "link add {0} address {1} type bridge forward_delay 0 stp_state 0\n"
      "address add {2} dev {0}\n"
      "link set {0} up\n",
      bridge, AddressPlan::gateway_mac(), plan.with_prefix(plan.gateway()));
  TRY(sys::run_checked(runner, context, {.argv = {"ip", "-batch", "-"}, .input = batch})
          .context("creating the bridge of the cluster"));
  return Ok{};
}

Result<std::string> make_machine_network(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan,
                                         const MachineRecord& machine) {
  const std::string doing = "creating the network of " + machine.name, cable = AddressPlan::interface(machine.number);
  TRY(remove_machine_network(context, runner, machine));
  const std::string outside = fmt::format(
      "netns add {0}\n"
      "link add {1} type veth peer name eth0 address {2} netns {0}\n"
      "link set {1} master {3} up\n",
      machine.name, cable, AddressPlan::mac(machine.number), bridge);
  TRY(sys::run_checked(runner, context, {.argv = {"ip", "-batch", "-"}, .input = outside}).context(doing));
  const std::string inside = fmt::format(
      "link set lo up\n"
      "address add {} dev eth0\n"
      "link set eth0 up\n"
      "route add default via {}\n",
      plan.with_prefix(plan.address(machine.number)), plan.gateway());
  TRY(sys::run_checked(runner, context, {.argv = {"ip", "-netns", machine.name, "-batch", "-"}, .input = inside}).context(doing));
  return "/run/netns/" + machine.name;
}

Result<> remove_machine_network(const sys::Context& context, sys::Runner& runner, const MachineRecord& machine) {
  // Delete the veth pair explicitly: if only the namespace is deleted, the kernel deletes the pair some time later. The commands
  // fail if there is nothing to delete; the status is ignored.
  TRY(runner.run(context, {.argv = {"ip", "link", "delete", AddressPlan::interface(machine.number)}}));
  TRY(runner.run(context, {.argv = {"ip", "netns", "delete", machine.name}}));
  return Ok{};
}

}  // namespace slipway::provider::local
