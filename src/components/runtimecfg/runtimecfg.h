// `runtimecfg render`: fills the templates of static pods that hold virtual addresses with what only the machine knows.
// The command is one of openshift/baremetal-runtimecfg.
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

// The numbers by which keepalived tells the addresses from others on the same network, from 1 to 239 and never the same for both:
// checksums of the cluster's domain, so that clusters seldom have the same ones.
int api_router_id(std::string_view cluster_domain);
int ingress_router_id(std::string_view cluster_domain);

// The name of the interface with an address in whose network `address` lies; the virtual address itself does not count.
//
//   addresses  what `ip -json address` says
//   errors     not_found, with the networks that are there
Result<std::string> interface_for(const Json& addresses, const net::IpAddress& address);

// The address of this machine in the network of `address`. As interface_for otherwise.
Result<net::IpAddress> own_address_for(const Json& addresses, const net::IpAddress& address);

// Arguments that may stand among flags.
struct FlagsAndWords {
  Arguments flags{}, words{};
};
FlagsAndWords flags_and_words(const Arguments& arguments);

// The addresses that a machine may have.
struct VirtualAddresses {
  std::optional<net::IpAddress> api{}, ingress{};
};

// Values for the templates: {{ADDRESS}} and others of the API, {{INGRESS_ADDRESS}} and others of the ingress. Pure.
// errors: as interface_for
//
//   cluster_domain  "demo.example.com", the same on all machines of the cluster
Result<TemplateValues> keepalived_values(std::string_view cluster_domain, const VirtualAddresses& virtual_addresses,
                                         const Json& addresses);

// --api-vips and --ingress-vips of the commands, one address each. errors: invalid: no address, or neither flag
Result<VirtualAddresses> parse_virtual_addresses(const Flags& flags);

// The command: runtimecfg render [--api-vips=ADDRESS] [--ingress-vips=ADDRESS] --cluster-domain=NAME --out-dir=FOLDER TEMPLATES.
// Every NAME.tmpl of the folder TEMPLATES becomes NAME. Values stand behind the equals sign of their flags.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::runtimecfg
