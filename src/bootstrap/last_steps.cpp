#include "bootstrap/last_steps.h"

#include "kube/conditions.h"
#include "sys/wait_for.h"

namespace slipway::bootstrap {

namespace {

using sys::Observation;

constexpr auto limit = std::chrono::hours(1);
// The address of the API may just have moved, and requests to the old machine are lost.
constexpr sys::Pace pace{Milliseconds(50), Milliseconds(500)};
const std::string static_pods = "/etc/kubernetes/manifests/";

}  // namespace

Result<> restore_overrides(const sys::Context& context, kube::Api& api, const Json& patch) {
  const auto observe = [&]() -> Result<Observation> {
    Result<Json> patched = kube::merge_patch(context, api, kube::types::cluster_versions, "", "version", patch);
    if (patched.ok()) return Observation::done();
    if (patched.error().code() == Code::not_found) return Observation::not_yet("{}", patched.error().message());
    return std::move(patched).error();
  };
  return sys::wait_for(context, "the ClusterVersion to take the overrides of the user", limit, observe, nullptr, pace);
}

Result<> wait_for_etcd_in_cluster(const sys::Context& context, kube::Api& api) {
  const auto missing = [](const kube::Objects& objects) -> Result<std::optional<std::string>> {
    if (objects.empty()) return std::optional<std::string>("etcds.operator.openshift.io/cluster does not exist");
    const std::string_view status = kube::condition_status(objects.front(), "EtcdRunningInCluster");
    if (status == "True") return std::optional<std::string>();
    return std::optional("EtcdRunningInCluster is " + std::string(status.empty() ? "not set" : status));
  };
  // A get before the list: a list on a new API server waits until its cache has all objects of the type.
  const Result<Json> one = kube::get(context, api, kube::types::etcds, "", "cluster");
  if (one.ok() && !TRY(missing({one.value()}))) return Ok{};
  return kube::wait_until(context, api, "etcd to run on the masters", limit, kube::types::etcds, "",
                          {.fields = "metadata.name=cluster"}, missing);
}

Result<> stop_machine_config_server(sys::Files& files) {
  return files.remove(static_pods + "machineconfigoperator-bootstrap-pod.yaml");
}

Result<> remove_temporary_control_plane(sys::Files& files, const std::string& assets) {
  for (const std::string& name : TRY(files.list(assets + "/bootstrap-manifests"))) TRY(files.remove(static_pods + name));
  return Ok{};
}

}  // namespace slipway::bootstrap
