// `runtimecfg render`: renders the templates of static pods for virtual IPs with values that only the machine knows. The command
// has the flags of openshift/baremetal-runtimecfg.
#pragma once

#include "base/flags.h"
#include "base/json.h"
#include "base/template.h"
#include "components/program/program.h"
#include "net/ip.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::components::runtimecfg {

// The virtual router IDs by which keepalived distinguishes virtual IPs on the same network, 1 to 239. They are checksums of the
// cluster's domain, so that clusters rarely have equal IDs. Both IDs of a cluster always differ.
int api_router_id(std::string_view cluster_domain);
int ingress_router_id(std::string_view cluster_domain);

// The name of the interface that has an address in the network of `address`. The virtual IP itself is ignored.
//
//   addresses  output of `ip -json address`
//   errors     not_found: names the addresses that exist
Result<std::string> interface_for(const Json& addresses, const net::IpAddress& address);

// The address of this machine in the network of `address`. Otherwise like interface_for.
Result<net::IpAddress> own_address_for(const Json& addresses, const net::IpAddress& address);

// Splits arguments: flags and other words may be mixed.
struct FlagsAndWords {
  Arguments flags{}, words{};
};
FlagsAndWords flags_and_words(const Arguments& arguments);

// The virtual IPs that a machine may hold.
struct VirtualAddresses {
  std::optional<net::IpAddress> api{}, ingress{};
};

// Values for the templates: {{ADDRESS}} and others for the API, {{INGRESS_ADDRESS}} and others for the ingress. Pure.
//
//   cluster_domain  "demo.example.com", the same on all machines of the cluster
//   errors          those of interface_for
Result<TemplateValues> keepalived_values(std::string_view cluster_domain, const VirtualAddresses& virtual_addresses,
                                         const Json& addresses);

// Parses --api-vips and --ingress-vips, one address each. errors: invalid: not an address, or neither flag is given
Result<VirtualAddresses> parse_virtual_addresses(const Flags& flags);

// The command: runtimecfg render [--api-vips=ADDRESS] [--ingress-vips=ADDRESS] --cluster-domain=NAME --out-dir=FOLDER TEMPLATES.
// Renders every NAME.tmpl of the folder TEMPLATES to NAME. Flags have the form --NAME=VALUE.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::runtimecfg
