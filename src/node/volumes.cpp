#include "node/volumes.h"

#include "base/guarded.h"
#include "base/text.h"
#include "sys/confined_folder.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace slipway::node {

namespace {

using kube::VolumeOrder;
using kube::VolumeOrders;
using kube::VolumeState;

constexpr const char* manager = "machine-config-daemon";
// Containers of any user write into a volume. Others do not get to it, because its parent is root's.
constexpr sys::Mode volume_mode = 0777;
constexpr sys::Mode parent_mode = 0700;
constexpr std::string_view kubelet_folder = "/var/lib/kubelet";

constexpr Milliseconds between_looks = std::chrono::minutes(5);
constexpr sys::Pace retry_pace{Milliseconds(1'000), Milliseconds(60'000)};
constexpr sys::Pace removal_pace{Milliseconds(15'000), Milliseconds(300'000)};
// The free space is reported in this many steps, so that a machine that writes files does not write objects.
constexpr std::int64_t free_steps = 64;

// Whether an entry can be a volume: not one that is being removed, and not what a file system of its own has.
bool is_volume(std::string_view name) { return !name.starts_with('.') && name != "lost+found"; }

std::int64_t rounded_down(std::int64_t free, std::int64_t size) {
  const std::int64_t step = std::max<std::int64_t>(size / free_steps, 1);
  return free / step * step;
}

}  // namespace

VolumeSteps plan_volumes(const VolumeOrders& orders, const VolumesOnDisk& disk, const std::set<std::string>& made,
                         const std::map<std::string, std::string>& failures) {
  VolumeSteps steps;
  std::int64_t free = kube::free_for_volumes(disk.available, disk.size, disk.is_shared);
  steps.report = {.size = disk.size, .free = rounded_down(free, disk.size), .is_shared = disk.is_shared};
  for (const auto& [name, order] : orders) {
    const bool exists = disk.names.contains(name);
    const bool is_removing = disk.names.contains(std::string(removing_prefix) + name);
    const auto failure = failures.find(name);
    VolumeState& state = steps.report.volumes[name];
    switch (order.kind) {
      case VolumeOrder::Kind::make:
        if (exists && made.contains(name)) {
          state = {VolumeState::Kind::ready};
        } else if (is_removing) {
          // The name is used again, for example after a restore of etcd. The old content must be gone first.
          state = {VolumeState::Kind::removing, failure == failures.end() ? "" : failure->second};
        } else if (!exists && order.bytes > free) {
          state = {VolumeState::Kind::refused, fmt::format("{} requested, and the disk has {} for volumes",
                                                           human_size(static_cast<unsigned long long>(order.bytes)),
                                                           human_size(static_cast<unsigned long long>(free)))};
        } else {
          // Also if it exists: an earlier process may have been killed before the folder got its mode.
          steps.make.push_back(name);
          state = {VolumeState::Kind::ready};
          free -= order.bytes;
        }
        break;
      case VolumeOrder::Kind::keep: state = {exists ? VolumeState::Kind::ready : VolumeState::Kind::missing}; break;
      case VolumeOrder::Kind::remove:
        if (exists && !is_removing) steps.discard.push_back(name);
        if (exists || is_removing) {
          state = {VolumeState::Kind::removing, failure == failures.end() ? "" : failure->second};
        } else {
          state = {VolumeState::Kind::removed};
        }
        break;
    }
  }
  for (const std::string& name : disk.names) {
    if (!orders.contains(name) && is_volume(name) && steps.report.unclaimed.size() < kube::max_volumes) {
      steps.report.unclaimed.push_back(name);
    }
  }
  return steps;
}

namespace {

// Threads: one follows the orders, one acts and reports, and one removes, because a removal can take minutes.
class VolumeKeeper {
 public:
  VolumeKeeper(const Environment& environment, kube::Api& api, std::string node, std::string path)
      : environment_(environment), api_(api), node_(std::move(node)), path_(std::move(path)) {}

  Result<> follow(const sys::Context& context) {
    const std::string space(kube::volumes_space), name = kube::orders_name(node_);
    Milliseconds pause = retry_pace.first;
    while (!context.stop.stop_requested()) {
      const Result<> ended = kube::follow(context, api_, kube::types::config_maps, space, {.fields = "metadata.name=" + name},
                                          [&](const kube::Objects& found) -> Result<> {
                                            take(context, found);
                                            return Ok{};
                                          });
      if (context.stop.stop_requested()) break;
      if (!ended.ok()) context.log.warn("following the orders for volumes: {}; retrying", ended.error().message());
      sys::pause(context, std::exchange(pause, std::min(pause * 2, retry_pace.longest)));
    }
    return error(Code::cancelled, "stopped");
  }

  Result<> act(const sys::Context& context) {
    Milliseconds retry = retry_pace.first;
    while (!context.stop.stop_requested()) {
      const std::uint64_t count = changed_.count();
      Milliseconds pause = between_looks;
      const std::optional<VolumeOrders> orders = orders_.with_lock([](const auto& known) { return known; });
      if (orders) {
        const Result<> done = step(context, *orders);
        if (done.ok()) {
          retry = retry_pace.first;
        } else if (!context.stop.stop_requested()) {
          context.log.warn("volumes: {}; retrying", done.error().message());
          pause = std::exchange(retry, std::min(retry * 2, retry_pace.longest));
        }
      }
      context.clock.wait(context.clock.steady() + pause, context.stop, &changed_, count);
    }
    return error(Code::cancelled, "stopped");
  }

  Result<> remove(const sys::Context& context) {
    Milliseconds retry = removal_pace.first;
    while (!context.stop.stop_requested()) {
      const std::uint64_t count = discarded_.count();
      const bool is_done = remove_all(context);
      if (is_done) retry = removal_pace.first;
      const Milliseconds pause = is_done ? between_looks : std::exchange(retry, std::min(retry * 2, removal_pace.longest));
      context.clock.wait(context.clock.steady() + pause, context.stop, &discarded_, count);
    }
    return error(Code::cancelled, "stopped");
  }

 private:
  void take(const sys::Context& context, const kube::Objects& found) {
    VolumeOrders orders;
    if (!found.empty()) {
      Result<VolumeOrders> parsed = kube::parse_orders(found[0]);
      // Nothing is known then, so nothing may be done.
      if (!parsed.ok()) return context.log.error("{}; volumes stay as they are", parsed.error().message());
      orders = std::move(parsed).value();
    }
    orders_.with_lock([&](auto& known) { known = std::move(orders); });
    changed_.notify();
  }

  Result<sys::ConfinedFolder> open() const {
    TRY(environment_.files.make_directories(path_, parent_mode));
    return sys::ConfinedFolder::open(path_);
  }

  Result<> step(const sys::Context& context, const VolumeOrders& orders) {
    const sys::ConfinedFolder folder = TRY(open());
    const std::vector<std::string> names = TRY(folder.list());
    const sys::FileSystemSpace space = TRY(folder.space());
    std::erase_if(made_, [&](const std::string& name) { return !orders.contains(name); });
    const auto failures = failures_.with_lock([](const auto& known) { return known; });
    VolumeSteps steps = plan_volumes(orders,
                                     {.names = {names.begin(), names.end()},
                                      .size = space.size,
                                      .available = space.available,
                                      .is_shared = folder.shares_file_system(std::string(kubelet_folder))},
                                     made_, failures);
    for (const std::string& name : steps.make) {
      const Result<> made = folder.make_folder(name, volume_mode);
      if (made.ok()) {
        made_.insert(name);
        context.log.info("volume {}: created", name);
      } else {
        steps.report.volumes[name] = {VolumeState::Kind::refused, made.error().message()};
      }
    }
    for (const std::string& name : steps.discard) {
      made_.erase(name);
      const Result<> discarded = folder.rename(name, std::string(removing_prefix) + name);
      if (!discarded.ok()) steps.report.volumes[name].reason = discarded.error().message();
    }
    if (!steps.discard.empty()) discarded_.notify();
    return report(context, steps.report);
  }

  // Also if nothing changed, from time to time: the object may have been deleted.
  Result<> report(const sys::Context& context, const kube::NodeStorage& storage) {
    const SteadyTime now = context.clock.steady();
    if (reported_ && *reported_ == storage && now < reported_at_ + between_looks) return Ok{};
    TRY(kube::apply(context, api_, kube::types::config_maps, kube::storage_object(node_, storage), manager));
    reported_ = storage;
    reported_at_ = now;
    return Ok{};
  }

  // returns: whether nothing is left to remove
  bool remove_all(const sys::Context& context) {
    const Result<sys::ConfinedFolder> folder = open();
    const Result<std::vector<std::string>> names = folder.ok() ? folder->list() : folder.error();
    if (!names.ok()) {
      context.log.warn("volumes: {}; retrying", names.error().message());
      return false;
    }
    bool is_done = true;
    for (const std::string& entry : names.value()) {
      if (!entry.starts_with(removing_prefix)) continue;
      const std::string name = entry.substr(removing_prefix.size());
      const Result<> removed = folder->remove_tree(entry, context.stop);
      if (context.stop.stop_requested()) return false;
      failures_.with_lock([&](auto& known) {
        if (removed.ok()) {
          known.erase(name);
        } else {
          known[name] = removed.error().message();
        }
      });
      if (removed.ok()) {
        context.log.info("volume {}: removed with its content", name);
      } else {
        context.log.warn("volume {}: {}; retrying", name, removed.error().message());
        is_done = false;
      }
      changed_.notify();
    }
    return is_done;
  }

  const Environment& environment_;
  kube::Api& api_;
  const std::string node_, path_;
  Guarded<std::optional<VolumeOrders>> orders_;
  Guarded<std::map<std::string, std::string>> failures_;  // of removals, by the name of the volume
  sys::Wakeup changed_, discarded_;
  // Of the thread that acts.
  std::set<std::string> made_;
  std::optional<kube::NodeStorage> reported_;
  SteadyTime reported_at_{};
};

}  // namespace

void keep_volumes(const Environment& environment, kube::Api& api, const std::string& node_name, const std::string& folder) {
  VolumeKeeper keeper(environment, api, node_name, folder);
  sys::TaskGroup tasks(environment.context);
  tasks.run("following orders", [&](const sys::Context& context) { return keeper.follow(context); });
  tasks.run("acting", [&](const sys::Context& context) { return keeper.act(context); });
  tasks.run("removing", [&](const sys::Context& context) { return keeper.remove(context); });
  (void)tasks.wait();
}

}  // namespace slipway::node
