#include "bootstrap/stages.h"

#include "bootstrap/checks.h"
#include "bootstrap/copies.h"
#include "bootstrap/handover.h"
#include "bootstrap/in_place.h"
#include "bootstrap/renders.h"

#include "sys/wait_for.h"

namespace slipway::bootstrap {

namespace {

using sys::Context;
using sys::Stage;
using Work = std::function<Result<>(const Context&)>;

constexpr const char* frozen = "freeze-manifests";
constexpr int tries_of_api = 3;                              // its address may have moved a moment ago
const std::string for_users = "auth/kubeconfig";             // leads to the masters by the name for users
const std::string for_machines = "auth/kubeconfig-kubelet";  // and by the one for machines

// Runs a render into a new folder.
Work make(const Engine& engine, const Render& render, int rank) {
  return [=](const Context& context) -> Result<> {
    const std::string& assets = engine.inputs.assets;
    TRY(engine.files.remove(assets + "/" + render.output));
    TRY(engine.files.make_directories(assets + "/" + render.output, 0700));
    if (render.pair.size() == 2) {
      const std::string first = assets + "/" + render.pair[0], second = assets + "/" + render.pair[1];
      const bool has_first = TRY(engine.files.info(first)).has_value(), has_second = TRY(engine.files.info(second)).has_value();
      if (has_first != has_second) TRY(engine.files.remove(has_first ? first : second));
    }
    return engine.containers.run(context, render.container, rank);
  };
}

// Puts what a render made where it belongs. It may be repeated, the render not: a second run makes other certificates.
Work place(const Engine& engine, const Render& render) {
  return [=](const Context&) -> Result<> {
    for (const std::string& folder : render.folders) TRY(engine.files.make_directories(folder, 0700));
    return copy_all(engine.files, engine.inputs.assets, render.copies);
  };
}

void add_render(std::vector<Stage>& stages, const Engine& engine, const Render& render, std::vector<std::string> needs,
                int rank) {
  needs.insert(needs.end(), render.needs.begin(), render.needs.end());
  std::vector<std::string> place_needs = {render.container.name};
  place_needs.insert(place_needs.end(), render.place_needs.begin(), render.place_needs.end());
  stages.push_back({.name = render.container.name, .needs = needs, .run = make(engine, render, rank), .applies = render.applies});
  stages.push_back({.name = render.stage, .needs = place_needs, .run = place(engine, render), .applies = render.applies});
}

Work copy(const Engine& engine, std::vector<Copy> copies) {
  return [=](const Context&) { return copy_all(engine.files, engine.inputs.assets, copies); };
}

Work freeze(const Engine& engine) {
  return [=](const Context&) {
    return freeze_folder(engine.files, engine.inputs.assets + "/manifests", engine.inputs.assets + "/" + frozen_manifests);
  };
}

// What cluster-bootstrap says while it works, for it ends long after a manifest was refused. That is told at once, too: nothing
// but its user can mend it.
void hear_cluster_bootstrap(const Context& context, std::string_view line) {
  constexpr std::string_view warning = "warning: ";
  context.log.info("cluster-bootstrap: {}", line);
  if (!line.starts_with(warning)) return;
  if (line.find(" is refused: ") == std::string_view::npos && line.find(" waits: ") == std::string_view::npos) return;
  context.events.emit({.kind = "check",
                       .name = "manifests",
                       .phase = sys::Phase::failed,
                       .error = Error(Code::invalid, std::string(line.substr(warning.size())))});
}

Work run_cluster_bootstrap(const Engine& engine) {
  return [=](const Context& context) -> Result<> {
    const Result<> result = engine.containers.run(context, cluster_bootstrap(engine.inputs), 0,
                                                  [&](std::string_view line) { hear_cluster_bootstrap(context, line); });
    if (!result.ok() && result.error().code() != Code::cancelled) {
      TRY(remove_temporary_control_plane(engine.files, engine.inputs.assets));
    }
    return result;
  };
}

Work ask_etcd(const Engine& engine, Result<> (*ask)(const Context&, sys::Files&, net::Http&, const std::string& assets)) {
  return [=](const Context& context) { return ask(context, engine.files, engine.http, engine.inputs.assets); };
}

// Work on the cluster's API, reached as its users do: by the time it is done, the machine here serves it no more.
Work on_api(const Engine& engine, std::function<Result<>(const Context&, kube::Api&)> work) {
  return [=](const Context& context) -> Result<> {
    const std::string path = engine.inputs.assets + "/" + for_users;
    kube::Access access = TRY(kube::read_kubeconfig(engine.files, path));
    kube::Client api(engine.http, std::move(access));
    return work(context, api);
  };
}

Work restore(const Engine& engine) {
  return on_api(engine, [=](const Context& context, kube::Api& api) -> Result<> {
    const std::string path = engine.inputs.assets + "/original_cvo_overrides.patch";
    const std::string text = TRY(engine.files.read(path));
    const Json patch = TRY(parse_json(text, path));
    return restore_overrides(context, api, patch);
  });
}

Work make_own_config(const Engine& engine) {
  return [=](const Context& context) -> Result<> {
    const std::string& assets = engine.inputs.assets;
    TRY(fetch_master_config(context, engine.files, engine.http, assets));
    TRY(gather_logs(context, engine.runner, assets).context("keeping the log of this system"));
    return engine.containers.run(context, bootstrap_in_place(engine.inputs), 0);
  };
}

Work resolve_name(const Engine& engine, Check check, std::string kubeconfig) {
  return [=](const Context& context) {
    return run_check(context, engine.files, engine.inputs.assets, check, [&]() -> Result<> {
      const std::string host = TRY(api_host(engine.files, engine.inputs.assets, kubeconfig));
      return resolve(context, engine.runner, host);
    });
  };
}

Work reach_api(const Engine& engine, Check check, std::string kubeconfig) {
  return [=](const Context& context) {
    return run_check(context, engine.files, engine.inputs.assets, check, [&]() -> Result<> {
      const std::string host = TRY(api_host(engine.files, engine.inputs.assets, kubeconfig));
      return sys::retry<Ok>(context, tries_of_api, {Milliseconds(100), Milliseconds(500)},
                            [&]() -> Result<> { return ask_readyz(context, engine.http, host); });
    });
  };
}

}  // namespace

const std::set<std::string> asked_again = {"wait-for-etcd-process", "wait-for-etcd", "wait-for-ceo"};

std::vector<Stage> stages(const Engine& engine) {
  const Inputs& inputs = engine.inputs;
  std::vector<Stage> list;

  // The manifests that everything is rendered from.
  list.push_back({.name = "openshift-manifests", .run = copy(engine, {{"openshift", "manifests", true}})});
  add_render(list, engine, api_render(inputs), {}, 0);
  list.push_back({.name = frozen, .needs = {"api-bootstrap"}, .run = freeze(engine)});

  // Every component makes its share, several at once. Placed results start etcd and the machine config server.
  std::vector<std::string> all_rendered;
  int rank = 0;
  for (const Render& render : renders(inputs)) {
    add_render(list, engine, render, {frozen}, ++rank);
    all_rendered.push_back(render.stage);
  }
  list.push_back({.name = "resolve-api-url", .run = resolve_name(engine, {"resolve-api-url", "api-dns-resolved"}, for_users)});
  list.push_back({.name = "resolve-api-int-url",
                  .run = resolve_name(engine, {"resolve-api-int-url", "api-int-dns-resolved"}, for_machines)});

  // A control plane here, which becomes one on the masters. A new etcd has no leader for up to a second; the API server starts
  // meanwhile.
  list.push_back({.name = "wait-for-etcd-process",
                  .needs = {"etcd-bootstrap"},
                  .run = ask_etcd(engine, wait_for_etcd_process),
                  .applies = !inputs.etcd_stopped});
  list.push_back({.name = "wait-for-etcd",
                  .needs = {"wait-for-etcd-process"},
                  .run = ask_etcd(engine, wait_for_etcd),
                  .applies = !inputs.etcd_stopped});
  std::vector<std::string> all_ready = all_rendered;
  all_ready.push_back("wait-for-etcd-process");
  list.push_back({.name = "cb-bootstrap", .needs = all_ready, .run = run_cluster_bootstrap(engine)});

  // From here on etcd has the cluster; nothing above may run again. Either the masters take it over; each of these asks an API
  // server that has only just started, so all ask at once ...
  const bool has_masters = !inputs.in_place;
  list.push_back({.name = "cvo-overrides",
                  .needs = {"cb-bootstrap"},
                  .run = restore(engine),
                  .applies = has_masters && inputs.has_overrides});
  list.push_back({.name = "stop-machine-config-server",
                  .needs = {"cb-bootstrap"},
                  .run = [=](const Context&) { return stop_machine_config_server(engine.files); },
                  .applies = has_masters});
  list.push_back({.name = "wait-for-ceo",
                  .needs = {"cb-bootstrap"},
                  .run = on_api(engine, wait_for_etcd_in_cluster),
                  .applies = has_masters});
  list.push_back({.name = "check-api-url",
                  .needs = {"cb-bootstrap"},
                  .run = reach_api(engine, {"check-api-url", "api-dns-check"}, for_users),
                  .applies = has_masters});
  list.push_back({.name = "check-api-int-url",
                  .needs = {"cb-bootstrap"},
                  .run = reach_api(engine, {"check-api-int-url", "api-int-dns-check"}, for_machines),
                  .applies = has_masters});

  // ... or this machine, when it is installed.
  list.push_back({.name = "stop-etcd",
                  .needs = {"wait-for-etcd", "cb-bootstrap"},
                  .run = [=](const Context& context) { return stop_etcd(context, engine.files, engine.runner); },
                  .applies = inputs.in_place});
  list.push_back({.name = "master-ignition", .needs = {"stop-etcd"}, .run = make_own_config(engine), .applies = inputs.in_place});
  list.push_back({.name = "bootkube",
                  .needs = {"wait-for-etcd", "cvo-overrides", "stop-machine-config-server", "wait-for-ceo", "check-api-url",
                            "check-api-int-url", "resolve-api-url", "resolve-api-int-url", "master-ignition"},
                  .run = [=](const Context&) { return engine.files.write(engine.inputs.assets + "/" + done_file, "", 0644); }});
  return list;
}

std::set<std::string> container_names(const Inputs& inputs) {
  std::set<std::string> names = {api_render(inputs).container.name, cluster_bootstrap(inputs).name,
                                 bootstrap_in_place(inputs).name};
  for (const Render& render : renders(inputs)) names.insert(render.container.name);
  return names;
}

}  // namespace slipway::bootstrap
