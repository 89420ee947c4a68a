#include "assist/host_progress.h"

#include <algorithm>
#include <array>

namespace slipway::assist {

namespace {

using enum Stage;
using std::chrono::minutes;

constexpr std::array bootstrap_stages = {starting_installation,
                                         installing,
                                         writing_image_to_disk,
                                         waiting_for_control_plane,
                                         waiting_for_bootkube,
                                         waiting_for_controller,
                                         rebooting,
                                         configuring,
                                         joined,
                                         done};
constexpr std::array master_stages = {
    starting_installation, installing, writing_image_to_disk, rebooting, configuring, joined, done};
constexpr std::array worker_stages = {starting_installation,
                                      installing,
                                      writing_image_to_disk,
                                      waiting_for_control_plane,
                                      rebooting,
                                      waiting_for_ignition,
                                      configuring,
                                      joined,
                                      done};
constexpr std::array single_node_stages = {
    starting_installation, installing, waiting_for_bootkube, writing_image_to_disk, rebooting, joined, done};

// The place of a stage; the number of stages if the placement does not have it.
std::size_t place_of(Placement placement, Stage stage) {
  const std::span<const Stage> stages = stages_of(placement);
  return static_cast<std::size_t>(std::ranges::find(stages, stage) - stages.begin());
}

}  // namespace

std::span<const Stage> stages_of(Placement placement) {
  switch (placement) {
    case Placement::bootstrap: return bootstrap_stages;
    case Placement::master: return master_stages;
    case Placement::worker: return worker_stages;
    case Placement::single_node: break;
  }
  return single_node_stages;
}

int percent_of(Placement placement, Stage stage) {
  const std::size_t place = place_of(placement, stage), count = stages_of(placement).size();
  return place == count ? 0 : static_cast<int>(100 * (place + 1) / count);
}

Result<> check_progress(Placement placement, std::optional<Stage> current, Stage reported) {
  if (reported == failed) return Ok{};
  const std::size_t place = place_of(placement, reported);
  const std::string_view now = current ? to_string(*current) : "none";
  if (place == stages_of(placement).size()) {
    return error(Code::conflict, "stage '{}' is not one of this host, which is in stage '{}'", to_string(reported), now);
  }
  if (current && place < place_of(placement, *current)) {
    return error(Code::conflict, "stage '{}' is earlier than that of the host, '{}'", to_string(reported), now);
  }
  return Ok{};
}

Milliseconds limit_of(Placement placement, Stage stage) {
  switch (stage) {
    case starting_installation:
    case writing_image_to_disk: return minutes(30);
    case rebooting: return placement == Placement::single_node ? minutes(80) : minutes(40);
    case waiting_for_ignition: return std::chrono::hours(24);
    default: return minutes(60);
  }
}

}  // namespace slipway::assist
