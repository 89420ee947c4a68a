// What a cluster needs in a project of OpenStack: network, security groups, addresses, machines. Pure.
//
// All names begin with the infraID, which is unique. What has a description or metadata has the mark of the cluster there from
// its creation on, and what can have tags gets the tag of the cluster as the last step of its creation. So the resources of a
// cluster are found without a record, and it shows whether their creation ended.
#pragma once

#include "config/install_config.h"
#include "provider/plan/resource.h"
#include "provider/provider.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::openstack {

// Kinds of resources.
inline constexpr std::string_view image_kind = "image";  // of the machine OS; shared by the clusters of a project
inline constexpr std::string_view network_kind = "network";
inline constexpr std::string_view subnet_kind = "subnet";
inline constexpr std::string_view router_kind = "router";
inline constexpr std::string_view security_group_kind = "security-group";
inline constexpr std::string_view security_rules_kind = "security-rules";  // of the group with the same name
inline constexpr std::string_view port_kind = "port";
inline constexpr std::string_view floating_ip_kind = "floating-ip";
inline constexpr std::string_view user_address_kind = "user-floating-ip";  // of the user, by address: its use by the cluster
inline constexpr std::string_view server_group_kind = "server-group";
inline constexpr std::string_view container_kind = "container";
inline constexpr std::string_view object_kind = "object";              // "CONTAINER/MACHINE.ign"
inline constexpr std::string_view config_image_kind = "config-image";  // an Ignition config in Glance: "demo-x7k2p-bootstrap.ign"
inline constexpr std::string_view volume_kind = "volume";
inline constexpr std::string_view machine_kind = "machine";

// The tag of Neutron's objects and Glance's images, and the key of metadata. OpenShift's installer uses the same.
std::string cluster_tag(std::string_view infra_id);
inline constexpr std::string_view cluster_key = "openshiftClusterID";
inline constexpr std::string_view own_tag = "slipway";               // of all that slipway creates
inline constexpr std::string_view expires_tag = "slipway-expires=";  // and the time (RFC 3339)
inline constexpr std::string_view expires_key = "slipway.expires";   // of metadata
inline constexpr std::string_view machine_key = "slipway.machine";   // of metadata: "master-0"

// The description of an object of Neutron: "slipway demo-x7k2p", and what it is for: "slipway demo-x7k2p master-0".
std::string mark_of(std::string_view infra_id, std::string_view what = "");
struct Mark {
  std::string infra_id{};
  std::string what{};
};
std::optional<Mark> read_mark(std::string_view description);

std::string named(std::string_view infra_id, std::string_view suffix);  // "demo-x7k2p-master"
std::string container_name(std::string_view infra_id);
std::string config_object(std::string_view infra_id, std::string_view machine);  // "CONTAINER/MACHINE.ign"
std::string config_image(std::string_view infra_id, std::string_view machine);

// The name of an image, by the identity of its content and its properties: "slipway-os-0123456789ab".
std::string os_image_name(std::string_view identity, const JsonObject& properties = {});

// clusterOSImage as a URL; empty if it is missing or the name of an image in Glance.
std::string image_url(const Json& section);

// A subnet of the user, in which machines are created.
struct UserSubnet {
  std::string id;
  std::string cidr;
};

// What a plan needs to know about the cloud.
struct Site {
  std::string external_network{};     // its ID; empty: none
  std::string user_network{};         // of the user's subnets; empty: the plan has a network of its own
  std::vector<UserSubnet> subnets{};  // of the user
  std::string user_image{};           // the ID of the image that clusterOSImage names; empty: slipway imports one
  bool has_temp_urls = false;         // Swift gives them; otherwise configs that are too large are in Glance
};

// Whether slipway creates the machines of a config.
// errors: invalid: all problems, one line each with a hint
Result<> check_config(const config::InstallConfig& config);

struct PlannedMachine {
  Machine machine;
  bool has_pointer = false;  // the config is larger than user data may be, so the machine fetches it
};

struct PlanInput {
  const config::InstallConfig& config;
  std::string infra_id;
  Site site;
  std::string image{};  // os_image_name() of what is imported
  std::string release{};
  std::string release_version{};
};

// All resources of a cluster with these machines. Names of other resources in a specification are keys of the plan, or "id:UUID"
// for something of the user.
// errors: invalid: a virtual address is in no subnet
Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines);

}  // namespace slipway::provider::openstack
