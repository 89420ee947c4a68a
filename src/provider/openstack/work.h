// What the functions that list, create and remove resources have in common. Each kind of resource has a row in the table of its
// file: network.cpp, addresses.cpp, machines.cpp, images.cpp, configs.cpp.
#pragma once

#include "provider/openstack/api.h"
#include "provider/openstack/cluster_plan.h"
#include "provider/os_image.h"
#include "provider/plan/kinds.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::openstack {

using plan::Inventory;
using plan::Item;

struct Flavor {
  std::string id{};
  std::string name{};
  int vcpus = 0;
  int ram_mib = 0;
  int disk_gib = 0;
};

// Where a machine fetches its config.
struct Pointer {
  std::string url{};
  std::vector<net::Header> headers{};
};

// The flavors of the cloud, which are looked up once. Threads: any.
class Flavors {
 public:
  // By name or ID. errors: not_found
  Result<Flavor> get(const sys::Context& context, Api& api, const std::string& name);
  Result<std::vector<Flavor>> all(const sys::Context& context, Api& api);

 private:
  std::mutex mutex_;
  std::optional<std::vector<Flavor>> known_;
};

// The cluster whose resources these are.
struct Project {
  Api& api;
  Inventory& inventory;
  Flavors& flavors;
  std::string infra_id;
  std::string expires{};        // RFC 3339; empty: never
  OsImage* os_image = nullptr;  // needed for creating images
  // The SHA-512 of a file.
  std::function<Result<std::string>(const sys::Context& context, const std::string& path)> sha512{};
  std::function<Result<std::string>()> new_key{};  // a random key for temporary URLs
  // The Ignition config of a machine; with a pointer: the small config that fetches it from there.
  std::function<Result<std::string>(const std::string& machine, const std::optional<Pointer>& pointer)> config{};
};

struct Work {
  const sys::Context& context;
  Project& project;

  Result<Reply> send(const Call& call) const { return project.api.send(context, call); }
  Result<JsonArray> list(Call call, std::string_view member) const { return project.api.list(context, std::move(call), member); }
  Result<std::string> id_of(std::string_view reference) const { return project.inventory.id_of(context, reference); }
  Result<std::vector<Item>> all(std::string_view kind) const { return project.inventory.all(context, kind); }
};

using Kind = plan::Kind<Work>;

std::span<const Kind> network_kinds();
std::span<const Kind> address_kinds();
std::span<const Kind> machine_kinds();
std::span<const Kind> image_kinds();
std::span<const Kind> config_kinds();

// ---- Neutron

// How Neutron names the objects of a kind: "security-groups", "security_group".
struct NeutronNames {
  std::string_view kind;
  std::string_view path;
  std::string_view member;
  std::string_view title;  // in names of calls: "SecurityGroup"

  std::string members() const { return std::string(member) + "s"; }
};

using ReadNeutron = void (*)(Item& item, const Json& found, const Mark& mark);

// The objects of a kind that are of the cluster, and those of others that have names like its own.
//
//   fields  further ones of the objects
//   read    completes an item
Result<std::vector<Item>> list_neutron(const Work& work, const NeutronNames& names,
                                       std::initializer_list<std::string_view> fields = {}, ReadNeutron read = nullptr);

// Creates an object with the mark of the cluster. `finish` does what must be done before its creation counts as complete.
Result<Item> create_neutron(const Work& work, const NeutronNames& names, const plan::Resource& resource, JsonObject body,
                            const std::function<Result<>(const std::string& id)>& finish = {});
Result<> remove_neutron(const Work& work, const NeutronNames& names, const Item& item);

// ---- marks

bool has_tag(const Json& object, std::string_view tag);
JsonArray tags_of(const Project& project);

// Metadata of servers, volumes and so on. Values have at most 255 characters, so long ones have several keys.
JsonObject metadata_of(const Project& project, const std::string& machine, const plan::Resource& resource);
std::string long_metadata(const Json& metadata, std::string_view key);

// ---- configs of machines

// Where a machine fetches the config that is in this resource, an object of Swift or an image of Glance.
Result<Pointer> pointer_to(const Work& work, const std::string& key);

// Whether Swift gives temporary URLs with SHA-256.
Result<bool> has_temp_urls(const sys::Context& context, Api& api);

}  // namespace slipway::provider::openstack
