#include "components/runtimecfg/runtimecfg.h"

#include "base/text.h"

#include <algorithm>
#include <optional>

namespace slipway::components::runtimecfg {

namespace {

// Parses an entry of "addr_info" in the output of `ip`.
std::optional<net::Cidr> parse_address(const Json& info) {
  const auto local = find_string(info, {"local"});
  const Json* prefix = find(info, {"prefixlen"});
  if (!local || !prefix || !prefix->is_int64()) return std::nullopt;
  Result<net::IpAddress> address = net::parse_ip(*local);
  if (!address.ok()) return std::nullopt;
  return net::Cidr{std::move(address).value(), static_cast<int>(prefix->get_int64())};
}

struct InterfaceAddress {
  std::string interface;
  net::IpAddress address;
};

Result<InterfaceAddress> address_in_network_of(const Json& addresses, const net::IpAddress& address) {
  std::vector<std::string> seen;
  const auto* interfaces = addresses.if_array();
  for (std::size_t i = 0; interfaces && i < interfaces->size(); ++i) {
    const Json& interface = (*interfaces)[i];
    for (const Json& info : find_array(interface, {"addr_info"})) {
      const std::optional<net::Cidr> own = parse_address(info);
      if (!own || own->address == address) continue;
      if (own->contains(address)) return InterfaceAddress{TRY(require_string(interface, {"ifname"})), own->address};
      seen.push_back(to_string(*own));
    }
  }
  return error(Code::not_found, "no interface of this machine is in the network of {} (addresses: {})", to_string(address),
               join(seen, ", "));
}

// Fletcher's checksum with two halves of four bits: at most 238.
int checksum(std::string_view text) {
  unsigned a = 0, b = 0;
  for (unsigned char byte : text) {
    a = (a + byte) % 15;
    b = (b + a) % 15;
  }
  return static_cast<int>(b << 4 | a);
}

Result<> put_values(const std::string& prefix, const net::IpAddress& address, int router_id, const Json& addresses,
                    TemplateValues& values) {
  values[prefix + "ADDRESS"] = to_string(address);
  values[prefix + "INTERFACE"] = TRY(interface_for(addresses, address));
  values[prefix + "PREFIX"] = address.is_v4() ? "32" : "128";
  values[prefix + "ROUTER_ID"] = std::to_string(router_id);
  return Ok{};
}

}  // namespace

int api_router_id(std::string_view cluster_domain) { return checksum(fmt::format("{}-api", cluster_domain)) + 1; }

// Never equal to the API's ID: the letters of the two suffixes have different sums modulo 15.
int ingress_router_id(std::string_view cluster_domain) { return checksum(fmt::format("{}-ingress", cluster_domain)) + 1; }

Result<std::string> interface_for(const Json& addresses, const net::IpAddress& address) {
  return TRY(address_in_network_of(addresses, address)).interface;
}

Result<net::IpAddress> own_address_for(const Json& addresses, const net::IpAddress& address) {
  return TRY(address_in_network_of(addresses, address)).address;
}

Result<TemplateValues> keepalived_values(std::string_view cluster_domain, const VirtualAddresses& virtual_addresses,
                                         const Json& addresses) {
  TemplateValues values;
  if (const auto& api = virtual_addresses.api) TRY(put_values("", *api, api_router_id(cluster_domain), addresses, values));
  if (const auto& ingress = virtual_addresses.ingress) {
    TRY(put_values("INGRESS_", *ingress, ingress_router_id(cluster_domain), addresses, values));
  }
  return values;
}

Result<VirtualAddresses> parse_virtual_addresses(const Flags& flags) {
  VirtualAddresses parsed;
  if (const std::string& text = flags.text("api-vips"); !text.empty()) {
    parsed.api = TRY(net::parse_ip(text).context("--api-vips"));
  }
  if (const std::string& text = flags.text("ingress-vips"); !text.empty()) {
    parsed.ingress = TRY(net::parse_ip(text).context("--ingress-vips"));
  }
  if (!parsed.api && !parsed.ingress) return error(Code::invalid, "runtimecfg: --api-vips or --ingress-vips is required");
  return parsed;
}

FlagsAndWords flags_and_words(const Arguments& arguments) {
  FlagsAndWords parts;
  std::ranges::partition_copy(arguments, std::back_inserter(parts.flags), std::back_inserter(parts.words),
                              [](const std::string& argument) { return argument.starts_with("-"); });
  return parts;
}

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const FlagsAndWords given = flags_and_words(arguments);
  const std::vector<Flag> table = {{.name = "api-vips"},
                                   {.name = "ingress-vips"},
                                   {.name = "cluster-domain", .required = true},
                                   {.name = "out-dir", .required = true}};
  const Flags flags = TRY(parse_flags("runtimecfg render", table, given.flags));
  if (given.words.empty()) return error(Code::invalid, "runtimecfg render: the folder of the templates is required");
  sys::Files& files = environment.files;
  const VirtualAddresses virtual_addresses = TRY(parse_virtual_addresses(flags));
  const std::string output = TRY(run_checked(environment.runner, environment.context, {.argv = {"ip", "-json", "address"}}));
  const Json addresses = TRY(parse_json(output, "ip -json address"));
  const TemplateValues values = TRY(keepalived_values(flags.text("cluster-domain"), virtual_addresses, addresses));
  const std::string& folder = given.words.back();
  for (const std::string& name : TRY(files.list(folder))) {
    constexpr std::string_view suffix = ".tmpl";
    if (!name.ends_with(suffix)) continue;
    const std::string text = TRY(fill_template(TRY(files.read(folder + "/" + name)), name, values));
    TRY(files.write(flags.text("out-dir") + "/" + name.substr(0, name.size() - suffix.size()), text, 0644));
  }
  return Ok{};
}

}  // namespace slipway::components::runtimecfg
