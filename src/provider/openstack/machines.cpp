// Server groups, volumes, servers.
#include "provider/openstack/work.h"

#include "base/digest.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::openstack {

namespace {

constexpr Milliseconds server_limit(900'000);
constexpr Milliseconds volume_limit(1'800'000);  // Cinder may copy the image
constexpr sys::Pace server_pace{.first = Milliseconds(200), .longest = Milliseconds(5000)};
constexpr std::size_t largest_user_data = 65535;  // characters of base64
constexpr int minor_with_policy = 64;             // of Nova: server groups with one policy
constexpr std::string_view oldest_soft_policies = "2.15";

// ---- server groups

// They have neither tags nor metadata, but the name is unique to the cluster.
Result<std::vector<Item>> list_server_groups(const Work& work) {
  std::vector<Item> items;
  const std::string masters = named(work.project.infra_id, "master"), workers = named(work.project.infra_id, "worker");
  for (const Json& found :
       TRY(work.list({.service = Service::nova, .action = "ListServerGroups", .target = "/os-server-groups"}, "server_groups"))) {
    const std::string name = text_of(found, {"name"});
    if (name != masters && name != workers && !name.starts_with(workers + "-")) continue;
    items.push_back({.kind = std::string(server_group_kind), .name = name, .id = text_of(found, {"id"})});
  }
  return items;
}

Result<Item> create_server_group(const Work& work, const plan::Resource& resource) {
  const bool has_policy = TRY(work.project.api.nova_minor(work.context)) >= minor_with_policy;
  JsonObject group = {{"name", resource.name}};
  if (has_policy) {
    group["policy"] = text(resource, "policy");
  } else {
    group["policies"] = JsonArray{Json(text(resource, "policy"))};
  }
  const Reply reply =
      TRY(work.send({.service = Service::nova,
                     .action = "CreateServerGroup",
                     .object = resource.name,
                     .effect = Effect::twice,
                     .method = "POST",
                     .target = "/os-server-groups",
                     .body = JsonObject{{"server_group", std::move(group)}},
                     .microversion = has_policy ? fmt::format("2.{}", minor_with_policy) : std::string(oldest_soft_policies)}));
  const std::string id = text_of(reply.json, {"server_group", "id"});
  if (id.empty()) return error(Code::internal, "Nova CreateServerGroup {}: the answer has no ID", resource.name);
  return item_of(resource, id);
}

Result<> remove_server_group(const Work& work, const Item& item) {
  TRY(work.send({.service = Service::nova,
                 .action = "DeleteServerGroup",
                 .object = item.name,
                 .effect = Effect::once,
                 .method = "DELETE",
                 .target = "/os-server-groups/" + item.id,
                 .expected = {Failure::not_found}}));
  return Ok{};
}

// ---- servers and volumes

// Of the metadata of a server or volume.
Item marked_item(const Work& work, std::string_view kind, const Json& found) {
  Item item{.kind = std::string(kind), .name = text_of(found, {"name"}), .id = text_of(found, {"id"})};
  item.is_ours =
      text_of(found, {"metadata", cluster_key}) == work.project.infra_id && !text_of(found, {"metadata", machine_key}).empty();
  item.machine = item.is_ours ? text_of(found, {"metadata", machine_key}) : "";
  return item;
}

// Waits until Nova or Cinder does not know an object any more.
Result<> wait_until_gone(const Work& work, const Call& look, Milliseconds limit, std::string_view member) {
  return sys::wait_for(
      work.context, fmt::format("the end of {}", look.object), limit,
      [&]() -> Result<sys::Observation> {
        const Reply reply = TRY(work.send(look));
        if (reply.failure) return sys::Observation::done();
        return sys::Observation::not_yet("is {}", text_of(reply.json, {member, "status"}));
      },
      nullptr, server_pace);
}

// ---- volumes

Result<std::vector<Item>> list_volumes(const Work& work) {
  std::vector<Item> items;
  if (!TRY(work.project.api.has_service(work.context, Service::cinder))) return items;
  const std::string prefix = work.project.infra_id + "-";
  for (const Json& found :
       TRY(work.list({.service = Service::cinder, .action = "ListVolumes", .target = "/volumes/detail"}, "volumes"))) {
    const std::string status = text_of(found, {"status"});
    Item item = marked_item(work, volume_kind, found);
    if (!item.is_ours && !item.name.starts_with(prefix)) continue;
    item.is_whole = status == "available" || status == "in-use";
    item.facts = {{"status", status}};
    items.push_back(std::move(item));
  }
  std::ranges::stable_sort(items, {}, &Item::is_ours);
  return items;
}

Result<Item> create_volume(const Work& work, const plan::Resource& resource) {
  JsonObject volume = {{"name", resource.name},
                       {"size", integer_of(resource.spec, {"size"})},
                       {"metadata", metadata_of(work.project, resource.machine, resource)}};
  volume["imageRef"] = TRY(work.id_of(text(resource, "image")));
  if (std::string type = text(resource, "type"); !type.empty()) volume["volume_type"] = std::move(type);
  if (std::string zone = text(resource, "zone"); !zone.empty()) volume["availability_zone"] = std::move(zone);
  const Reply made = TRY(work.send({.service = Service::cinder,
                                    .action = "CreateVolume",
                                    .object = resource.name,
                                    .effect = Effect::twice,
                                    .method = "POST",
                                    .target = "/volumes",
                                    .body = JsonObject{{"volume", std::move(volume)}}}));
  const std::string id = text_of(made.json, {"volume", "id"});
  if (id.empty()) return error(Code::internal, "Cinder CreateVolume {}: the answer has no ID", resource.name);
  TRY(sys::wait_for(
      work.context, fmt::format("volume {}", resource.name), volume_limit,
      [&]() -> Result<sys::Observation> {
        const Reply reply = TRY(
            work.send({.service = Service::cinder, .action = "GetVolume", .object = resource.name, .target = "/volumes/" + id}));
        const std::string status = text_of(reply.json, {"volume", "status"});
        if (status == "available") return sys::Observation::done();
        if (status.starts_with("error"))
          return error(Code::invalid, "volume {}: Cinder could not create it ({})", resource.name, status);
        return sys::Observation::not_yet("is {}", status);
      },
      nullptr, server_pace));
  return item_of(resource, id);
}

Result<> remove_volume(const Work& work, const Item& item) {
  const Reply reply = TRY(work.send({.service = Service::cinder,
                                     .action = "DeleteVolume",
                                     .object = item.name,
                                     .effect = Effect::once,
                                     .method = "DELETE",
                                     .target = "/volumes/" + item.id,
                                     .expected = {Failure::not_found, Failure::invalid}}));
  // Cinder answers 400 while a server has the volume.
  if (reply.failure && classify(*reply.failure) == Failure::invalid) {
    return Error(Code::conflict, to_error(*reply.failure, fmt::format("Cinder DeleteVolume {}", item.name)).message());
  }
  return wait_until_gone(work,
                         {.service = Service::cinder,
                          .action = "GetVolume",
                          .object = item.name,
                          .target = "/volumes/" + item.id,
                          .expected = {Failure::not_found}},
                         volume_limit, "volume");
}

// ---- servers

std::string address_of(const Json& server) {
  for (const auto& network : find_object(server, {"addresses"})) {
    for (const Json& each : find_array(network.value(), {})) {
      const std::string type = text_of(each, {"OS-EXT-IPS:type"});
      if (type.empty() || type == "fixed") return text_of(each, {"addr"});
    }
  }
  return "";
}

Result<std::vector<Item>> list_machines(const Work& work) {
  std::vector<Item> items;
  const std::string prefix = work.project.infra_id + "-";
  Call call{.service = Service::nova, .action = "ListServers"};
  // Without a microversion, answers lack the user data.
  call.target = fmt::format("/servers/detail?name={}", net::percent_encode("^" + prefix));
  for (const Json& found : TRY(work.list(std::move(call), "servers"))) {
    const std::string status = text_of(found, {"status"});
    Item item = marked_item(work, machine_kind, found);
    if (!item.name.starts_with(prefix) || status == "DELETED" || status == "SOFT_DELETED") continue;
    const Json* metadata = find(found, {"metadata"});
    const Json known = metadata ? *metadata : Json(JsonObject());
    item.is_whole = status == "ACTIVE" || status == "SHUTOFF";
    item.facts = {{"state", status},
                  {"reason", text_of(found, {"fault", "message"})},
                  {"address", address_of(found)},
                  {"role", long_metadata(known, "slipway.role")},
                  {"release", long_metadata(known, "slipway.release")},
                  {"version", long_metadata(known, "slipway.version")},
                  {"image", text_of(found, {"image", "id"})},
                  {"flavor", text_of(found, {"flavor", "id"})},
                  {"created", text_of(found, {"created"})},
                  {"expires", text_of(known, {expires_key})}};
    items.push_back(std::move(item));
  }
  // The inventory keeps the last one of a name.
  std::ranges::stable_sort(items, {}, &Item::is_ours);
  return items;
}

Result<std::string> user_data(const Work& work, const plan::Resource& resource) {
  std::optional<Pointer> pointer;
  if (const std::string key = text(resource, "pointer"); !key.empty()) pointer = TRY(pointer_to(work, key));
  std::string encoded = base64_encode(TRY(work.project.config(resource.machine, pointer)));
  if (encoded.size() <= largest_user_data) return encoded;
  return error(Code::invalid, "the Ignition config has {} characters in base64, but user data has at most {}", encoded.size(),
               largest_user_data);
}

Result<> wait_until_active(const Work& work, const std::string& id, const std::string& name) {
  return sys::wait_for(
      work.context, fmt::format("server {}", name), server_limit,
      [&]() -> Result<sys::Observation> {
        const Reply reply =
            TRY(work.send({.service = Service::nova, .action = "GetServer", .object = name, .target = "/servers/" + id}));
        const std::string status = text_of(reply.json, {"server", "status"});
        if (status == "ACTIVE" || status == "SHUTOFF") return sys::Observation::done();
        if (status == "ERROR") {
          return error(Code::invalid, "server {}: Nova could not create it: {} (see the hosts, the flavor and the zone)", name,
                       text_of(reply.json, {"server", "fault", "message"}));
        }
        return sys::Observation::not_yet("is {}", status);
      },
      nullptr, server_pace);
}

Result<Item> create_machine(const Work& work, const plan::Resource& resource) {
  const Flavor flavor = TRY(work.project.flavors.get(work.context, work.project.api, text(resource, "flavor")));
  JsonObject server = {{"name", resource.name},
                       {"flavorRef", flavor.id},
                       {"config_drive", true},
                       {"metadata", metadata_of(work.project, resource.machine, resource)}};
  server["user_data"] = TRY(user_data(work, resource));
  if (const std::string volume = text(resource, "volume"); !volume.empty()) {
    JsonObject disk = {
        {"boot_index", 0}, {"source_type", "volume"}, {"destination_type", "volume"}, {"delete_on_termination", false}};
    disk["uuid"] = TRY(work.id_of(volume));
    server["block_device_mapping_v2"] = JsonArray{std::move(disk)};
  } else {
    server["imageRef"] = TRY(work.id_of(text(resource, "image")));
  }
  JsonArray networks;
  JsonObject first;
  first["port"] = TRY(work.id_of(text(resource, "port")));
  networks.push_back(std::move(first));
  for (const std::string& id : texts_of(resource.spec, {"networks"})) networks.push_back(JsonObject{{"uuid", id}});
  server["networks"] = std::move(networks);
  if (std::string zone = text(resource, "zone"); !zone.empty()) server["availability_zone"] = std::move(zone);
  JsonObject body = {{"server", std::move(server)}};
  if (const std::string group = text(resource, "group"); !group.empty()) {
    JsonObject hints;
    hints["group"] = TRY(work.id_of(group));
    body["os:scheduler_hints"] = std::move(hints);
  }
  const Reply made = TRY(work.send({.service = Service::nova,
                                    .action = "CreateServer",
                                    .object = resource.name,
                                    .effect = Effect::twice,
                                    .method = "POST",
                                    .target = "/servers",
                                    .body = std::move(body)}));
  const std::string id = text_of(made.json, {"server", "id"});
  if (id.empty()) return error(Code::internal, "Nova CreateServer {}: the answer has no ID", resource.name);
  TRY(wait_until_active(work, id, resource.name));
  Item item = item_of(resource, id);
  item.facts = {{"state", "ACTIVE"}};
  return item;
}

// Its port stays, so it is removed as a resource of its own.
Result<> remove_machine(const Work& work, const Item& item) {
  TRY(work.send({.service = Service::nova,
                 .action = "DeleteServer",
                 .object = item.name,
                 .effect = Effect::once,
                 .method = "DELETE",
                 .target = "/servers/" + item.id,
                 .expected = {Failure::not_found}}));
  return wait_until_gone(work,
                         {.service = Service::nova,
                          .action = "GetServer",
                          .object = item.name,
                          .target = "/servers/" + item.id,
                          .expected = {Failure::not_found}},
                         server_limit, "server");
}

}  // namespace

std::span<const Kind> machine_kinds() {
  static constexpr std::array kinds = {
      Kind{machine_kind, list_machines, create_machine, remove_machine},
      Kind{volume_kind, list_volumes, create_volume, remove_volume},
      Kind{server_group_kind, list_server_groups, create_server_group, remove_server_group},
  };
  return kinds;
}

}  // namespace slipway::provider::openstack
