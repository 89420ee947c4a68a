#include "bootstrap/stages.h"

#include "bootstrap/checks.h"
#include "bootstrap/copies.h"
#include "bootstrap/in_place.h"
#include "bootstrap/last_steps.h"
#include "bootstrap/os_image.h"
#include "bootstrap/renders.h"

#include "sys/wait_for.h"

namespace slipway::bootstrap {

namespace {

using sys::Context;
using sys::Stage;
using Work = std::function<Result<>(const Context&)>;

constexpr const char* frozen = "freeze-manifests";
constexpr int readyz_attempts = 3;                           // a request fails if the API's address moves meanwhile
const std::string for_users = "auth/kubeconfig";             // its server is api.CLUSTER.DOMAIN
const std::string for_machines = "auth/kubeconfig-kubelet";  // its server is api-int.CLUSTER.DOMAIN

// Runs a render with an empty output folder.
//
//   rank  priority among waiting containers; lower ranks run first
Work run_render(const Engine& engine, const Render& render, int rank) {
  return [=](const Context& context) -> Result<> {
    const std::string& assets = engine.inputs.assets;
    TRY(engine.files.remove(assets + "/" + render.output));
    TRY(engine.files.make_directories(assets + "/" + render.output, 0700));
    if (render.pair.size() == 2) {  // two files that are valid only together (renders.h)
      const std::string first = assets + "/" + render.pair[0], second = assets + "/" + render.pair[1];
      const bool has_first = TRY(engine.files.info(first)).has_value(), has_second = TRY(engine.files.info(second)).has_value();
      if (has_first != has_second) TRY(engine.files.remove(has_first ? first : second));
    }
    return engine.containers.run(context, render.container, rank);
  };
}

// Copies the output of a render to its places. This may be repeated, but the render may not: a second run creates other
// certificates.
Work copy_output(const Engine& engine, const Render& render) {
  return [=](const Context&) -> Result<> {
    for (const std::string& folder : render.folders) TRY(engine.files.make_directories(folder, 0700));
    return copy_all(engine.files, engine.inputs.assets, render.copies);
  };
}

void add_render(std::vector<Stage>& stages, const Engine& engine, const Render& render, std::vector<std::string> needs,
                int rank) {
  needs.insert(needs.end(), render.needs.begin(), render.needs.end());
  std::vector<std::string> copy_needs = {render.container.name};
  copy_needs.insert(copy_needs.end(), render.copy_needs.begin(), render.copy_needs.end());
  stages.push_back(
      {.name = render.container.name, .needs = needs, .run = run_render(engine, render, rank), .applies = render.applies});
  stages.push_back({.name = render.stage, .needs = copy_needs, .run = copy_output(engine, render), .applies = render.applies});
}

Work copy(const Engine& engine, std::vector<Copy> copies) {
  return [=](const Context&) { return copy_all(engine.files, engine.inputs.assets, copies); };
}

Work freeze(const Engine& engine) {
  return [=](const Context&) {
    return freeze_folder(engine.files, engine.inputs.assets + "/manifests", engine.inputs.assets + "/" + frozen_manifests);
  };
}

// Logs a line of cluster-bootstrap's output. A line about a manifest that the API refuses is also reported as a failed check at
// once: only the user can correct the manifest, and cluster-bootstrap itself retries for a long time before it fails.
void report_line(const Context& context, std::string_view line) {
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
                                                  [&](std::string_view line) { report_line(context, line); });
    if (!result.ok() && result.error().code() != Code::cancelled) {
      TRY(remove_temporary_control_plane(engine.files, engine.inputs.assets));
    }
    return result;
  };
}

Work wait_on_etcd(const Engine& engine, Result<> (*wait)(const Context&, sys::Files&, net::Http&, const std::string& assets)) {
  return [=](const Context& context) { return wait(context, engine.files, engine.http, engine.inputs.assets); };
}

// Work on the API of the cluster. It uses the server api.CLUSTER.DOMAIN, because this machine stops serving the API before the
// work ends.
Work on_api(const Engine& engine, std::function<Result<>(const Context&, kube::Api&)> work) {
  return [=](const Context& context) -> Result<> {
    const std::string path = engine.inputs.assets + "/" + for_users;
    kube::Access access = TRY(kube::read_kubeconfig(engine.files, path));
    kube::Client api(engine.http, std::move(access));
    return work(context, api);
  };
}

Work restore_user_overrides(const Engine& engine) {
  return on_api(engine, [=](const Context& context, kube::Api& api) -> Result<> {
    const std::string path = engine.inputs.assets + "/original_cvo_overrides.patch";
    const std::string text = TRY(engine.files.read(path));
    const Json patch = TRY(parse_json(text, path));
    return restore_overrides(context, api, patch);
  });
}

Work write_own_config(const Engine& engine) {
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

Work check_readyz(const Engine& engine, Check check, std::string kubeconfig) {
  return [=](const Context& context) {
    return run_check(context, engine.files, engine.inputs.assets, check, [&]() -> Result<> {
      const std::string host = TRY(api_host(engine.files, engine.inputs.assets, kubeconfig));
      return sys::retry<Ok>(context, readyz_attempts, {Milliseconds(100), Milliseconds(500)},
                            [&]() -> Result<> { return ask_readyz(context, engine.http, host); });
    });
  };
}

// The manifests that all components are rendered from.
void add_manifests(std::vector<Stage>& stages, const Engine& engine) {
  stages.push_back({.name = "openshift-manifests", .run = copy(engine, {{"openshift", "manifests", true}})});
  add_render(stages, engine, api_render(engine.inputs), {}, 0);
  stages.push_back({.name = frozen, .needs = {"api-bootstrap"}, .run = freeze(engine)});
}

// Adds two stages for each component: its render, and the stage that copies the rendered files to their places. Several renders
// run concurrently. The kubelet starts etcd and the machine-config-server when their static pods are copied. Returns the names of
// the stages that copy.
std::vector<std::string> add_components(std::vector<Stage>& stages, const Engine& engine) {
  std::vector<std::string> names;
  int rank = 0;
  for (const Render& render : renders(engine.inputs)) {
    add_render(stages, engine, render, {frozen}, ++rank);
    names.push_back(render.stage);
  }
  return names;
}

// The temporary control plane on this machine, until the masters run theirs. A new etcd has no leader for up to a second. The
// stages do not wait for the leader before they start the API server.
void add_control_plane(std::vector<Stage>& stages, const Engine& engine, std::vector<std::string> needs) {
  stages.push_back({.name = "wait-for-etcd-process",
                    .needs = {"etcd-bootstrap"},
                    .run = wait_on_etcd(engine, wait_for_etcd_process),
                    .applies = !engine.inputs.etcd_stopped});
  stages.push_back({.name = "wait-for-etcd",
                    .needs = {"wait-for-etcd-process"},
                    .run = wait_on_etcd(engine, wait_for_etcd),
                    .applies = !engine.inputs.etcd_stopped});
  needs.push_back("wait-for-etcd-process");
  stages.push_back({.name = "cb-bootstrap", .needs = std::move(needs), .run = run_cluster_bootstrap(engine)});
}

// Image mode. The masters ask for their config until the image exists. The second stage begins before the API is served, so that
// the controller of the cluster finds the image.
void add_os_image(std::vector<Stage>& stages, const Engine& engine) {
  const config::ImageMode mode = engine.inputs.image_mode;
  stages.push_back(
      {.name = "os-image-build",
       .needs = {"mco-bootstrap"},
       .run = [=](const Context& context) { return build_os_image_of_masters(context, engine.files, engine.runner); },
       .applies = mode == config::ImageMode::build_on_bootstrap});
  stages.push_back(
      {.name = "os-image-of-masters",
       .needs = {"os-image-build", "wait-for-etcd-process"},
       .run = on_api(engine, [=](const Context& context,
                                 kube::Api& api) { return wait_for_os_image_of_masters(context, engine.files, api); }),
       .applies = mode != config::ImageMode::none && !engine.inputs.in_place});
}

// The last steps of an installation with separate masters. Most of them send requests to an API server that has just started and
// answers slowly, so all run concurrently.
void add_last_steps(std::vector<Stage>& stages, const Engine& engine) {
  const bool has_masters = !engine.inputs.in_place;
  stages.push_back({.name = "cvo-overrides",
                    .needs = {"cb-bootstrap"},
                    .run = restore_user_overrides(engine),
                    .applies = has_masters && engine.inputs.has_overrides});
  stages.push_back({.name = "stop-machine-config-server",
                    .needs = {"cb-bootstrap", "os-image-of-masters"},
                    .run = [=](const Context&) { return stop_machine_config_server(engine.files); },
                    .applies = has_masters});
  stages.push_back({.name = "wait-for-ceo",
                    .needs = {"cb-bootstrap"},
                    .run = on_api(engine, wait_for_etcd_in_cluster),
                    .applies = has_masters});
  stages.push_back({.name = "check-api-url",
                    .needs = {"cb-bootstrap"},
                    .run = check_readyz(engine, {"check-api-url", "api-dns-check"}, for_users),
                    .applies = has_masters});
  stages.push_back({.name = "check-api-int-url",
                    .needs = {"cb-bootstrap"},
                    .run = check_readyz(engine, {"check-api-int-url", "api-int-dns-check"}, for_machines),
                    .applies = has_masters});
}

// The last steps when this machine becomes the only node.
void add_in_place_steps(std::vector<Stage>& stages, const Engine& engine) {
  const bool in_place = engine.inputs.in_place;
  stages.push_back({.name = "stop-etcd",
                    .needs = {"wait-for-etcd", "cb-bootstrap"},
                    .run = [=](const Context& context) { return stop_etcd(context, engine.files, engine.runner); },
                    .applies = in_place});
  stages.push_back({.name = "master-ignition", .needs = {"stop-etcd"}, .run = write_own_config(engine), .applies = in_place});
}

}  // namespace

const std::set<std::string> repeated_stages = {"wait-for-etcd-process", "wait-for-etcd", "wait-for-ceo"};

std::vector<Stage> stages(const Engine& engine) {
  std::vector<Stage> list;
  add_manifests(list, engine);
  std::vector<std::string> components = add_components(list, engine);
  list.push_back({.name = "resolve-api-url", .run = resolve_name(engine, {"resolve-api-url", "api-dns-resolved"}, for_users)});
  list.push_back({.name = "resolve-api-int-url",
                  .run = resolve_name(engine, {"resolve-api-int-url", "api-int-dns-resolved"}, for_machines)});
  add_control_plane(list, engine, std::move(components));
  add_os_image(list, engine);
  // From here on etcd has the state of the cluster; no earlier stage may run again.
  add_last_steps(list, engine);
  add_in_place_steps(list, engine);
  list.push_back({.name = "bootkube",
                  .needs = {"wait-for-etcd", "cvo-overrides", "os-image-of-masters", "stop-machine-config-server", "wait-for-ceo",
                            "check-api-url", "check-api-int-url", "resolve-api-url", "resolve-api-int-url", "master-ignition"},
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
