// slipway-operator, the program in the images of the embedded release: every operator, server and render command of it,
// chosen by the name it is called by.
#include "main/world.h"
#include "operators/apiserver/insecure_readyz.h"
#include "operators/apiserver/operator.h"
#include "operators/apiserver/render.h"
#include "operators/approver/approver.h"
#include "operators/approver/operator.h"
#include "operators/bootstrap/in_place.h"
#include "operators/bootstrap/start.h"
#include "operators/config/api_render.h"
#include "operators/config/operator.h"
#include "operators/config/operator_render.h"
#include "operators/controllers/operator.h"
#include "operators/controllers/policy_controller.h"
#include "operators/controllers/render.h"
#include "operators/credentials/operator.h"
#include "operators/credentials/render.h"
#include "operators/dns/operator.h"
#include "operators/etcd/discover.h"
#include "operators/etcd/first_start.h"
#include "operators/etcd/operator.h"
#include "operators/etcd/render.h"
#include "operators/ingress/operator.h"
#include "operators/ingress/render.h"
#include "operators/installer/run_when_ready.h"
#include "operators/installer/start.h"
#include "operators/lib/program.h"
#include "operators/machineconfig/bootstrap.h"
#include "operators/machineconfig/controller.h"
#include "operators/machineconfig/controller_start.h"
#include "operators/machineconfig/operator.h"
#include "operators/machineconfig/runtimecfg.h"
#include "operators/machineconfig/runtimecfg_monitor.h"
#include "operators/machineconfig/server_bootstrap.h"
#include "operators/machineconfig/server_cluster.h"
#include "operators/network/operator.h"
#include "operators/recovery/recovery.h"
#include "operators/router/start.h"
#include "operators/scheduler/operator.h"
#include "operators/scheduler/render.h"
#include "operators/tuning/render.h"
#include "operators/version/image.h"
#include "operators/version/render.h"
#include "operators/version/start.h"
#include "sys/signals.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace {

using namespace slipway;

// Parts of components that do not know each other, in one process.
Result<> run_certificate_recovery(const operators::Environment& environment, const operators::Arguments& arguments) {
  return operators::recovery::run_start(
      environment, arguments,
      {.operators =
           [](const std::string& version) {
             const operators::OperatorVariables variables{
                 .image = "", .operator_image = "", .version = version, .operand_version = ""};
             return std::vector{operators::apiserver::make_operator(variables),
                                operators::controllers::make_operator(variables, ""),
                                operators::scheduler::make_operator(variables)};
           },
       .install =
           [](const sys::Context& context, const operators::recovery::Connect& connect, sys::Files& files,
              const std::string& root, const std::string& node) {
             return operators::installer::keep_installed(context, connect, files, {.root = root, .node = node});
           },
       .approve = [](const sys::Context& context,
                     kube::Api& api) { return operators::approve_requests(context, api, {.follows_table = true}); }});
}

struct Program {
  std::string_view name;     // of the file that was called
  std::string_view command;  // its first argument; "" for a program that has none
  std::string_view usage;
  Result<> (*run)(const operators::Environment& environment, const operators::Arguments& arguments);  // after the command
};

constexpr std::array programs = {
    Program{"certificate-recovery", "start", "FLAGS", run_certificate_recovery},
    Program{"cloud-credential-operator", "operator", "[FLAGS]", operators::run_credentials_operator},
    Program{"cloud-credential-operator", "render", "FLAGS", operators::run_credentials_render},
    Program{"cluster-bootstrap", "bootstrap-in-place", "FLAGS", operators::run_bootstrap_in_place},
    Program{"cluster-bootstrap", "start", "FLAGS", operators::run_bootstrap_start},
    Program{"cluster-bootstrap", "version", "", operators::run_bootstrap_version},
    Program{"cluster-config-operator", "operator", "[FLAGS]", operators::run_config_operator},
    Program{"cluster-config-operator", "render", "FLAGS", operators::run_config_operator_render},
    Program{"cluster-etcd-operator", "operator", "[FLAGS]", operators::etcd::run_operator},
    Program{"cluster-etcd-operator", "render", "FLAGS", operators::etcd::run_render},
    Program{"cluster-etcd-operator", "start-member", "FLAGS -- PROGRAM [ARGUMENT]...", operators::etcd::run_start_member},
    Program{"cluster-etcd-operator", "wait-for-ceo", "FLAGS", operators::etcd::run_wait_for_ceo},
    Program{"cluster-kube-apiserver-operator", "operator", "[FLAGS]", operators::apiserver::run_operator},
    Program{"cluster-kube-apiserver-operator", "render", "FLAGS", operators::apiserver::run_render},
    Program{"cluster-kube-apiserver-operator", "insecure-readyz", "[FLAGS]", operators::apiserver::run_insecure_readyz},
    Program{"cluster-kube-controller-manager-operator", "operator", "[FLAGS]", operators::controllers::run_operator},
    Program{"cluster-kube-controller-manager-operator", "render", "FLAGS", operators::controllers::run_render},
    Program{"cluster-kube-scheduler-operator", "operator", "[FLAGS]", operators::scheduler::run_operator},
    Program{"cluster-kube-scheduler-operator", "render", "FLAGS", operators::scheduler::run_render},
    Program{"cluster-network-operator", "start", "[FLAGS]", operators::network::run_operator},
    Program{"cluster-node-tuning-operator", "render", "FLAGS", operators::run_tuning_render},
    Program{"cluster-policy-controller", "start", "FLAGS", operators::controllers::run_policy_controller},
    Program{"cluster-version-operator", "image", "NAME", operators::run_image},
    Program{"cluster-version-operator", "render", "FLAGS", operators::run_version_render},
    Program{"cluster-version-operator", "start", "FLAGS", operators::run_version_start},
    Program{"discover-etcd-initial-cluster", "", "FLAGS", operators::etcd::run_discover},
    Program{"dns-operator", "", "[FLAGS]", operators::dns::run_operator},
    Program{"ingress-operator", "render", "FLAGS", operators::run_ingress_render},
    Program{"ingress-operator", "start", "[FLAGS]", operators::ingress::run_operator},
    Program{"machine-approver", "operator", "[FLAGS]", operators::approver::run_operator},
    Program{"machine-config-controller", "bootstrap", "FLAGS", operators::run_machine_config_controller_bootstrap},
    Program{"machine-config-controller", "start", "[FLAGS]", operators::run_machine_config_controller},
    Program{"machine-config-operator", "bootstrap", "FLAGS", operators::run_machine_config_operator_bootstrap},
    Program{"machine-config-operator", "start", "[FLAGS]", operators::run_machine_config_operator},
    Program{"machine-config-server", "bootstrap", "[FLAGS]", operators::run_machine_config_server_bootstrap},
    Program{"machine-config-server", "start", "[FLAGS]", operators::run_machine_config_server_start},
    Program{"openshift-router", "start", "[FLAGS]", operators::router::run_start},
    Program{"render", "", "FLAGS", operators::run_config_api_render},
    Program{"run-when-ready", "", "FLAGS -- PROGRAM [ARGUMENT]...", operators::installer::run_when_ready},
    Program{"runtimecfg", "monitor", "KUBECONFIG FLAGS", operators::run_runtimecfg_monitor},
    Program{"runtimecfg", "render", "FLAGS FOLDER", operators::run_runtimecfg_render},
    Program{"static-pod-installer", "start", "[FLAGS]", operators::installer::run_start},
};

int usage() {
  fmt::print(stderr, "This file contains several programs. Call it by one of these names:\n");
  for (const Program& program : programs) fmt::print(stderr, "  {} {} {}\n", program.name, program.command, program.usage);
  return 2;
}

int run(const Program& program, const operators::Arguments& arguments, const sys::StopOnSignal& signals) {
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
