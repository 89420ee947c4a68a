#include "node/os_build/registries.h"

#include "base/text.h"
#include "machineconfig/containerfile.h"

#include <algorithm>
#include <utility>

namespace slipway::node {

namespace {

using release::RegistryEndpoint;

constexpr std::string_view api = "/v2";

using Servers = std::set<std::pair<std::string, std::string>>;  // server and path

// "registry.example.com" of "registry.example.com/team/app:1"; empty if it is a variable.
std::string registry_of(std::string_view image) {
  const std::size_t slash = image.find('/');
  const std::string_view first = image.substr(0, slash);
  if (first.find('$') != std::string_view::npos) return "";
  const bool is_host = first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
  return slash != std::string_view::npos && is_host ? to_lower(first) : std::string(registry_of_short_names);
}

// Where podman finds the images of the registry on a server: "mirror.example.com/quay" for the API below /v2/quay. Empty:
// nowhere.
std::string location_of(const RegistryEndpoint& endpoint, const std::string& registry) {
  const std::string& server = endpoint.server.empty() ? registry : endpoint.server;
  if (endpoint.path != api && !endpoint.path.starts_with(std::string(api) + "/")) return "";
  return server + endpoint.path.substr(api.size());
}

// Where a server of several registries has the images of this one: no name has a colon.
std::string part_of(const std::string& registry) {
  const std::size_t colon = registry.find(':');
  return colon == std::string::npos ? registry : registry.substr(0, colon) + "__" + registry.substr(colon + 1);
}

// several: the servers that serve several registries
std::string entry(const std::string& registry, const std::vector<RegistryEndpoint>& endpoints, const Servers& several,
                  bool is_named = true) {
  std::string text = fmt::format("[[registry]]\nlocation = \"{}\"\n", registry);
  if (own_endpoint({{registry, endpoints}}, registry).plain_http) text += "insecure = true\n";
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const RegistryEndpoint& each = endpoints[i];
    const std::string location = location_of(each, registry);
    const bool is_last_and_itself = location == registry && i + 1 == endpoints.size();
    if (location.empty() || is_last_and_itself || (!each.serves_digests && !each.serves_tags)) continue;
    const auto add = [&](const std::string& place) {
      text += fmt::format("[[registry.mirror]]\nlocation = \"{}\"\n", place);
      if (each.plain_http) text += "insecure = true\n";
      if (!each.serves_tags) text += "pull-from-mirror = \"digest-only\"\n";
      if (!each.serves_digests) text += "pull-from-mirror = \"tag-only\"\n";
    };
    const bool serves_several = several.contains({each.server, each.path});
    if (is_named || !serves_several) add(location);
    if (serves_several) add(location + "/" + part_of(registry));
  }
  return text;
}

}  // namespace

std::set<std::string> registries_in(std::string_view containerfile) {
  std::set<std::string> found;
  const auto add = [&](std::string_view image) {
    const std::string registry = registry_of(image);
    if (!registry.empty()) found.insert(registry);
  };
  const std::vector<machineconfig::Instruction> instructions = machineconfig::read_instructions(containerfile);
  for (const machineconfig::Instruction& instruction : instructions) {
    for (const std::string_view word : split(instruction.rest, ' ')) {
      if (!word.starts_with("--")) {
        if (instruction.name == "from") add(word);
        continue;
      }
      for (std::string_view option : split(word.substr(2), ',')) {  // --from=IMAGE, --mount=type=bind,from=IMAGE
        if (option.starts_with("mount=")) option.remove_prefix(6);
        if (option.starts_with("from=")) add(option.substr(5));
      }
    }
  }
  return found;
}

std::string registries_conf(const Endpoints& endpoints, const std::set<std::string>& named) {
  std::string text;
  const auto others = endpoints.find("");
  Servers several;
  if (others != endpoints.end()) {
    for (const RegistryEndpoint& each : others->second) {
      if (!each.server.empty()) several.emplace(each.server, each.path);
    }
  }
  for (const auto& [registry, servers] : endpoints) {
    if (!registry.empty()) text += entry(registry, servers, several);
  }
  if (others == endpoints.end()) return text;
  for (const std::string& registry : named) {
    if (!endpoints.contains(registry)) text += entry(registry, others->second, several, false);
  }
  return text;
}

std::set<std::string> authorities_of(const Endpoints& endpoints) {
  std::set<std::string> found;
  for (const auto& [registry, servers] : endpoints) {
    for (const RegistryEndpoint& server : servers) {
      if (!server.ca_pem.empty()) found.insert(server.ca_pem);
    }
  }
  return found;
}

RegistryEndpoint own_endpoint(const Endpoints& endpoints, const std::string& registry) {
  auto servers = endpoints.find(registry);
  if (servers == endpoints.end()) servers = endpoints.find("");
  if (servers == endpoints.end()) return {};
  const auto found = std::ranges::find_if(servers->second, [&](const RegistryEndpoint& server) {
    return server.server.empty() ? !servers->first.empty() : server.server == registry;
  });
  return found == servers->second.end() ? RegistryEndpoint{} : *found;
}

}  // namespace slipway::node
