#include "operators/machineconfig/runtimecfg.h"

#include "base/flags.h"
#include "base/text.h"

#include <algorithm>
#include <optional>

namespace slipway::operators {

namespace {

// One of "addr_info" that `ip` prints.
std::optional<net::Cidr> parse_address(const Json& info) {
  const auto local = find_string(info, {"local"});
  const Json* prefix = find(info, {"prefixlen"});
  if (!local || !prefix || !prefix->is_int64()) return std::nullopt;
  Result<net::IpAddress> address = net::parse_ip(*local);
  if (!address.ok()) return std::nullopt;
  return net::Cidr{std::move(address).value(), static_cast<int>(prefix->get_int64())};
}

struct Place {
  std::string interface;
  net::IpAddress address;
};

Result<Place> place_in_network_of(const Json& addresses, const net::IpAddress& address) {
  std::vector<std::string> seen;
  const auto* interfaces = addresses.if_array();
  for (std::size_t i = 0; interfaces && i < interfaces->size(); ++i) {
    const Json& interface = (*interfaces)[i];
    for (const Json& info : find_array(interface, {"addr_info"})) {
      const std::optional<net::Cidr> own = parse_address(info);
      if (!own || own->address == address) continue;
      if (own->contains(address)) return Place{TRY(require_string(interface, {"ifname"})), own->address};
      seen.push_back(to_string(*own));
    }
  }
  return error(Code::not_found, "no interface of this machine is in the network of {}; it has {}", to_string(address),
               join(seen, ", "));
}

}  // namespace

int api_router_id(std::string_view cluster_domain) {
  unsigned a = 0, b = 0;
  for (unsigned char byte : fmt::format("{}-api", cluster_domain)) {
    a = (a + byte) % 15;
    b = (b + a) % 15;
  }
  return static_cast<int>((b << 4 | a) + 1);
}

Result<std::string> interface_for(const Json& addresses, const net::IpAddress& address) {
  return TRY(place_in_network_of(addresses, address)).interface;
}

Result<net::IpAddress> own_address_for(const Json& addresses, const net::IpAddress& address) {
  return TRY(place_in_network_of(addresses, address)).address;
}

Result<TemplateValues> keepalived_values(std::string_view cluster_domain, const net::IpAddress& api_vip, const Json& addresses) {
  const std::string interface = TRY(interface_for(addresses, api_vip));
  return TemplateValues{
      {"ADDRESS", to_string(api_vip)},
      {"INTERFACE", interface},
      {"PREFIX", api_vip.is_v4() ? "32" : "128"},
      {"ROUTER_ID", std::to_string(api_router_id(cluster_domain))},
  };
}

Result<> run_runtimecfg_render(const Environment& environment, const Arguments& arguments) {
  Arguments flags_only, words;
  std::ranges::partition_copy(arguments, std::back_inserter(flags_only), std::back_inserter(words),
                              [](const std::string& argument) { return argument.starts_with("-"); });
  const std::vector<Flag> table = {{.name = "api-vips", .required = true},
                                   {.name = "cluster-domain", .required = true},
                                   {.name = "out-dir", .required = true}};
  const Flags flags = TRY(parse_flags("runtimecfg render", table, flags_only));
  if (words.empty()) return error(Code::invalid, "runtimecfg render: name the folder of the templates");
  sys::Files& files = environment.files;
  const net::IpAddress api_vip = TRY(net::parse_ip(flags.text("api-vips")).context("--api-vips"));
  const std::string said = TRY(run_checked(environment.runner, environment.context, {.argv = {"ip", "-json", "address"}}));
  const Json addresses = TRY(parse_json(said, "ip -json address"));
  const TemplateValues values = TRY(keepalived_values(flags.text("cluster-domain"), api_vip, addresses));
  const std::string& folder = words.back();
  for (const std::string& name : TRY(files.list(folder))) {
    constexpr std::string_view suffix = ".tmpl";
    if (!name.ends_with(suffix)) continue;
    const std::string text = TRY(fill_template(TRY(files.read(folder + "/" + name)), name, values));
    TRY(files.write(flags.text("out-dir") + "/" + name.substr(0, name.size() - suffix.size()), text, 0644));
  }
  return Ok{};
}

}  // namespace slipway::operators
