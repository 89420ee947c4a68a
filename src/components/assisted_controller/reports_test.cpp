#include "components/assisted_controller/reports.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::assisted_controller {
namespace {

const WallTime now = parse_rfc3339("2026-11-27T12:00:00Z").value();
const WallTime until = now + std::chrono::hours(24);

Json host(const std::string& name, const std::string& stage, const std::string& status = "installing-in-progress") {
  return {{"id", "id-of-" + name},
          {"infra_env_id", "env"},
          {"requested_hostname", name},
          {"status", status},
          {"inventory", R"({"interfaces": [{"ipv4_addresses": ["10.0.0.7/24"], "ipv6_addresses": []}]})"},
          {"progress", {{"current_stage", stage}}}};
}

Json node(const std::string& name, const char* ready, const std::string& address = "10.0.0.9") {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}}},
          {"status",
           {{"conditions", JsonArray{Json{{"type", "Ready"}, {"status", ready}}}},
            {"addresses", JsonArray{Json{{"type", "InternalIP"}, {"address", address}}}}}}};
}

Json condition(const char* type, const char* status, const char* message = "") {
  return {{"type", type}, {"status", status}, {"message", message}};
}

Json cluster_operator(const std::string& name, std::vector<Json> conditions) {
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "ClusterOperator"},
          {"metadata", {{"name", name}}},
          {"status",
           {{"conditions", JsonArray(conditions.begin(), conditions.end())},
            {"versions", JsonArray{Json{{"name", "operator"}, {"version", "4.20.1"}}}}}}};
}

Json cluster_version(std::vector<Json> conditions) {
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "ClusterVersion"},
          {"metadata", {{"name", "version"}}},
          {"status", {{"conditions", JsonArray(conditions.begin(), conditions.end())}, {"desired", {{"version", "4.20.1"}}}}}};
}

Json router_authority() {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", router_authority_name}, {"namespace", router_authority_space}}},
          {"data", {{"ca-bundle.crt", "PEM"}}}};
}

class Reports : public testing::Test {
 protected:
  Reports() {
    service.cluster = {
        {"id", "c"}, {"status", "installing"}, {"progress", {{"finalizing_stage", ""}}}, {"monitored_operators", JsonArray()}};
    service.hosts = JsonArray();
  }

  void add(Json each) { service.hosts.get_array().push_back(std::move(each)); }
  void finalize(const std::string& stage = "Waiting for cluster operators") {
    service.cluster.get_object()["status"] = "finalizing";
    service.cluster.get_object()["progress"] =
        Json{{"finalizing_stage", stage}, {"finalizing_stage_started_at", to_rfc3339(since)}};
  }
  void make_available() {
    view.put(cluster_version({condition("Available", "True"), condition("Progressing", "False")}));
    view.put(cluster_operator("etcd", {condition("Available", "True"), condition("Degraded", "False")}));
    view.put(router_authority());
  }
  Decision decision() { return decide(service, view.snapshot(), now, until); }

  // Those about hosts, "host-0 Joined".
  std::vector<std::string> host_reports() {
    std::vector<std::string> found;
    for (const Report& each : decision().reports) {
      if (each.path.find("/hosts/") != std::string::npos) {
        found.push_back(each.path + " " + text_of(each.body, {"current_stage"}));
      }
    }
    return found;
  }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const Report& each : decision().reports) found.push_back(each.name);
    return found;
  }

  ServiceState service;
  View view;
  WallTime since = now - std::chrono::minutes(5);
};

TEST_F(Reports, AHostIsJoinedAndDone) {
  add(host("host-0", "Rebooting"));
  EXPECT_TRUE(host_reports().empty());
  view.put(node("host-0", "False"));
  EXPECT_EQ(host_reports(), (std::vector<std::string>{"/v2/infra-envs/env/hosts/id-of-host-0/progress Joined"}));
  view.put(node("host-0", "True"));
  EXPECT_EQ(host_reports(), (std::vector<std::string>{"/v2/infra-envs/env/hosts/id-of-host-0/progress Done"}));
}

TEST_F(Reports, ANodeIsFoundByNameOrAddress) {
  add(host("Host-0", "Configuring"));
  view.put(node("host-0", "True"));
  EXPECT_EQ(host_reports().size(), 1u);
  add(host("by-address", "Configuring"));
  EXPECT_EQ(host_reports().size(), 1u);
  view.put(node("other-name", "True", "10.0.0.7"));
  EXPECT_EQ(host_reports().size(), 2u);
}

struct StageCase {
  const char *stage, *status;
  bool is_reported;
};

TEST_F(Reports, TheServiceLeavesWithItsHost) {
  EXPECT_FALSE(service_has_left(view.snapshot(), "m0"));
  view.put(node("m0", "False"));
  EXPECT_FALSE(service_has_left(view.snapshot(), "m0"));
  view.put(node("m0", "True"));
  EXPECT_TRUE(service_has_left(view.snapshot(), "m0"));
  EXPECT_FALSE(service_has_left(view.snapshot(), "")) << "the service runs on another machine";
}

TEST_F(Reports, OnlyHostsThatHaveRestarted) {
  view.put(node("host-0", "True"));
  for (const StageCase& each :
       {StageCase{"Writing image to disk", "installing-in-progress", false},
        StageCase{"Waiting for controller", "installing-in-progress", false},
        StageCase{"Rebooting", "installing-in-progress", true}, StageCase{"Waiting for ignition", "installing-in-progress", true},
        StageCase{"Rebooting", "installing-pending-user-action", true}, StageCase{"Joined", "installing-in-progress", true},
        StageCase{"Done", "installed", false}, StageCase{"Rebooting", "error", false}, StageCase{"", "installing", false}}) {
    service.hosts = JsonArray{host("host-0", each.stage, each.status)};
    EXPECT_EQ(!host_reports().empty(), each.is_reported) << each.stage << " " << each.status;
  }
}

TEST_F(Reports, OperatorsWhenTheyChange) {
  view.put(cluster_operator("etcd", {condition("Available", "False", "no quorum")}));
  const Decision first = decision();
  const auto of_etcd = std::ranges::find(first.reports, "reporting operator etcd as progressing", &Report::name);
  ASSERT_NE(of_etcd, first.reports.end());
  EXPECT_EQ(of_etcd->path, "/v2/clusters/c/monitored-operators");
  EXPECT_EQ(text_of(of_etcd->body, {"status_info"}), "no quorum");
  EXPECT_EQ(text_of(of_etcd->body, {"version"}), "4.20.1");
  service.cluster.get_object()["monitored_operators"] = JsonArray{of_etcd->body};
  EXPECT_EQ(names(), (std::vector<std::string>{"reporting operator cvo as progressing"}));
  view.put(cluster_operator("etcd", {condition("Available", "True"), condition("Degraded", "True", "slow")}));
  EXPECT_EQ(names().back(), "reporting operator etcd as failed");
}

TEST_F(Reports, TheInstallationIsCompleteWhenAllOperatorsAreAvailable) {
  make_available();
  EXPECT_TRUE(std::ranges::none_of(names(), [](const std::string& name) { return name == "completing the installation"; }));
  finalize();
  std::vector<std::string> found = names();
  EXPECT_EQ((std::vector<std::string>(found.end() - 4, found.end())),
            (std::vector<std::string>{"reporting stage 'Adding router ca'", "sending the authority of the routers",
                                      "reporting stage 'Done'", "completing the installation"}));
  EXPECT_EQ(decision().reports.back().body, (Json{{"is_success", true}, {"error_info", ""}}));
}

TEST_F(Reports, WaitsForWhatIsMissing) {
  make_available();
  finalize("");
  view.put(cluster_operator("dns", {condition("Available", "False", "no pods")}));
  EXPECT_EQ(names().back(), "reporting stage 'Waiting for cluster operators'");
  EXPECT_EQ(decision().waits_for, "operator dns is progressing: no pods");
  view.put(cluster_operator("dns", {condition("Available", "True")}));
  view.remove(kube::types::config_maps, router_authority_space, router_authority_name);
  EXPECT_EQ(decision().waits_for, "ConfigMap openshift-config-managed/default-ingress-cert has no ca-bundle.crt");
}

TEST_F(Reports, AnInstallationThatIsNotAvailableAfterTenHoursFails) {
  make_available();
  view.put(cluster_operator("dns", {condition("Available", "False", "no pods")}));
  since = now - std::chrono::hours(10) - Seconds(1);
  finalize();
  EXPECT_EQ(decision().reports.back().body,
            (Json{{"is_success", false}, {"error_info", "not available after 10 hours: operator dns is progressing: no pods"}}));
}

TEST_F(Reports, IsOver) {
  for (const char* status : {"installed", "error", "cancelled", "adding-hosts", "ready", "insufficient", "unknown"}) {
    service.cluster.get_object()["status"] = status;
    EXPECT_TRUE(decision().is_over()) << status;
  }
  for (const char* status : {"installing", "installing-pending-user-action", "finalizing"}) {
    service.cluster.get_object()["status"] = status;
    EXPECT_FALSE(decision().is_over()) << status;
    EXPECT_TRUE(decide(service, view.snapshot(), until, until).is_over()) << "its credential has ended";
  }
  service.closed_because = "the service answers 404: no such object";
  EXPECT_EQ(decision().over_because, service.closed_because);
}

TEST_F(Reports, PeopleReadTheStateWithoutTheService) {
  const Silence silence{.since = now, .reason = "connection refused"};
  make_available();
  view.put(node("host-0", "True"));
  view.put(node("host-1", "False"));
  add(host("host-0", "Joined"));
  JsonObject report = report_without_service(service, view.snapshot(), silence, "");
  EXPECT_EQ(text_of(report, {"summary"}), "The cluster is not installed yet: node host-1 is not Ready");
  EXPECT_EQ(text_of(report, {"service"}), "has not answered since 2026-11-27T12:00:00Z: connection refused");
  EXPECT_EQ(text_of(report, {"nodes"}), "host-0: Ready\nhost-1: not Ready");
  EXPECT_EQ(text_of(report, {"operators"}), "cvo: available 4.20.1\netcd: available 4.20.1");
  view.put(node("host-1", "True"));
  report = report_without_service(service, view.snapshot(), silence, "its credential has ended");
  EXPECT_EQ(text_of(report, {"summary"}), "The cluster is installed.");
  EXPECT_EQ(text_of(report, {"controller"}).find("has ended: its credential has ended"), 0u);
  // Each part of a report goes when the service answers again.
  const JsonObject again = report_with_service();
  for (const auto& member : report) EXPECT_TRUE(again.contains(member.key())) << std::string(member.key());
  add(host("host-9", "Rebooting"));
  service.hosts.get_array().back().get_object()["inventory"] = "";
  report = report_without_service({.cluster = {}, .hosts = service.hosts, .closed_because = ""}, view.snapshot(), silence, "");
  EXPECT_EQ(text_of(report, {"summary"}), "The cluster is not installed yet: host host-9 has no Node");
}

}  // namespace
}  // namespace slipway::components::assisted_controller
