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
// cluster's name, so that clusters seldom have the same one.
int api_router_id(std::string_view cluster_name);

// The name of the interface with an address in whose network `address` lies; the virtual address itself does not count.
//
//   addresses  what `ip -json address` says
//   errors     not_found, with the networks that are there
Result<std::string> interface_for(const Json& addresses, const net::IpAddress& address);

// Values for the templates. Pure. errors: as interface_for
Result<TemplateValues> keepalived_values(std::string_view cluster_name, const net::IpAddress& api_vip, const Json& addresses);

// The command: runtimecfg render [KUBECONFIG] --api-vips=ADDRESS --cluster-config=FILE --out-dir=FOLDER TEMPLATES. Every
// NAME.tmpl of the folder TEMPLATES becomes NAME. The kubeconfig is upstream's habit and is not read. Values stand behind
// the equals sign of their flags.
Result<> run_runtimecfg_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
