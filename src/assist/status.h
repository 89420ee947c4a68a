// Names of the states, stages and roles of an assisted installation, as the REST API has them. Public source: the API description
// of OpenShift's assisted-service (models host, cluster, host-stage, host-role).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace slipway::assist {

enum class HostStatus : std::uint8_t {
  // before the installation
  discovering,
  known,
  disconnected,
  insufficient,
  pending_for_input,
  // the same, of a host without a cluster
  discovering_unbound,
  known_unbound,
  disconnected_unbound,
  insufficient_unbound,
  // between a cluster and the pool of hosts without one
  binding,
  unbinding,
  unbinding_pending_user_action,
  reclaiming,
  reclaiming_rebooting,
  // the installation
  preparing_for_installation,
  preparing_failed,
  preparing_successful,
  installing,
  installing_in_progress,
  installing_pending_user_action,
  installed,
  added_to_existing_cluster,
  error,
  cancelled,
  resetting,
  resetting_pending_user_action,
};

enum class ClusterStatus : std::uint8_t {
  insufficient,
  pending_for_input,
  ready,
  preparing_for_installation,
  installing,
  installing_pending_user_action,
  finalizing,
  installed,
  error,
  cancelled,
  adding_hosts,
};

// Parts of the installation of a host, in their order. Each role has a part of them (stages_of in host_progress.h).
enum class Stage : std::uint8_t {
  starting_installation,
  installing,
  writing_image_to_disk,
  waiting_for_control_plane,
  waiting_for_bootkube,
  waiting_for_controller,
  rebooting,
  waiting_for_ignition,
  configuring,
  joined,
  done,
  failed,
};

enum class Role : std::uint8_t { auto_assign, master, worker };

// "installing-in-progress", "Writing image to disk", "auto-assign"
std::string_view to_string(HostStatus status);
std::string_view to_string(ClusterStatus status);
std::string_view to_string(Stage stage);
std::string_view to_string(Role role);

// nullopt if there is no such name
std::optional<HostStatus> find_host_status(std::string_view name);
std::optional<ClusterStatus> find_cluster_status(std::string_view name);
std::optional<Stage> find_stage(std::string_view name);
std::optional<Role> find_role(std::string_view name);

// A set of values of one of the types above: Set<HostStatus>{HostStatus::known, HostStatus::installed}.
template <class Value>
class Set {
 public:
  constexpr Set(std::initializer_list<Value> values) {
    for (const Value value : values) bits_ |= bit(value);
  }
  constexpr bool contains(Value value) const { return (bits_ & bit(value)) != 0; }
  constexpr Set operator|(Set other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr std::uint32_t bit(Value value) { return std::uint32_t{1} << static_cast<unsigned>(value); }
  std::uint32_t bits_ = 0;
};

}  // namespace slipway::assist
