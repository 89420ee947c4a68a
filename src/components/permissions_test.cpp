// Compares the permissions of operators (the roles in images/manifests) with their requests: what they watch, and what their
// plans
// write on the way from the rendered objects to an installed cluster.
#include "base/yaml.h"
#include "components/certificate_recovery/recovery.h"
#include "components/cloud_credential/operator.h"
#include "components/config_operator/operator.h"
#include "components/dns/operator.h"
#include "components/etcd/operator.h"
#include "components/ingress/ingress_routes.h"
#include "components/ingress/operator.h"
#include "components/kube_apiserver/operator.h"
#include "components/kube_controller_manager/operator.h"
#include "components/kube_scheduler/operator.h"
#include "components/machine_config_operator/controller_start.h"
#include "components/machine_config_operator/operator.h"
#include "components/metrics_server/operator.h"
#include "components/network/operator.h"
#include "components/service_ca/keeper.h"
#include "components/service_ca/operator.h"
#include "components/static_pod_installer/start.h"
#include "components/storage/operator.h"
#include "components/storage/provisioner.h"
#include "components/workload/workload_operator.h"
#include "kube/client.h"
#include "kube/node_volumes.h"
#include "net/curl_http.h"
#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

namespace slipway::components {
namespace {

using namespace testing_support;

// ---- permissions

struct Request {
  std::string verb, group, resource, space, name;  // name: empty where the request names no object

  std::string text() const {
    return fmt::format("{} {}{}{} {}/{}", verb, resource, group.empty() ? "" : ".", group, space, name.empty() ? "*" : name);
  }
};

bool has(const Json& rule, std::string_view list, std::string_view word) {
  return std::ranges::any_of(find_array(rule, {list}), [&](const Json& each) { return each == Json(word) || each == Json("*"); });
}

// Evaluates the roles of the release as Kubernetes does.
class Permissions {
 public:
  Permissions() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(SLIPWAY_SOURCE "/images/manifests")) {
      paths.push_back(entry.path());
    }
    for (const std::filesystem::path& path : paths) {
      std::ostringstream text;
      text << std::ifstream(path).rdbuf();
      const Result<std::vector<YamlDocument>> documents = parse_yaml_documents(text.str(), path.string());
      EXPECT_TRUE(documents.ok()) << documents.error().message();
      if (!documents.ok()) continue;
      for (const YamlDocument& document : documents.value()) {
        if (!find(document.value, {"metadata", "annotations", "release.openshift.io/delete"})) {
          objects_.push_back(document.value);
        }
      }
    }
  }

  // account: "NAMESPACE/NAME"
  bool may(std::string_view account, const Request& request) const {
    return std::ranges::any_of(objects_, [&](const Json& binding) {
      const std::string_view kind = find_string(binding, {"kind"}).value_or("");
      if (kind != "ClusterRoleBinding" && (kind != "RoleBinding" || kube::namespace_of(binding) != request.space)) return false;
      return binds(binding, account) && std::ranges::any_of(rules_of(binding), [&](const Json& rule) {
               const JsonArray& names = find_array(rule, {"resourceNames"});
               return has(rule, "apiGroups", request.group) && has(rule, "resources", request.resource) &&
                      has(rule, "verbs", request.verb) &&
                      (names.empty() || std::ranges::find(names, Json(request.name)) != names.end());
             });
    });
  }

 private:
  static bool binds(const Json& binding, std::string_view account) {
    return std::ranges::any_of(find_array(binding, {"subjects"}), [&](const Json& subject) {
      return fmt::format("{}/{}", find_string(subject, {"namespace"}).value_or(""),
                         find_string(subject, {"name"}).value_or("")) == account;
    });
  }

  JsonArray rules_of(const Json& binding) const {
    const std::string_view kind = find_string(binding, {"roleRef", "kind"}).value_or("");
    const std::string_view name = find_string(binding, {"roleRef", "name"}).value_or("");
    for (const Json& object : objects_) {
      if (find_string(object, {"kind"}) != kind || kube::name_of(object) != name) continue;
      if (kind == "Role" && kube::namespace_of(object) != kube::namespace_of(binding)) continue;
      return find_array(object, {"rules"});
    }
    // A role of Kubernetes itself: it reads Services, EndpointSlices and Nodes, and writes Events.
    if (kind == "ClusterRole" && name == "system:node-proxier") return {};
    ADD_FAILURE() << kube::describe(binding) << " is of a role that the release does not have: " << name;
    return {};
  }

  std::vector<Json> objects_;
};

// ---- requests

std::vector<Request> requests_of(const Watched& watched) {
  constexpr std::string_view by_name = "metadata.name=";
  const std::string& fields = watched.selection.fields;
  const std::string name = fields.starts_with(by_name) ? fields.substr(by_name.size()) : "";
  std::vector<Request> requests;
  for (const char* verb : {"list", "watch"}) {
    requests.push_back({verb, watched.type.group, watched.type.plural, watched.space, name});
  }
  return requests;
}

// The same requests as reconcile(): it reads objects first that no watch covers.
std::vector<Request> requests_of(const DesiredObject& desired, const Snapshot& seen) {
  const kube::ResourceType& type = desired.type;
  const std::string space(kube::namespace_of(desired.object)), name(kube::name_of(desired.object));
  const auto request = [&](std::string_view verb, std::string_view resource, std::string_view named) {
    return Request{std::string(verb), type.group, std::string(resource), space, std::string(named)};
  };
  const bool is_there = seen.find(type, space, name) != nullptr;
  const bool holds_data = type == kube::types::config_maps || type == kube::types::secrets;
  std::vector<Request> requests{request("get", type.plural, name)};
  switch (desired.how) {
    case DesiredObject::How::status: requests.push_back(request("update", type.plural + "/status", name)); break;
    case DesiredObject::How::remove: requests.push_back(request("delete", type.plural, name)); break;
    case DesiredObject::How::create: requests.push_back(request("create", type.plural, "")); break;
    case DesiredObject::How::apply:
      if (holds_data) {
        requests.push_back(is_there ? request("update", type.plural, name) : request("create", type.plural, ""));
      } else {
        requests.push_back(request("patch", type.plural, name));
        // An apply that creates an object is a create request with its name.
        if (!is_there) requests.push_back(request("create", type.plural, name));
      }
  }
  return requests;
}

std::vector<Request> requests_of(const Notice& notice) {
  const std::string_view space = kube::namespace_of(notice.regarding);
  std::vector<Request> requests;
  for (const char* verb : {"create", "get", "patch"}) {
    requests.push_back({verb, "", "events", space.empty() ? "default" : std::string(space), ""});
  }
  return requests;
}

std::vector<Request> requests_of_lease(const std::string& space, const std::string& name) {
  const std::string group = "coordination.k8s.io", type = "leases";
  std::vector<Request> requests{{"create", group, type, space, ""}};
  for (const char* verb : {"get", "list", "watch", "update"}) requests.push_back({verb, group, type, space, name});
  return requests;
}

using Planner = std::function<Result<Plan>(const Snapshot& seen, WallTime now)>;

// A program of the release and its requests.
struct Program {
  std::string account;
  std::vector<Watched> watched;
  std::string lease_space{}, lease{};
  Planner plan{};        // none: only its watches are checked
  int least_writes = 0;  // minimum number of writes, to ensure that the plan does its work in this test
};

class PermissionsTest : public testing::Test, public RenderedCluster {
 protected:
  PermissionsTest() {
    for (const char* kind : {"Etcd", "KubeAPIServer", "KubeControllerManager", "KubeScheduler", "Config", "CloudCredential",
                             "MachineConfiguration", "ServiceCA", "Storage"}) {
      put(settings(kind, "cluster"));
    }
    put(settings("DNS", "default"));
    put(settings("Network", "cluster"));
    put({{"apiVersion", "config.openshift.io/v1"}, {"kind", "Scheduler"}, {"metadata", {{"name", "cluster"}}}});
    put({{"apiVersion", "config.openshift.io/v1"},
         {"kind", "ClusterVersion"},
         {"metadata", {{"name", "version"}}},
         {"status", {{"desired", {{"image", "release@sha256:0"}}}, {"history", JsonArray{JsonObject{{"state", "Completed"}}}}}}});
    put(config_map({"openshift-machine-config-operator", "machine-config-operator-images"},
                   {{"images.json", std::string(images)}}));
    for (const char* name : {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "config-operator",
                             "cloud-credential", "ingress", "network", "dns", "machine-config", "service-ca", "storage",
                             "metrics-server"}) {
      put({{"apiVersion", "config.openshift.io/v1"}, {"kind", "ClusterOperator"}, {"metadata", {{"name", name}}}});
    }
    put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "tenant"}}}});
    put({{"apiVersion", "config.openshift.io/v1alpha1"},
         {"kind", "Backup"},
         {"metadata", {{"name", "default"}}},
         {"spec", {{"etcd", {{"schedule", "@daily"}}}}}});
    put({{"apiVersion", "operator.openshift.io/v1alpha1"}, {"kind", "EtcdBackup"}, {"metadata", {{"name", "one"}}}});
    // The certificate has expired, so that its renewal is checked, too.
    const net::Certificate served = net::make_certificate({.subject = {"system:machine-config-server"},
                                                           .valid_from = now - std::chrono::hours(2),
                                                           .valid_for = std::chrono::hours(1)},
                                                          nullptr)
                                        .value();
    put(secret({"openshift-machine-config-operator", "machine-config-server-tls"}, "Opaque",
               {{"tls.crt", served.pem}, {"tls.key", served.key.reveal()}}));
  }

  static Json settings(std::string_view kind, std::string_view name) {
    return {{"apiVersion", "operator.openshift.io/v1"},
            {"kind", kind},
            {"metadata", {{"name", name}}},
            {"spec", {{"managementState", "Managed"}}}};
  }

  void judge(const Program& program, const std::vector<Request>& requests) {
    for (const Request& request : requests) {
      if (!permissions_.may(program.account, request)) refused_.insert(fmt::format("{}: {}", program.account, request.text()));
    }
  }

  // Checks watches and the Lease, and executes plans until a plan changes nothing.
  void run(const Program& program) {
    SCOPED_TRACE(program.account);
    for (const Watched& watched : program.watched) judge(program, requests_of(watched));
    if (!program.lease.empty()) judge(program, requests_of_lease(program.lease_space, program.lease));
    int writes = 0;
    for (int round = 0; program.plan && round < 30; ++round) {
      const Result<Plan> plan = program.plan(view.snapshot(), now);
      ASSERT_TRUE(plan.ok()) << plan.error().message();
      int open = 0;
      for (const DesiredObject& desired : plan->desired_objects) {
        if (is_fulfilled(desired, view.snapshot())) continue;
        judge(program, requests_of(desired, view.snapshot()));
        ++open;
      }
      for (const Notice& notice : plan->notices) judge(program, requests_of(notice));
      writes += open;
      if (open == 0) break;
      play(plan.value());
    }
    EXPECT_GE(writes, program.least_writes);
  }

  Program of_static_pods(std::string account, const StaticPodOperator& work) const {
    return {.account = std::move(account),
            .watched = watched_by(work),
            .lease_space = work.operand.operator_space,
            .lease = "any-lock",
            .plan = [work, variables = variables](const Snapshot& seen,
                                                  WallTime at) { return plan_static_pods(work, variables, seen, at); },
            .least_writes = 8};
  }

  Program of_workloads(std::string account, const WorkloadOperator& work, int least_writes) const {
    return {.account = std::move(account),
            .watched = watched_by(work),
            .lease_space = work.space,
            .lease = "any-lock",
            .plan = [work](const Snapshot& seen, WallTime at) { return plan_workloads(work, {"0.1.0"}, seen, at); },
            .least_writes = least_writes};
  }

  std::vector<StaticPodOperator> recovered() const {
    return {kube_apiserver::make_operator(variables), kube_controller_manager::make_operator(variables, "x"),
            kube_scheduler::make_operator(variables)};
  }

  // In the order of an installation: each needs the objects of earlier ones.
  std::vector<Program> operators() {
    std::vector<Program> programs = {
        of_static_pods("openshift-etcd-operator/etcd-operator", etcd::make_operator(variables, http_)),
        of_static_pods("openshift-kube-apiserver-operator/kube-apiserver-operator", recovered()[0]),
        of_static_pods("openshift-kube-controller-manager-operator/kube-controller-manager-operator", recovered()[1]),
        of_static_pods("openshift-kube-scheduler-operator/openshift-kube-scheduler-operator", recovered()[2]),
        of_workloads(std::string(config_account), service_ca::make_operator("openshift-config-operator"), 3),
        of_workloads(std::string(config_account), storage::make_operator("openshift-config-operator"), 3),
        of_workloads(std::string(config_account), config_operator::make_operator({}, {"0.1.0"}), 3),
        of_workloads(std::string(config_account),
                     metrics_server::make_operator("r/metrics-server@sha256:1", "openshift-config-operator"), 2),
        of_workloads("openshift-cloud-credential-operator/cloud-credential-operator", cloud_credential::make_operator(), 1),
        of_workloads(std::string(ingress_account), ingress::make_operator("r/router@sha256:1"), 8),
        of_workloads("openshift-network-operator/network-operator",
                     network::make_operator({"r/flannel", "r/proxy", "r/operator"}), 4),
        of_workloads("openshift-dns-operator/dns-operator", dns::make_operator("r/coredns"), 4),
        of_workloads("openshift-machine-config-operator/machine-config-operator", machine_config_operator::make_operator("0.1.0"),
                     5),
    };
    return programs;
  }

  static constexpr std::string_view config_account = "openshift-config-operator/openshift-config-operator";
  static constexpr std::string_view ingress_account = "openshift-ingress-operator/ingress-operator";
  static constexpr const char* images =
      R"({"machine-config-operator":"mco@sha256:1","pod":"pod@sha256:2","machine-os":"os@sha256:3",)"
      R"("keepalived-ipfailover":"k@sha256:4","haproxy-router":"h@sha256:5",)"
      R"("baremetal-runtimecfg":"r@sha256:6","coredns":"c@sha256:7"})";

  const OperatorVariables variables = testing_support::operator_variables();
  Permissions permissions_;
  std::set<std::string> refused_;
  net::CurlHttp http_;
};

TEST_F(PermissionsTest, OperatorsHaveThePermissionsTheyNeed) {
  for (const Program& program : operators()) run(program);
  judge({.account = "openshift-etcd-operator/etcd-operator", .watched = {}},
        {{"create", "batch", "jobs", "openshift-etcd", ""},
         {"delete", "batch", "cronjobs", "openshift-etcd", "etcd-backup-default-m"}});
  EXPECT_EQ(refused_, std::set<std::string>());
}

TEST_F(PermissionsTest, ProgramsOnNodesMayReadWhatTheyWatch) {
  run({.account = "openshift-static-pod-installer/installer", .watched = static_pod_installer::watched()});
  run({.account = "openshift-machine-config-operator/machine-config-controller",
       .watched = machine_config_operator::MachineConfigController::watched(),
       .lease_space = "openshift-machine-config-operator",
       .lease = "any-lock"});
  judge({.account = "openshift-machine-config-operator/machine-config-server", .watched = {}},
        {{"create", "authentication.k8s.io", "tokenreviews", "", ""},
         {"create", "authorization.k8s.io", "subjectaccessreviews", "", ""}});
  EXPECT_EQ(refused_, std::set<std::string>());
}

TEST_F(PermissionsTest, TheControllerMayBuildImagesAndBuildersOnlyReportThem) {
  const std::string space = "openshift-machine-config-operator", maps = "configmaps", records = "os-images-of-bootstrap";
  const Program controller{.account = space + "/machine-config-controller", .watched = {}};
  judge(controller, {{"create", "", maps, space, ""},
                     {"get", "", maps, space, "os-build-worker-0"},
                     {"delete", "", maps, space, "digest-worker"},
                     {"update", "", maps, space, records},
                     {"create", "batch", "jobs", space, ""},
                     {"get", "batch", "jobs", space, "build-worker"},
                     {"delete", "batch", "jobs", space, "build-worker"}});
  for (const char* resource : {"machineosconfigs", "machineosbuilds"}) {
    const std::string group = "machineconfiguration.openshift.io";
    judge(controller, {{"create", group, resource, "", ""},
                       {"patch", group, resource, "", "worker"},
                       {"update", group, std::string(resource) + "/status", "", "worker"},
                       {"delete", group, resource, "", "worker"}});
  }
  judge({.account = space + "/machine-os-builder", .watched = {}}, {{"create", "", maps, space, ""}});
  EXPECT_EQ(refused_, std::set<std::string>());
  for (const char* verb : {"get", "list", "watch", "update", "patch", "delete"}) {
    EXPECT_FALSE(permissions_.may(space + "/machine-os-builder", {verb, "", maps, space, "machine-config-operator-images"}))
        << verb;
    EXPECT_FALSE(permissions_.may(space + "/machine-os-builder", {verb, "", "secrets", space, "push"})) << verb;
  }
  for (const char* verb : {"update", "patch"}) {
    EXPECT_FALSE(permissions_.may(controller.account, {verb, "", maps, space, "machine-config-operator-images"})) << verb;
  }
}

// The policies of node-confinement require a permission on a resource that no API server has.
TEST_F(PermissionsTest, WritersOfOtherNodesMayChangeAnyNode) {
  const Request right{"change-any", "slipway.internal", "nodes", "", ""};
  for (const char* account :
       {"openshift-cluster-machine-approver/machine-approver-sa", "openshift-machine-config-operator/machine-config-controller",
        "openshift-kube-apiserver/localhost-recovery-client"}) {
    EXPECT_TRUE(permissions_.may(account, {"patch", "", "nodes", "", "worker-0"})) << account;
    EXPECT_TRUE(permissions_.may(account, right)) << account;
  }
  for (const char* account :
       {"openshift-machine-config-operator/machine-config-daemon", "openshift-flannel/flannel-kube-proxy"}) {
    EXPECT_FALSE(permissions_.may(account, right)) << account;
  }
}

// certificate-recovery runs three operators, the installer and the approver in one process.
TEST_F(PermissionsTest, RecoveryMayReplaceCertificates) {
  for (const Program& program : operators()) run(program);
  refused_.clear();
  now += std::chrono::hours(24 * 100);
  const std::string account = "openshift-kube-apiserver/localhost-recovery-client";
  for (const StaticPodOperator& work : recovered()) {
    run({.account = account,
         .watched = watched_by(work),
         .lease_space = "openshift-kube-apiserver",
         .lease = "certificate-recovery",
         .plan = [work](const Snapshot& seen, WallTime at) { return certificate_recovery::plan_recovery(work, seen, at); },
         .least_writes = 1});
  }
  run({.account = account, .watched = {{kube::types::certificate_requests}, {kube::types::nodes}}});
  run({.account = account, .watched = static_pod_installer::watched()});
  // Records of the approver.
  const std::string approver = "openshift-cluster-machine-approver", table = "openshift-config";
  judge({.account = account, .watched = {}}, {{"get", "", "configmaps", approver, "node-identities"},
                                              {"update", "", "configmaps", approver, "node-identities"},
                                              {"create", "", "configmaps", approver, ""},
                                              {"update", "", "configmaps", table, "machine-addresses"},
                                              {"create", "", "configmaps", table, ""},
                                              {"get", "", "configmaps", "openshift-etcd", "etcd-endpoints"}});
  EXPECT_EQ(refused_, std::set<std::string>());
}

// Two operators have a second loop, for objects of users.
TEST_F(PermissionsTest, CertificatesOfServicesAndIngressObjectsOfAllNamespaces) {
  const Program service_ca{.account = std::string(config_account), .watched = service_ca::Keeper::watched()};
  run(service_ca);
  judge(service_ca, {{"create", "", "secrets", "tenant", ""},
                     {"update", "", "secrets", "tenant", "web-tls"},
                     {"patch", "", "services", "tenant", "web"},
                     {"update", "", "configmaps", "tenant", "trust"},
                     {"patch", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "hooks"},
                     {"patch", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", "hooks"},
                     {"patch", "apiextensions.k8s.io", "customresourcedefinitions", "", "crd"},
                     {"patch", "apiregistration.k8s.io", "apiservices", "", "api"},
                     {"create", "apiregistration.k8s.io", "apiservices", "", "v1beta1.metrics.k8s.io"},
                     {"delete", "apiregistration.k8s.io", "apiservices", "", "v1beta1.metrics.k8s.io"},
                     {"create", "", "events", "tenant", ""}});
  EXPECT_FALSE(permissions_.may(config_account, {"create", "apiregistration.k8s.io", "apiservices", "", "v1.apps"}));
  const Program ingress{.account = std::string(ingress_account), .watched = ingress::watched_for_ingresses()};
  run(ingress);
  judge(ingress, {{"create", "route.openshift.io", "routes", "tenant", "web-1"},
                  {"patch", "route.openshift.io", "routes", "tenant", "web-1"},
                  {"delete", "route.openshift.io", "routes", "tenant", "web-1"},
                  {"update", "networking.k8s.io", "ingresses/status", "tenant", "web"},
                  {"create", "networking.k8s.io", "ingressclasses", "", ""},
                  {"create", "", "events", "tenant", ""}});
  EXPECT_EQ(refused_, std::set<std::string>());
}

// The operator storage has a second loop, too. Programs on nodes report to it in one namespace, and an admission policy restricts
// that to one object for each node.
TEST_F(PermissionsTest, OnlyTheOperatorStorageWritesVolumesAndClaims) {
  const std::string space(kube::volumes_space), group = "storage.k8s.io";
  const Program provisioner{.account = std::string(config_account), .watched = storage::Provisioner::watched()};
  run(provisioner);
  judge(provisioner, {{"create", "", "persistentvolumes", "", ""},
                      {"patch", "", "persistentvolumes", "", "pvc-1"},
                      {"delete", "", "persistentvolumes", "", "pvc-1"},
                      {"patch", "", "persistentvolumeclaims", "tenant", "data"},
                      {"get", "", "configmaps", space, "wanted-worker-0"},
                      {"create", "", "configmaps", space, ""},
                      {"update", "", "configmaps", space, "wanted-worker-0"},
                      {"delete", "", "configmaps", space, "state-worker-0"},
                      {"create", group, "csistoragecapacities", space, "local-1"},
                      {"patch", group, "csistoragecapacities", space, "local-1"},
                      {"delete", group, "csistoragecapacities", space, "local-1"},
                      {"create", "", "events", "tenant", ""},
                      {"create", "", "events", "default", ""}});
  const Program daemon{.account = "openshift-machine-config-operator/machine-config-daemon", .watched = {}};
  judge(daemon, {{"list", "", "configmaps", space, "wanted-worker-0"},
                 {"watch", "", "configmaps", space, "wanted-worker-0"},
                 {"create", "", "configmaps", space, "state-worker-0"},
                 {"patch", "", "configmaps", space, "state-worker-0"}});
  EXPECT_EQ(refused_, std::set<std::string>());
  std::vector<Program> programs = operators();
  programs.push_back(daemon);
  programs.push_back({.account = "openshift-machine-config-operator/machine-config-controller", .watched = {}});
  programs.push_back({.account = "openshift-flannel/flannel-kube-proxy", .watched = {}});
  for (const Program& program : programs) {
    if (program.account == config_account) continue;
    for (const char* verb : {"get", "list", "watch", "create", "update", "patch", "delete"}) {
      for (const char* type : {"persistentvolumes", "persistentvolumeclaims"}) {
        EXPECT_FALSE(permissions_.may(program.account, {verb, "", type, "tenant", "data"})) << program.account << verb << type;
      }
    }
  }
}

TEST_F(PermissionsTest, FewProgramsReadSecretsOfAllNamespaces) {
  std::vector<Program> programs = operators();
  programs.push_back({.account = "openshift-machine-config-operator/machine-config-controller", .watched = {}});
  programs.push_back({.account = "openshift-kube-apiserver/localhost-recovery-client", .watched = {}});
  programs.push_back({.account = "openshift-static-pod-installer/installer", .watched = {}});
  for (const Program& program : programs) {
    // Certificates of Services are Secrets of their namespaces (an admission policy restricts which ones may be written), and an
    // Ingress names a Secret.
    const std::set<std::string_view> allowed =
        program.account == config_account    ? std::set<std::string_view>{"get", "list", "watch", "create", "update"}
        : program.account == ingress_account ? std::set<std::string_view>{"get", "list", "watch"}
                                             : std::set<std::string_view>{};
    for (const char* verb : {"get", "list", "watch", "create", "update", "patch", "delete"}) {
      EXPECT_EQ(permissions_.may(program.account, {verb, "", "secrets", "tenant", "password"}), allowed.contains(verb))
          << program.account << verb;
    }
    for (const char* verb : {"escalate", "bind", "create", "update", "patch"}) {
      for (const char* type : {"clusterroles", "clusterrolebindings", "roles", "rolebindings"}) {
        EXPECT_FALSE(permissions_.may(program.account, {verb, "rbac.authorization.k8s.io", type, "tenant", ""}))
            << program.account;
      }
    }
    EXPECT_FALSE(permissions_.may(program.account, {"create", "", "serviceaccounts/token", "tenant", "any"})) << program.account;
    EXPECT_FALSE(permissions_.may(program.account, {"impersonate", "", "users", "", "admin"})) << program.account;
  }
}

}  // namespace
}  // namespace slipway::components
