#include "components/machine_approver/config_map_store.h"

#include "sys/wait_for.h"

namespace slipway::components::machine_approver {

namespace {

constexpr sys::Pace retry_pace{Milliseconds(100), Milliseconds(1000)};
constexpr Milliseconds pause_after_failure{2'000};
const kube::ResourceType& config_maps = kube::types::config_maps;

}  // namespace

Result<std::optional<Json>> ConfigMapStore::find(std::string_view space, std::string_view name) const {
  return sys::retry<std::optional<Json>>(context_, write_attempts, retry_pace,
                                         [&] { return kube::find(context_, api_, config_maps, space, name); });
}

Result<Json> ConfigMapStore::write(const Json& object, bool exists) const {
  return exists ? kube::update(context_, api_, config_maps, object) : kube::create(context_, api_, config_maps, object);
}

Result<> ConfigMapStore::postpone(std::string_view what, const Error& reason) {
  if (reason.code() == Code::cancelled) return reason;
  next_write_ = context_.clock.steady() + pause_after_failure;
  if (logged_.insert(reason.message()).second) {
    context_.log.info("{}: cannot be written yet: {}; retrying", what, reason.message());
  }
  return Ok{};
}

}  // namespace slipway::components::machine_approver
