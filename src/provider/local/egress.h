// The way of machines and pods to the networks that the host reaches (platform.local.egress): slirp4netns makes connections of
// the host of their packets. Nothing of the host is configured.
#pragma once

#include "provider/local/address_plan.h"

#include "base/result.h"
#include "net/ip.h"
#include "sys/context.h"
#include "sys/programs.h"
#include "sys/runner.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

inline constexpr std::array egress_programs = {sys::NeededProgram{"slirp4netns", "slirp4netns"},
                                               sys::NeededProgram{"nft", "nftables"}};

// slirp4netns prints this when it has its interface. What it prints later stays in a buffer.
inline constexpr std::string_view egress_is_up = "received tapfd";

// The network between the owner and slirp4netns: the first one of 100.64.0.0/10 that overlaps with none of `taken`, which are the
// networks of the cluster and of the host. Machines do not see it. Pure. errors: conflict: all are taken
Result<std::string> free_egress_network(const std::vector<net::Cidr>& taken);

// The networks that the host has routes to, from the text of /proc/net/route. Pure.
std::vector<net::Cidr> networks_of_routes(std::string_view routes);

// The name server of the network, which asks those of the host. Pure.
std::string egress_name_server(const std::string& network);

// A command that runs until it is killed, in the namespaces of the host.
//
//   owner  the process of the owner, as the host numbers it
std::vector<std::string> egress_command(const std::string& network, int owner);

// Lets packets pass in the network namespace of the caller, the owner's. errors: unavailable: with the message of nft
Result<> open_egress(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan, const std::string& network);

// Rules of nftables in the namespace of the owner. Addresses of the host's link, such as the metadata service of a cloud, are
// closed. Pure.
std::string egress_rules(const AddressPlan& plan, const std::string& network);

}  // namespace slipway::provider::local
