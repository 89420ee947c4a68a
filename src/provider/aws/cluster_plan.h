// What a cluster needs in an account of AWS: network, security groups, roles, load balancers, names, machines. Pure.
//
// All names begin with the infraID, which is unique, and what can have tags has the tag of the cluster from its creation on, so
// the resources of a cluster are found by names and tags.
#pragma once

#include "config/install_config.h"
#include "provider/plan/resource.h"
#include "provider/provider.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::aws {

// Kinds of resources.
inline constexpr std::string_view vpc_kind = "vpc";
inline constexpr std::string_view internet_gateway_kind = "internet-gateway";
inline constexpr std::string_view subnet_kind = "subnet";
inline constexpr std::string_view elastic_ip_kind = "elastic-ip";
inline constexpr std::string_view nat_gateway_kind = "nat-gateway";
inline constexpr std::string_view route_table_kind = "route-table";
inline constexpr std::string_view security_group_kind = "security-group";
inline constexpr std::string_view security_rules_kind = "security-rules";  // of the group with the same name
inline constexpr std::string_view role_kind = "role";
inline constexpr std::string_view instance_profile_kind = "instance-profile";
inline constexpr std::string_view target_group_kind = "target-group";
inline constexpr std::string_view load_balancer_kind = "load-balancer";
inline constexpr std::string_view listener_kind = "listener";        // "LOAD BALANCER/PORT"
inline constexpr std::string_view target_kind = "target";            // "TARGET GROUP/MACHINE"
inline constexpr std::string_view hosted_zone_kind = "hosted-zone";  // private
inline constexpr std::string_view record_kind = "record";            // "private/api.demo.example.com"
inline constexpr std::string_view bucket_kind = "bucket";
inline constexpr std::string_view object_kind = "object";  // "BUCKET/MACHINE.ign"
inline constexpr std::string_view machine_kind = "machine";
inline constexpr std::string_view image_kind = "image";        // of the machine OS; shared by the clusters of an account
inline constexpr std::string_view snapshot_kind = "snapshot";  // of an image that is being made; no plan has it

inline constexpr std::size_t largest_user_data = 16384;  // bytes, before base64

// The tag that all resources of a cluster have, with the value "owned". Images that it uses have it with the value "shared".
std::string cluster_tag(std::string_view infra_id);
inline constexpr std::string_view shared_value = "shared";

// All that slipway creates and that can have tags has this one with the infraID. Other installers use cluster_tag(), too.
inline constexpr std::string_view own_tag = "slipway/cluster";

// When a cluster may be removed (RFC 3339).
inline constexpr std::string_view expires_tag = "slipway/expires";

// The name of an image, by the identity of its content: "slipway-os-0123456789ab".
std::string os_image_name(std::string_view identity);

// Names that do not depend on the install-config, so that they are found without it.
std::string load_balancer_name(std::string_view infra_id, std::string_view which);  // which: "int", "ext", "apps"
std::vector<std::string> load_balancer_names(std::string_view infra_id);
std::vector<std::string> target_group_names(std::string_view infra_id);
std::vector<std::string> role_names(std::string_view infra_id);
std::vector<std::string> profile_names(std::string_view infra_id);
std::string bucket_name(std::string_view infra_id);
std::string config_object(std::string_view infra_id, std::string_view machine);  // "BUCKET/MACHINE.ign"

// A subnet of the user, in which machines are created.
struct UserSubnet {
  std::string id;
  std::string zone;
  bool is_public = false;  // has a route to an internet gateway
};

// What a plan needs to know about the region.
struct Region {
  std::string name{};
  std::vector<std::string> zones{};   // available, sorted
  std::string user_vpc{};             // of the user's subnets; empty: the plan has a network of its own
  std::vector<UserSubnet> subnets{};  // of the user
};

// Whether slipway creates the machines of a config.
// errors: invalid: all problems, one line each with a hint
Result<> check_config(const config::InstallConfig& config);

// The zones of the machines: those of the config, otherwise the first three of the region.
// errors: invalid: a zone of the config is not available, no zone is
Result<std::vector<std::string>> planned_zones(const config::InstallConfig& config, const std::vector<std::string>& available);

// The instance type of a role. The bootstrap machine has that of a master.
std::string instance_type(const config::InstallConfig& config, std::string_view role);

// The user's image (amiID); empty: slipway imports that of the release.
std::string image_of(const config::InstallConfig& config, std::string_view role);

// Whether a machine needs an image that slipway imports.
bool imports_image(const config::InstallConfig& config);

struct PlannedMachine {
  Machine machine;
  bool has_pointer = false;  // the config is larger than user data may be, so the machine fetches it from the bucket
};

struct PlanInput {
  const config::InstallConfig& config;
  std::string infra_id;
  Region region;
  std::string image{};  // without amiID: os_image_name() of what is imported, or the ID of an existing image
  std::string release{};
  std::string release_version{};
};

// All resources of a cluster with these machines. Names of other resources in a specification are keys of the plan, or
// "id:vpc-0123" for something of the user.
// errors: invalid: no zone, no subnet in a zone, the machine network is too small
Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines);

}  // namespace slipway::provider::aws
