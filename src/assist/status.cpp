#include "assist/status.h"

#include <algorithm>
#include <array>

namespace slipway::assist {

namespace {

// In the order of the values.
constexpr std::array<std::string_view, 26> host_names = {
    "discovering",
    "known",
    "disconnected",
    "insufficient",
    "pending-for-input",
    "discovering-unbound",
    "known-unbound",
    "disconnected-unbound",
    "insufficient-unbound",
    "binding",
    "unbinding",
    "unbinding-pending-user-action",
    "reclaiming",
    "reclaiming-rebooting",
    "preparing-for-installation",
    "preparing-failed",
    "preparing-successful",
    "installing",
    "installing-in-progress",
    "installing-pending-user-action",
    "installed",
    "added-to-existing-cluster",
    "error",
    "cancelled",
    "resetting",
    "resetting-pending-user-action",
};
constexpr std::array<std::string_view, 11> cluster_names = {
    "insufficient", "pending-for-input",
    "ready",        "preparing-for-installation",
    "installing",   "installing-pending-user-action",
    "finalizing",   "installed",
    "error",        "cancelled",
    "adding-hosts",
};
constexpr std::array<std::string_view, 12> stage_names = {
    "Starting installation",
    "Installing",
    "Writing image to disk",
    "Waiting for control plane",
    "Waiting for bootkube",
    "Waiting for controller",
    "Rebooting",
    "Waiting for ignition",
    "Configuring",
    "Joined",
    "Done",
    "Failed",
};
constexpr std::array<std::string_view, 3> role_names = {"auto-assign", "master", "worker"};

static_assert(host_names.size() == static_cast<std::size_t>(HostStatus::resetting_pending_user_action) + 1);
static_assert(cluster_names.size() == static_cast<std::size_t>(ClusterStatus::adding_hosts) + 1);
static_assert(stage_names.size() == static_cast<std::size_t>(Stage::failed) + 1);
static_assert(role_names.size() == static_cast<std::size_t>(Role::worker) + 1);

template <class Value, std::size_t count>
std::optional<Value> find_in(const std::array<std::string_view, count>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

}  // namespace

std::string_view to_string(HostStatus status) { return host_names[static_cast<std::size_t>(status)]; }
std::string_view to_string(ClusterStatus status) { return cluster_names[static_cast<std::size_t>(status)]; }
std::string_view to_string(Stage stage) { return stage_names[static_cast<std::size_t>(stage)]; }
std::string_view to_string(Role role) { return role_names[static_cast<std::size_t>(role)]; }

std::optional<HostStatus> find_host_status(std::string_view name) { return find_in<HostStatus>(host_names, name); }
std::optional<ClusterStatus> find_cluster_status(std::string_view name) { return find_in<ClusterStatus>(cluster_names, name); }
std::optional<Stage> find_stage(std::string_view name) { return find_in<Stage>(stage_names, name); }
std::optional<Role> find_role(std::string_view name) { return find_in<Role>(role_names, name); }

}  // namespace slipway::assist
