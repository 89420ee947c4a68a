// What the functions that list, create and remove resources have in common. Each kind of resource has a row in the table of its
// service: ec2_network.cpp, machines.cpp, images.cpp, balancers.cpp, names.cpp, access.cpp.
#pragma once

#include "provider/aws/api.h"
#include "provider/aws/cluster_plan.h"
#include "provider/aws/inventory.h"
#include "provider/plan/kinds.h"
#include "provider/plan/resource.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace slipway::provider::aws {

// The cluster whose resources these are.
struct Account {
  Api& api;
  Inventory& inventory;
  std::string infra_id;
  std::string domain{};  // of the cluster; empty: not known
  Parameters tags{};     // of the user
  // In another account, in which the private zone of the user is (platform.aws.hostedZoneRole); null: in this one
  Api* zone_api = nullptr;
  // A file with the raw disk image of the machine OS. Made if it is missing; blocks. `forget` removes a file that was made.
  std::function<Result<std::string>(const sys::Context& context, const std::string& name)> os_image_file{};
  std::function<Result<>(const std::string& path)> forget_os_image_file{};
  // The Ignition config of a machine; `url`: where a machine fetches it, empty if the whole config is wanted.
  std::function<Result<std::string>(const std::string& machine, const std::string& url)> config{};
};

struct Work {
  const sys::Context& context;
  Account& account;

  Result<Reply> send(const Call& call) const { return account.api.send(context, call); }
  Result<std::vector<Xml>> pages(Call call) const { return account.api.pages(context, std::move(call)); }
  Result<std::string> id_of(std::string_view reference) const { return account.inventory.id_of(context, reference); }
  Result<std::vector<Item>> all(std::string_view kind) const { return account.inventory.all(context, kind); }
};

using Kind = plan::Kind<Work>;

std::span<const Kind> network_kinds();
std::span<const Kind> machine_kinds();
std::span<const Kind> image_kinds();
std::span<const Kind> balancer_kinds();
std::span<const Kind> name_kinds();
std::span<const Kind> access_kinds();

// Kinds that only serve look-ups; no plan has them.
inline constexpr std::string_view gone_machine_kind = "gone-machine";  // "MACHINE/ID": terminated
inline constexpr std::string_view any_zone_kind = "any-zone";          // all hosted zones of the account, by ID

// The objects with configs of machines; their fact "time" says when they were written.
Result<std::vector<Item>> list_objects(const Work& work);
Result<> write_object(const Work& work, const plan::Resource& resource);

// The ID of the public zone for the domain of the cluster. errors: not_found
Result<std::string> find_public_zone(const Work& work);

// The tags of a resource: its name, the cluster's and the user's.
Parameters tags_of(const Account& account, std::string_view name);

// Parameters in the ways in which services write lists: PREFIX.1, PREFIX.2 (EC2) and PREFIX.member.1 (others).
void add_ec2_tags(Parameters& parameters, int number, std::string_view type, const Parameters& tags);
void add_member_tags(Parameters& parameters, const Parameters& tags);

// A filter of EC2 on the tag of the cluster.
Parameters cluster_filter(const Account& account);

// Whether an object of an answer of EC2 has that tag. Servers may ignore filters; what is listed may be removed.
bool is_tagged(const Account& account, const Xml& item);

// The value of a tag of an answer of EC2.
std::string tag_of(const Xml& item, std::string_view key);

// Errors that end when AWS has made an earlier change visible everywhere.
inline const std::vector<Failure> until_visible = {Failure::not_found, Failure::not_ready};

}  // namespace slipway::provider::aws
