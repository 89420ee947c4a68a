#include "operators/machineconfig/runtimecfg.h"

#include "base/flags.h"
#include "base/text.h"
#include "base/yaml.h"
#include "operators/lib/render_inputs.h"

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

}  // namespace

int api_router_id(std::string_view cluster_name) {
  unsigned a = 0, b = 0;
  for (unsigned char byte : fmt::format("{}-api", cluster_name)) {
    a = (a + byte) % 15;
    b = (b + a) % 15;
  }
  return static_cast<int>((b << 4 | a) + 1);
}

Result<std::string> interface_for(const Json& addresses, const net::IpAddress& address) {
  std::vector<std::string> seen;
  const auto* interfaces = addresses.if_array();
  for (std::size_t i = 0; interfaces && i < interfaces->size(); ++i) {
    const Json& interface = (*interfaces)[i];
    for (const Json& info : find_array(interface, {"addr_info"})) {
      const std::optional<net::Cidr> own = parse_address(info);
      if (!own || own->address == address) continue;
      if (own->contains(address)) return require_string(interface, {"ifname"});
      seen.push_back(to_string(*own));
    }
  }
  return error(Code::not_found, "no interface of this machine is in the network of {}; it has {}", to_string(address),
               join(seen, ", "));
}

Result<TemplateValues> keepalived_values(std::string_view cluster_name, const net::IpAddress& api_vip, const Json& addresses) {
  const std::string interface = TRY(interface_for(addresses, api_vip));
  return TemplateValues{
      {"ADDRESS", to_string(api_vip)},
      {"CLUSTER_NAME", std::string(cluster_name)},
      {"INTERFACE", interface},
      // keepalived reads no more than eight characters (providers 3.2).
      {"PASSWORD", fmt::format("{}_api_vip", cluster_name).substr(0, 8)},
      {"PREFIX", api_vip.is_v4() ? "32" : "128"},
      {"ROUTER_ID", std::to_string(api_router_id(cluster_name))},
  };
}

Result<> run_runtimecfg_render(const Environment& environment, const Arguments& arguments) {
  Arguments flags_only, words;
  std::ranges::partition_copy(arguments, std::back_inserter(flags_only), std::back_inserter(words),
                              [](const std::string& argument) { return argument.starts_with("-"); });
  const std::vector<Flag> table = {{.name = "api-vips", .required = true},
                                   {.name = "ingress-vips"},
                                   {.name = "cluster-config", .required = true},
                                   {.name = "out-dir", .required = true}};
  const Flags flags = TRY(parse_flags("runtimecfg render", table, flags_only));
  if (words.empty()) return error(Code::invalid, "runtimecfg render: name the folder of the templates");
  sys::Files& files = environment.files;
  const std::string& config_path = flags.text("cluster-config");
  const Json map = TRY(read_yaml(files, config_path));
  const std::string install_config = TRY(require_string(map, {"data", "install-config"}));
  const YamlDocument config = TRY(parse_yaml(install_config, config_path + ": install-config"));
  const std::string cluster_name = TRY(require_string(config.value, {"metadata", "name"}));
  const net::IpAddress api_vip = TRY(net::parse_ip(flags.text("api-vips")).context("--api-vips"));
  const std::string said = TRY(run_checked(environment.runner, environment.context, {.argv = {"ip", "-json", "address"}}));
  const Json addresses = TRY(parse_json(said, "ip -json address"));
  const TemplateValues values = TRY(keepalived_values(cluster_name, api_vip, addresses));
  const std::string& folder = words.back();
  for (const std::string& name : TRY(files.list(folder))) {
    constexpr std::string_view suffix = ".tmpl";
    if (!name.ends_with(suffix)) continue;
    const std::string text = TRY(fill_template(TRY(files.read(folder + "/" + name)), name, values));
    // Readable by root only: there is a password in it.
    TRY(files.write(flags.text("out-dir") + "/" + name.substr(0, name.size() - suffix.size()), text, 0600));
  }
  return Ok{};
}

}  // namespace slipway::operators
