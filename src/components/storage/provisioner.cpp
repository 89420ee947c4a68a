#include "components/storage/provisioner.h"

#include "base/digest.h"
#include "base/text.h"
#include "components/controller/conditions.h"
#include "components/controller/object_parts.h"
#include "components/storage/claims.h"
#include "kube/node_volumes.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace slipway::components::storage {

namespace {

using namespace std::chrono_literals;
using kube::NodeStorage;
using kube::VolumeOrder;
using kube::VolumeOrders;
using kube::VolumeState;

constexpr std::string_view manager = "storage-operator";
constexpr const char* failed = "ProvisioningFailed";  // the reason that Kubernetes' own provisioners give
constexpr std::string_view protection = "kubernetes.io/pv-protection";
// A Node object that was deleted by mistake comes back when its kubelet starts again.
constexpr Milliseconds until_node_is_gone = 5min;
constexpr Milliseconds until_silence_is_reported = 30s, until_claim_is_given_back = 2min;
// A write that the server refused, for example by a policy of a namespace, is tried again with the next plan.
constexpr Milliseconds until_next_attempt = 1min;
constexpr std::int64_t mib = 1'048'576;
constexpr std::size_t max_listed = 5;

std::string size_text(std::int64_t bytes) {
  return human_size(static_cast<unsigned long long>(std::max<std::int64_t>(bytes, 0)));
}

bool has_finalizer(const Json& object, std::string_view name) {
  return std::ranges::any_of(find_array(object, {"metadata", "finalizers"}),
                             [&](const Json& each) { return each == Json(name); });
}

// One node with everything that concerns its volumes.
struct NodeView {
  const Json* object = nullptr;  // null: the Node does not exist
  std::string host_name{};
  bool has_orders_object = false, has_storage_object = false;
  std::optional<VolumeOrders> orders{VolumeOrders()};  // nullopt: cannot be read
  std::optional<NodeStorage> storage{};                // nullopt: not reported, or cannot be read
  VolumeOrders next{};
  std::int64_t used = 0;

  const VolumeOrder* order(const std::string& volume) const {
    if (!orders) return nullptr;
    const auto found = orders->find(volume);
    return found == orders->end() ? nullptr : &found->second;
  }
  const VolumeState* state(const std::string& volume) const {
    if (!storage) return nullptr;
    const auto found = storage->volumes.find(volume);
    return found == storage->volumes.end() ? nullptr : &found->second;
  }
  bool is_usable() const { return object && orders && storage && !host_name.empty(); }
  std::int64_t room() const {
    if (!is_usable() || next.size() >= kube::max_volumes) return 0;
    return std::max<std::int64_t>(std::min(kube::capacity_for_volumes(*storage) - used, storage->free), 0);
  }
};

}  // namespace

// The work of one plan.
class Provisioner::Round {
 public:
  Round(Provisioner& owner, const Snapshot& seen, WallTime now) : owner_(owner), seen_(seen), now_(now) {}

  Plan run() {
    collect();
    for (const Json* volume : seen_.list(kube::types::volumes)) plan_volume(*volume);
    for (auto& [name, node] : nodes_) plan_orders_without_volume(node);
    for (const Json* claim : seen_.list(kube::types::volume_claims)) plan_claim(*claim);
    plan_waiting_claims();
    plan_capacities();
    for (auto& [name, node] : nodes_) write_orders(name, node);
    forget_old_times();
    return std::move(plan_);
  }

 private:
  // ---- what there is

  void collect() {
    for (const Json* node : seen_.list(kube::types::nodes)) {
      NodeView& view = nodes_[std::string(kube::name_of(*node))];
      view.object = node;
      view.host_name = text_of(*node, {"metadata", "labels", "kubernetes.io/hostname"});
    }
    const std::string orders_prefix = kube::orders_name(""), storage_prefix = kube::storage_name("");
    for (const Json* object : seen_.list(kube::types::config_maps, kube::volumes_space)) {
      const std::string name(kube::name_of(*object));
      if (name.starts_with(orders_prefix)) {
        NodeView& view = nodes_[name.substr(orders_prefix.size())];
        view.has_orders_object = true;
        view.orders = take(*object, kube::parse_orders(*object));
      } else if (name.starts_with(storage_prefix)) {
        NodeView& view = nodes_[name.substr(storage_prefix.size())];
        view.has_storage_object = true;
        view.storage = take(*object, kube::parse_storage(*object));
      }
    }
    for (const Json* each : seen_.list(kube::types::storage_classes)) {
      if (text_of(*each, {"provisioner"}) == provisioner) classes_[std::string(kube::name_of(*each))] = each;
    }
    for (const Json* volume : seen_.list(kube::types::volumes)) volumes_.insert(std::string(kube::name_of(*volume)));
  }

  template <class Document>
  std::optional<Document> take(const Json& object, Result<Document> parsed) {
    if (parsed.ok()) return std::move(parsed).value();
    warn(object, "Unreadable", fmt::format("{} (delete the ConfigMap; its writer creates it again)", parsed.error().message()));
    return std::nullopt;
  }

  // Whether the Node does not exist, and has not for some minutes.
  bool is_gone(const std::string& name, const NodeView& node) {
    if (node.object) return false;
    const WallTime gone = since(owner_.missing_since_, name, now_) + until_node_is_gone;
    still_missing_.insert(name);
    if (now_ >= gone) return true;
    plan_.replan_by(gone);
    return false;
  }

  // ---- volumes

  void plan_volume(const Json& volume) {
    const std::string name(kube::name_of(volume)), node_name = text_of(volume, {"metadata", "annotations", kube::volume_node});
    // Without the annotation its node is not known, so nothing is done.
    if (node_name.empty()) return;
    NodeView& node = nodes_[node_name];
    const std::string phase = text_of(volume, {"status", "phase"});
    const bool is_deleted = is_terminating(volume);
    // Kubernetes removes its own finalizer when no claim is bound any more.
    const bool is_over = is_deleted ? !has_finalizer(volume, protection) : phase == "Released";
    const bool deletes_data = text_of(volume, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete";
    VolumeOrder order{VolumeOrder::Kind::keep, volume_bytes(volume)};
    if (is_over && deletes_data) {
      order.kind = VolumeOrder::Kind::remove;
      const VolumeOrder* known = node.order(name);
      const VolumeState* state = node.state(name);
      const bool is_ordered = known && known->kind == VolumeOrder::Kind::remove;
      const bool is_removed = is_ordered && state && state->kind == VolumeState::Kind::removed;
      if (is_removed || is_gone(node_name, node)) {
        if (!is_deleted) plan_.desired_objects.push_back({kube::types::volumes, volume, DesiredObject::How::remove});
        if (is_deleted && has_finalizer(volume, finalizer)) plan_.tasks.push_back(owner_.release(volume));
      } else if (state && state->kind == VolumeState::Kind::removing && !state->reason.empty()) {
        warn(volume, "VolumeFailedDelete", fmt::format("node {}: {}", node_name, state->reason));
      }
    } else {
      // With reclaim policy Retain the folder stays when the PersistentVolume goes.
      if (is_over && is_deleted && has_finalizer(volume, finalizer)) plan_.tasks.push_back(owner_.release(volume));
      report_lost_data(volume, name, node_name, node);
    }
    node.next[name] = order;
    node.used += order.bytes;
  }

  void report_lost_data(const Json& volume, const std::string& name, const std::string& node_name, NodeView& node) {
    if (text_of(volume, {"status", "phase"}) != "Bound") return;
    constexpr std::string_view hint = "to get an empty volume, delete the claim and its pod";
    if (is_gone(node_name, node)) {
      warn(claim_of(volume), "VolumeNodeRemoved",
           fmt::format("the volume is on node {}, which is not part of the cluster any more ({})", node_name, hint));
      return;
    }
    const VolumeOrder* known = node.order(name);
    const VolumeState* state = node.state(name);
    if (known && known->kind == VolumeOrder::Kind::keep && state && state->kind == VolumeState::Kind::missing) {
      warn(claim_of(volume), "VolumeMissing",
           fmt::format("node {} has no folder {}/{}: its disk is not mounted or was replaced ({})", node_name,
                       kube::volumes_folder, name, hint));
    }
  }

  // Orders of claims that are still waiting are planned with their claims.
  void plan_orders_without_volume(NodeView& node) {
    if (!node.orders) return;
    for (const auto& [name, order] : *node.orders) {
      if (volumes_.contains(name)) continue;
      const VolumeState* state = node.state(name);
      const bool is_removed = state && state->kind == VolumeState::Kind::removed;
      // A PersistentVolume that went with its finalizer leaves no order `keep`. Such an order means that the finalizer was taken
      // away by hand, or that etcd was restored. The folder stays, and is reported as unclaimed.
      if (order.kind == VolumeOrder::Kind::remove && !is_removed) node.next[name] = order;
      if (order.kind == VolumeOrder::Kind::make) node.next[name] = {VolumeOrder::Kind::remove, order.bytes};
      if (node.next.contains(name)) node.used += order.bytes;
    }
  }

  // ---- claims

  void plan_claim(const Json& claim) {
    const auto storage_class = classes_.find(class_of(claim));
    if (storage_class == classes_.end()) return;
    const std::string volume = volume_name(claim);
    if (volumes_.contains(volume)) return;
    const std::string problem = problem_of(claim, *storage_class->second);
    if (!problem.empty()) return warn(claim, failed, problem);
    const std::string node_name = text_of(claim, {"metadata", "annotations", selected_node});
    if (node_name.empty()) {
      waiting_.push_back(&claim);
      return;
    }
    const auto found = nodes_.find(node_name);
    if (found == nodes_.end() || !found->second.object) {
      return give_back(claim, fmt::format("node {} does not exist", node_name));
    }
    plan_claim_on(claim, *storage_class->second, volume, node_name, found->second);
  }

  void plan_claim_on(const Json& claim, const Json& storage_class, const std::string& volume, const std::string& node_name,
                     NodeView& node) {
    const std::int64_t bytes = requested_bytes(claim).value_or(0);
    const VolumeOrder* order = node.order(volume);
    const VolumeState* state = node.state(volume);
    if (node.host_name.empty()) return give_back(claim, fmt::format("node {} has no label kubernetes.io/hostname", node_name));
    if (!node.is_usable()) {
      if (order && order->kind == VolumeOrder::Kind::make) node.next[volume] = *order;
      return await(claim, volume, node_name, node);
    }
    if (!order) {
      // Its report is still about an earlier order.
      if (state) return await(claim, volume, node_name, node);
      if (node.next.size() >= kube::max_volumes) {
        return give_back(claim, fmt::format("node {} has {} volumes, which is the limit", node_name, node.next.size()));
      }
      if (bytes > node.room()) {
        return give_back(claim, fmt::format("{} requested, and node {} has room for {}", size_text(bytes), node_name,
                                            size_text(node.room())));
      }
      node.next[volume] = {VolumeOrder::Kind::make, bytes};
      node.used += bytes;
      return await(claim, volume, node_name, node);
    }
    // Until it ends, the claim waits.
    if (order->kind == VolumeOrder::Kind::remove) return await(claim, volume, node_name, node);
    // `keep`: the PersistentVolume went, but the claim and the folder are still there.
    if (!node.next.contains(volume)) node.used += bytes;
    node.next[volume] = {VolumeOrder::Kind::make, bytes};
    if (order->kind == VolumeOrder::Kind::make && state && state->kind == VolumeState::Kind::ready) {
      // The order stays until the PersistentVolume exists: nothing else says that the folder is wanted.
      plan_.desired_objects.push_back({kube::types::volumes, make_volume(claim, storage_class, node_name, node.host_name),
                                       DesiredObject::How::create});
      return;
    }
    if (order->kind == VolumeOrder::Kind::make && state && state->kind == VolumeState::Kind::refused) {
      node.next[volume].kind = VolumeOrder::Kind::remove;
      return give_back(claim, fmt::format("node {}: {}", node_name, state->reason));
    }
    await(claim, volume, node_name, node);
  }

  // The node has to do something. If it does not, another node gets the claim.
  void await(const Json& claim, const std::string& volume, const std::string& node_name, NodeView& node) {
    const std::string key = fmt::format("{} {}", node_name, volume);
    const WallTime begin = since(owner_.asked_since_, key, now_);
    still_asked_.insert(key);
    if (now_ < begin + until_silence_is_reported) return plan_.replan_by(begin + until_silence_is_reported);
    const std::string silence =
        fmt::format("node {} does not {} its volumes (look at its pod machine-config-daemon in namespace "
                    "openshift-machine-config-operator)",
                    node_name, node.storage ? "change" : "report");
    if (now_ < begin + until_claim_is_given_back) {
      warn(claim, failed, silence);
      return plan_.replan_by(begin + until_claim_is_given_back);
    }
    const auto ordered = node.next.find(volume);
    if (ordered != node.next.end()) ordered->second.kind = VolumeOrder::Kind::remove;
    give_back(claim, silence);
  }

  void give_back(const Json& claim, const std::string& why) {
    warn(claim, failed, why);
    plan_.tasks.push_back(owner_.give_back(claim));
    plan_.replan_by(now_ + until_next_attempt);
  }

  // Claims whose pods no node could take: the scheduler says so only to the pod.
  void plan_waiting_claims() {
    if (waiting_.empty()) return;
    const NodeView* best = nullptr;
    std::string best_name;
    for (const auto& [name, node] : nodes_) {
      if (!node.is_usable() || (best && node.room() <= best->room())) continue;
      best = &node;
      best_name = name;
    }
    for (const Json* claim : waiting_) {
      const std::int64_t bytes = requested_bytes(*claim).value_or(0);
      if (!best) {
        warn(*claim, failed, "no node has reported yet how much room it has for volumes");
      } else if (bytes > best->room()) {
        warn(*claim, failed, fmt::format("{} requested, and no node has that much room: {} has most, {}", size_text(bytes),
                                         best_name, size_text(best->room())));
      }
    }
  }

  // ---- objects

  // The scheduler chooses only nodes with a capacity that is large enough.
  void plan_capacities() {
    std::set<std::string, std::less<>> wanted;
    for (const auto& [node_name, node] : nodes_) {
      if (!node.is_usable()) continue;
      for (const auto& [class_name, storage_class] : classes_) {
        const std::string digest = sha256_hex(fmt::format("{}\n{}", class_name, node_name)).substr(0, 20);
        const std::string name = fmt::format("local-{}", digest);
        wanted.insert(name);
        plan_.desired_objects.push_back(
            {kube::types::storage_capacities,
             JsonObject{{"apiVersion", "storage.k8s.io/v1"},
                        {"kind", "CSIStorageCapacity"},
                        {"metadata", JsonObject{{"name", name},
                                                {"namespace", kube::volumes_space},
                                                {"annotations", JsonObject{{kube::volume_node, node_name}}}}},
                        {"storageClassName", class_name},
                        {"nodeTopology", JsonObject{{"matchLabels", JsonObject{{"kubernetes.io/hostname", node.host_name}}}}},
                        {"capacity", to_quantity(node.room() / mib * mib)}}});
      }
    }
    for (const Json* each : seen_.list(kube::types::storage_capacities, kube::volumes_space)) {
      if (!wanted.contains(kube::name_of(*each))) {
        plan_.desired_objects.push_back({kube::types::storage_capacities, *each, DesiredObject::How::remove});
      }
    }
  }

  void write_orders(const std::string& name, NodeView& node) {
    if (!node.object) {
      if (!is_gone(name, node)) return;
      for (const auto& [exists, object] : {std::pair{node.has_orders_object, kube::orders_name(name)},
                                           std::pair{node.has_storage_object, kube::storage_name(name)}}) {
        if (!exists) continue;
        plan_.desired_objects.push_back(
            {kube::types::config_maps,
             JsonObject{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", JsonObject{{"name", object}, {"namespace", kube::volumes_space}}}},
             DesiredObject::How::remove});
      }
      return;
    }
    if (node.orders && (node.has_orders_object || !node.next.empty())) {
      plan_.desired_objects.push_back({kube::types::config_maps, kube::orders_object(name, node.next)});
    }
    if (node.storage && !node.storage->unclaimed.empty()) {
      std::vector<std::string> listed = node.storage->unclaimed;
      if (listed.size() > max_listed) {
        listed.resize(max_listed);
        listed.push_back(fmt::format("and {} more", node.storage->unclaimed.size() - max_listed));
      }
      warn(*node.object, "UnclaimedVolumes",
           fmt::format("no PersistentVolume has these folders of {}: {} (copy what you need, and delete them)",
                       kube::volumes_folder, join(listed, ", ")));
    }
  }

  void forget_old_times() {
    std::erase_if(owner_.missing_since_, [&](const auto& each) { return !still_missing_.contains(each.first); });
    std::erase_if(owner_.asked_since_, [&](const auto& each) { return !still_asked_.contains(each.first); });
  }

  void warn(const Json& about, std::string_view reason, std::string message) {
    plan_.notices.push_back({about, std::string(reason), std::move(message), true});
  }

  Provisioner& owner_;
  const Snapshot& seen_;
  const WallTime now_;
  Plan plan_;
  std::map<std::string, NodeView> nodes_;
  std::map<std::string, const Json*> classes_;
  std::set<std::string> volumes_;
  std::vector<const Json*> waiting_;
  std::set<std::string> still_missing_, still_asked_;
};

std::vector<Watched> Provisioner::watched() {
  return {{kube::types::volume_claims, "", {}, reduce_claim},
          {kube::types::volumes, "", {}, reduce_volume},
          {kube::types::nodes, "", {}, reduce_node},
          {kube::types::storage_classes},
          {kube::types::config_maps, std::string(kube::volumes_space), {}, reduce_config_map},
          {kube::types::storage_capacities, std::string(kube::volumes_space)},
          {kube::types::storages, "", {.fields = "metadata.name=cluster"}}};
}

Result<Plan> Provisioner::plan(const Snapshot& seen, WallTime now) {
  const Json* settings = seen.find(kube::types::storages, "", "cluster");
  if (!settings || !is_managed(*settings)) return Plan();
  return Round(*this, seen, now).run();
}

WallTime Provisioner::since(std::map<std::string, WallTime>& times, const std::string& key, WallTime now) {
  return times.try_emplace(key, now).first->second;
}

Task Provisioner::give_back(const Json& claim) {
  const std::string space(kube::namespace_of(claim)), name(kube::name_of(claim));
  // With the version: the scheduler may have chosen another node meanwhile.
  const Json patch = JsonObject{{"metadata", JsonObject{{"resourceVersion", text_of(claim, {"metadata", "resourceVersion"})},
                                                        {"annotations", JsonObject{{selected_node, nullptr}}}}}};
  return {fmt::format("giving {} back to the scheduler", kube::describe(claim)),
          [this, space, name, patch](const sys::Context& context) -> Result<> {
            const Result<Json> patched = kube::merge_patch(context, api_, kube::types::volume_claims, space, name, patch);
            if (patched.ok()) {
              if (Json kept = reduce_claim(patched.value()); !kept.is_null()) view_.put(std::move(kept));
              return Ok{};
            }
            const Code code = patched.error().code();
            if (code == Code::not_found) return Ok{};
            if (code == Code::conflict || code == Code::unavailable || code == Code::cancelled || code == Code::timeout) {
              return patched.error();
            }
            // The claim belongs to users; other claims must not wait for it.
            context.log.warn("{}", patched.error().message());
            return Ok{};
          }};
}

Task Provisioner::release(const Json& volume) {
  const std::string name(kube::name_of(volume));
  JsonArray others;
  for (const Json& each : find_array(volume, {"metadata", "finalizers"})) {
    if (each != Json(finalizer)) others.push_back(each);
  }
  const Json patch = JsonObject{{"metadata", JsonObject{{"resourceVersion", text_of(volume, {"metadata", "resourceVersion"})},
                                                        {"finalizers", std::move(others)}}}};
  return {fmt::format("releasing PersistentVolume {}", name), [this, name, patch](const sys::Context& context) -> Result<> {
            const Result<Json> patched = kube::merge_patch(context, api_, kube::types::volumes, "", name, patch);
            if (!patched.ok() && patched.error().code() != Code::not_found) return patched.error();
            if (!patched.ok() || find_array(patched.value(), {"metadata", "finalizers"}).empty()) {
              view_.remove(kube::types::volumes, "", name);
            } else if (Json kept = reduce_volume(patched.value()); !kept.is_null()) {
              view_.put(std::move(kept));
            }
            context.log.info("PersistentVolume {}: released", name);
            return Ok{};
          }};
}

Result<> keep(const sys::Context& context, kube::Api& api) {
  View view;
  Provisioner made(api, view);
  return reconcile(context, api,
                   {.manager = std::string(manager),
                    .watched = Provisioner::watched(),
                    .plan = [&](const Snapshot& seen, WallTime now) { return made.plan(seen, now); },
                    .view = view});
}

}  // namespace slipway::components::storage
