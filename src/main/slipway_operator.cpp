// slipway-operator, the program in the images of the embedded release: every operator, server and render command, chosen by the
// name by which it is called.
#include "components/assisted_controller/controller.h"
#include "components/certificate_recovery/recovery.h"
#include "components/cloud_credential/operator.h"
#include "components/cloud_credential/render.h"
#include "components/cluster_bootstrap/in_place.h"
#include "components/cluster_bootstrap/start.h"
#include "components/cluster_version/image.h"
#include "components/cluster_version/payload.h"
#include "components/cluster_version/render.h"
#include "components/cluster_version/start.h"
#include "components/config_operator/api_render.h"
#include "components/config_operator/operator.h"
#include "components/config_operator/operator_render.h"
#include "components/controller/operator_process.h"
#include "components/dns/operator.h"
#include "components/etcd/backup_command.h"
#include "components/etcd/discover.h"
#include "components/etcd/first_start.h"
#include "components/etcd/operator.h"
#include "components/etcd/render.h"
#include "components/ingress/operator.h"
#include "components/ingress/render.h"
#include "components/kube_apiserver/insecure_readyz.h"
#include "components/kube_apiserver/operator.h"
#include "components/kube_apiserver/render.h"
#include "components/kube_controller_manager/operator.h"
#include "components/kube_controller_manager/policy_controller.h"
#include "components/kube_controller_manager/render.h"
#include "components/kube_scheduler/operator.h"
#include "components/kube_scheduler/render.h"
#include "components/machine_approver/approver.h"
#include "components/machine_approver/operator.h"
#include "components/machine_config_operator/bootstrap.h"
#include "components/machine_config_operator/controller.h"
#include "components/machine_config_operator/controller_start.h"
#include "components/machine_config_operator/operator.h"
#include "components/machine_config_server/bootstrap.h"
#include "components/machine_config_server/cluster.h"
#include "components/metrics_server/operator.h"
#include "components/network/operator.h"
#include "components/network/policy/agent.h"
#include "components/node_tuning/render.h"
#include "components/program/program.h"
#include "components/router/start.h"
#include "components/runtimecfg/monitor.h"
#include "components/runtimecfg/runtimecfg.h"
#include "components/service_ca/operator.h"
#include "components/static_pod_installer/run_when_ready.h"
#include "components/static_pod_installer/start.h"
#include "components/storage/operator.h"
#include "main/world.h"
#include "node/registry_access.h"
#include "sys/signals.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace {

using namespace slipway;

// Reads signatures of releases from the same servers as the containerd of the node.
Result<> run_cluster_version(const components::Environment& environment, const components::Arguments& arguments) {
  return components::cluster_version::run_start(environment, arguments, node::registry_access);
}

// The next two connect components that do not include each other, in one process each.
Result<> run_config_operator(const components::Environment& environment, const components::Arguments& arguments) {
  const std::string space = "openshift-config-operator";
  const std::string metrics_server = TRY(components::environment_text("METRICS_SERVER_IMAGE"));
  return components::config_operator::run_operator(
      environment, arguments,
      {components::service_ca::make_operator(space), components::storage::make_operator(space),
       components::metrics_server::make_operator(metrics_server, space)});
}

Result<> run_certificate_recovery(const components::Environment& environment, const components::Arguments& arguments) {
  return components::certificate_recovery::run_start(
      environment, arguments,
      {.operators =
           [](const std::string& version) {
             const components::OperatorVariables variables{
                 .image = "", .operator_image = "", .version = version, .operand_version = ""};
             return std::vector{components::kube_apiserver::make_operator(variables),
                                components::kube_controller_manager::make_operator(variables, ""),
                                components::kube_scheduler::make_operator(variables)};
           },
       .install =
           [](const sys::Context& context, const components::certificate_recovery::Connect& connect, sys::Files& files,
              const std::string& root, const std::string& node) {
             return components::static_pod_installer::keep_installed(context, connect, files, {.root = root, .node = node});
           },
       .approve =
           [](const sys::Context& context, kube::Api& api) {
             return components::machine_approver::approve_requests(context, api, {.follows_table = true});
           }});
}

struct Program {
  std::string_view name;     // the name of the executable
  std::string_view command;  // its first argument; "" for a program without commands
  std::string_view usage;
  Result<> (*run)(const components::Environment& environment, const components::Arguments& arguments);  // after the command
};

constexpr std::array programs = {
    Program{"assisted-installer-controller", "start", "FLAGS", components::assisted_controller::run_start},
    Program{"certificate-recovery", "start", "FLAGS", run_certificate_recovery},
    Program{"cloud-credential-operator", "operator", "[FLAGS]", components::cloud_credential::run_operator},
    Program{"cloud-credential-operator", "render", "FLAGS", components::cloud_credential::run_render},
    Program{"cluster-bootstrap", "bootstrap-in-place", "FLAGS", components::cluster_bootstrap::run_in_place},
    Program{"cluster-bootstrap", "start", "FLAGS", components::cluster_bootstrap::run_start},
    Program{"cluster-bootstrap", "version", "", components::cluster_bootstrap::run_version},
    Program{"cluster-config-operator", "operator", "[FLAGS]", run_config_operator},
    Program{"cluster-config-operator", "render", "FLAGS", components::config_operator::run_operator_render},
    Program{"cluster-etcd-operator", "backup", "FLAGS", components::etcd::run_backup},
    Program{"cluster-etcd-operator", "operator", "[FLAGS]", components::etcd::run_operator},
    Program{"cluster-etcd-operator", "render", "FLAGS", components::etcd::run_render},
    Program{"cluster-etcd-operator", "start-member", "FLAGS -- PROGRAM [ARGUMENT]...", components::etcd::run_start_member},
    Program{"cluster-etcd-operator", "wait-for-ceo", "FLAGS", components::etcd::run_wait_for_ceo},
    Program{"cluster-kube-apiserver-operator", "operator", "[FLAGS]", components::kube_apiserver::run_operator},
    Program{"cluster-kube-apiserver-operator", "render", "FLAGS", components::kube_apiserver::run_render},
    Program{"cluster-kube-apiserver-operator", "insecure-readyz", "[FLAGS]", components::kube_apiserver::run_insecure_readyz},
    Program{"cluster-kube-controller-manager-operator", "operator", "[FLAGS]", components::kube_controller_manager::run_operator},
    Program{"cluster-kube-controller-manager-operator", "render", "FLAGS", components::kube_controller_manager::run_render},
    Program{"cluster-kube-scheduler-operator", "operator", "[FLAGS]", components::kube_scheduler::run_operator},
    Program{"cluster-kube-scheduler-operator", "render", "FLAGS", components::kube_scheduler::run_render},
    Program{"cluster-network-operator", "policy-agent", "FLAGS", components::network::run_policy_agent},
    Program{"cluster-network-operator", "start", "[FLAGS]", components::network::run_operator},
    Program{"cluster-node-tuning-operator", "render", "FLAGS", components::node_tuning::run_render},
    Program{"cluster-policy-controller", "start", "FLAGS", components::kube_controller_manager::run_policy_controller},
    Program{"cluster-version-operator", "image", "NAME", components::cluster_version::run_image},
    Program{"cluster-version-operator", "payload", "", components::cluster_version::run_payload},
    Program{"cluster-version-operator", "render", "FLAGS", components::cluster_version::run_render},
    Program{"cluster-version-operator", "start", "FLAGS", run_cluster_version},
    Program{"discover-etcd-initial-cluster", "", "FLAGS", components::etcd::run_discover},
    Program{"dns-operator", "", "[FLAGS]", components::dns::run_operator},
    Program{"ingress-operator", "render", "FLAGS", components::ingress::run_render},
    Program{"ingress-operator", "start", "[FLAGS]", components::ingress::run_operator},
    Program{"machine-approver", "operator", "[FLAGS]", components::machine_approver::run_operator},
    Program{"machine-config-controller", "bootstrap", "FLAGS", components::machine_config_operator::run_controller_bootstrap},
    Program{"machine-config-controller", "start", "[FLAGS]", components::machine_config_operator::run_controller},
    Program{"machine-config-operator", "bootstrap", "FLAGS", components::machine_config_operator::run_bootstrap},
    Program{"machine-config-operator", "start", "[FLAGS]", components::machine_config_operator::run_operator},
    Program{"machine-config-server", "bootstrap", "[FLAGS]", components::machine_config_server::run_bootstrap},
    Program{"machine-config-server", "start", "[FLAGS]", components::machine_config_server::run_start},
    Program{"openshift-router", "start", "[FLAGS]", components::router::run_start},
    Program{"render", "", "FLAGS", components::config_operator::run_api_render},
    Program{"run-when-ready", "", "FLAGS -- PROGRAM [ARGUMENT]...", components::static_pod_installer::run_when_ready},
    Program{"runtimecfg", "monitor", "KUBECONFIG FLAGS", components::runtimecfg::run_monitor},
    Program{"runtimecfg", "render", "FLAGS FOLDER", components::runtimecfg::run_render},
    Program{"static-pod-installer", "start", "[FLAGS]", components::static_pod_installer::run_start},
};

int usage() {
  fmt::print(stderr, "This file contains several programs. Call it by one of these names:\n");
  for (const Program& program : programs) fmt::print(stderr, "  {} {} {}\n", program.name, program.command, program.usage);
  return 2;
}

int run(const Program& program, const components::Arguments& arguments, const sys::StopOnSignal& signals) {
  World world(std::string(program.name), Level::info, signals.token());
  const Result<> result = program.run(world.environment(), arguments);
  if (result.ok()) return 0;
  fmt::print(stderr, "{}: {}\n", program.name, result.error().message());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sys::StopOnSignal signals;
  const std::string_view path = argv[0];
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (const Program& program : programs) {
    if (program.name != name) continue;
    const int words = program.command.empty() ? 1 : 2;
    if (argc < words || (words == 2 && program.command != argv[1])) continue;
    return run(program, {argv + words, argv + argc}, signals);
  }
  return usage();
}
