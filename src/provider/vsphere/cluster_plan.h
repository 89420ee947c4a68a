// What a cluster needs in a vCenter: a tag, folders, templates, machines, rules that keep masters apart. Pure.
//
// All names begin with the infraID, which is unique, apart from templates, which clusters share. Machines have marks from their
// creation on, so the resources of a cluster are found by names and marks.
#pragma once

#include "assets/machines/vsphere_topology.h"
#include "config/install_config.h"
#include "provider/plan/resource.h"
#include "provider/provider.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::vsphere {

// Kinds of resources.
inline constexpr std::string_view tag_kind = "tag";            // with a category of its own
inline constexpr std::string_view folder_kind = "folder";      // a path: "/DC/vm/demo-x7k2p"
inline constexpr std::string_view template_kind = "template";  // a path; shared
inline constexpr std::string_view machine_kind = "machine";
inline constexpr std::string_view rule_kind = "rule";  // a path: "/DC/host/CLUSTER/demo-x7k2p-masters"

// Settings of a machine (extraConfig) that identify it. A template has only the one of its image.
inline constexpr std::string_view cluster_mark = "slipway.cluster";  // infraID; of a template: the cluster that imports it
inline constexpr std::string_view machine_mark = "slipway.machine";  // "master-0"
inline constexpr std::string_view role_mark = "slipway.role";
inline constexpr std::string_view after_mark = "slipway.after";  // it starts when this machine is removed; empty: at once
inline constexpr std::string_view release_mark = "slipway.release";
inline constexpr std::string_view version_mark = "slipway.version";
inline constexpr std::string_view template_mark = "slipway.template";  // the name of the template that it was cloned from
inline constexpr std::string_view image_mark = "slipway.image";        // of templates: the machine OS

std::string machine_name(std::string_view infra_id, std::string_view machine);  // "demo-x7k2p-master-0"
std::string category_name(std::string_view infra_id);
std::string rule_name(std::string_view infra_id);

// The last part of a path of the inventory, and what is before it.
std::string base_name(std::string_view path);
std::string parent_path(std::string_view path);

// "3f2a9c01d4e5" of "/DC/vm/slipway-os-3f2a9c01d4e5-6b1f02aa"; empty for other templates.
std::string image_of_template(std::string_view path);

// Whether slipway creates the machines of a config.
// errors: invalid: all problems, one line each with a hint
Result<> check_config(const config::InstallConfig& config);

// The failure domain of a machine: a machine with number i of its role is in zone i of its pool, modulo the number of zones. The
// bootstrap machine is in that of the first master.
// errors: invalid: the pool names a zone that is no failure domain
Result<assets::FailureDomain> domain_of(const config::InstallConfig& config, const Machine& machine);

// Sizes of the machines of a role. The bootstrap machine has the size of a master.
struct Size {
  int cpus = 0;
  int cores_per_socket = 0;
  std::uint64_t memory = 0;  // bytes
  std::uint64_t disk = 0;    // bytes
};
Size size_of(const config::InstallConfig& config, std::string_view role);

struct PlannedMachine {
  Machine machine;
  std::string after{};  // as in MachineGroup
};

struct PlanInput {
  const config::InstallConfig& config;
  std::string infra_id;
  std::string os_image;  // identifies the machine OS: "3f2a9c01d4e5"; not used if all failure domains have templates of the user
  std::string release{};
  std::string release_version{};
};

// All resources of a cluster with these machines.
Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines);

}  // namespace slipway::provider::vsphere
