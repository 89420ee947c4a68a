// `runtimecfg render`: fills the templates of static pods that hold virtual addresses with what only the machine knows
// (providers 3.2).
#pragma once

#include "base/json.h"
#include "base/template.h"
#include "net/ip.h"
#include "operators/lib/program.h"

#include <string>
#include <string_view>

namespace slipway::operators {

// The number by which keepalived tells the API's address from others on the same network, from 1 to 239: a checksum of the
// cluster's domain, so that clusters seldom have the same one.
int api_router_id(std::string_view cluster_domain);

// The name of the interface with an address in whose network `address` lies; the virtual address itself does not count.
//
//   addresses  what `ip -json address` says
//   errors     not_found, with the networks that are there
Result<std::string> interface_for(const Json& addresses, const net::IpAddress& address);

// The address of this machine in the network of `address`. As interface_for otherwise.
Result<net::IpAddress> own_address_for(const Json& addresses, const net::IpAddress& address);

// Values for the templates. Pure. errors: as interface_for
//
//   cluster_domain  "demo.example.com", the same on all machines of the cluster
Result<TemplateValues> keepalived_values(std::string_view cluster_domain, const net::IpAddress& api_vip, const Json& addresses);

// The command: runtimecfg render --api-vips=ADDRESS --cluster-domain=NAME --out-dir=FOLDER TEMPLATES. Every NAME.tmpl of the
// folder TEMPLATES becomes NAME. Values stand behind the equals sign of their flags.
Result<> run_runtimecfg_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
