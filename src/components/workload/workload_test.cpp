#include "components/workload/workload.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

const Workload daemon_set{kube::types::daemon_sets, "openshift-dns", "dns-default"};
const Workload deployment{kube::types::deployments, "openshift-ingress", "router-default"};

// A workload with these fields, in YAML.
Json with(const Workload& workload, std::string_view members) {
  Json object = parse_yaml(members, "x").value().value;
  JsonObject& fields = object.as_object();
  fields["apiVersion"] = workload.type.api_version();
  fields["kind"] = workload.type.kind;
  if (!fields.contains("metadata")) fields["metadata"] = JsonObject();
  fields["metadata"].as_object()["name"] = workload.name;
  fields["metadata"].as_object()["namespace"] = workload.space;
  return object;
}

TEST(Workloads, AreNamed) { EXPECT_EQ(to_text(daemon_set), "DaemonSet openshift-dns/dns-default"); }

TEST(Workloads, SayWhatTheyLack) {
  struct Case {
    const Workload& workload;
    const char* members;
    const char* not_rolled_out;
    const char* not_available;
  };
  const Case cases[] = {
      {deployment, "{}", "0 of 1 pods are updated", "the controller has not observed it yet"},
      {deployment, "{metadata: {generation: 1}}", "the controller has not observed the change yet",
       "the controller has not observed it yet"},
      {deployment, "{metadata: {generation: 2}, status: {observedGeneration: 1, updatedReplicas: 1, availableReplicas: 1}}",
       "the controller has not observed the change yet", ""},
      {deployment,
       "{spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 1, availableReplicas: 2}}",
       "1 of 2 pods are updated", ""},
      {deployment,
       "{spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 3, updatedReplicas: 2, availableReplicas: 2}}",
       "pods of the previous version: 1", ""},
      {deployment,
       "{spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1}}",
       "1 of 2 pods are available", ""},
      {deployment, "{spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2}}",
       "0 of 2 pods are available", "0 of 2 pods are available"},
      {deployment, "{status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}}", "", ""},
      {deployment, "{spec: {replicas: 0}, status: {observedGeneration: 1}}", "", ""},
      {daemon_set, "{metadata: {generation: 1}, status: {}}", "the controller has not observed the change yet",
       "the controller has not observed it yet"},
      {daemon_set, "{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 0}}", "", ""},
      {daemon_set, "{status: {observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 2, numberAvailable: 3}}",
       "2 of 3 pods are updated", ""},
      {daemon_set, "{status: {observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2}}",
       "2 of 3 pods are available", ""},
      {daemon_set, "{status: {observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3}}",
       "0 of 3 pods are available", "0 of 3 pods are available"},
      {daemon_set, "{status: {observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3}}",
       "", ""},
  };
  for (const Case& each : cases) {
    const Json object = with(each.workload, each.members);
    EXPECT_EQ(not_rolled_out(object).value_or(""), each.not_rolled_out) << each.members;
    EXPECT_EQ(not_available(object).value_or(""), each.not_available) << each.members;
  }
}

TEST(Workloads, AreGoodTogether) {
  View view;
  view.put(with(daemon_set, "{status: {observedGeneration: 1}}"));
  view.put(with(deployment, "{status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}}"));
  EXPECT_EQ(workload_conditions("DNS", {daemon_set, deployment}, view.snapshot()),
            (std::vector<Condition>{{"DNSAvailable", true}, {"DNSProgressing", false}, {"DNSDegraded", false}}));
}

TEST(Workloads, AreBadAsSoonAsOneIs) {
  View view;
  view.put(with(deployment,
                "{status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, "
                "conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: it timed out}]}}"));
  EXPECT_EQ(workload_conditions("", {daemon_set, deployment}, view.snapshot()),
            (std::vector<Condition>{
                {"Available", false, "NoPodAvailable",
                 "DaemonSet openshift-dns/dns-default: does not exist; "
                 "Deployment openshift-ingress/router-default: 0 of 1 pods are available"},
                {"Progressing", true, "RollingOut",
                 "DaemonSet openshift-dns/dns-default: does not exist; "
                 "Deployment openshift-ingress/router-default: 0 of 1 pods are available"},
                {"Degraded", true, "ProgressDeadlineExceeded", "Deployment openshift-ingress/router-default: it timed out"}}));
}

}  // namespace
}  // namespace slipway::components
