#include "bootstrap/program.h"

#include "bootstrap/copies.h"
#include "bootstrap/stages.h"

#include "base/text.h"
#include "release/release.h"
#include "sys/environment_variable.h"
#include "sys/lock.h"

#include <algorithm>
#include <optional>

namespace slipway::bootstrap {

namespace {

// The machine has about two cores, and the kubelet starts pods at the same time.
constexpr int renders_at_once = 3;

struct Options {
  std::string assets = "/opt/openshift";
  std::string release_image{};
  std::vector<std::string> words{};
};

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (const std::string& argument : arguments) {
    const auto value_of = [&](std::string_view flag) -> std::optional<std::string> {
      if (!argument.starts_with(flag)) return std::nullopt;
      return argument.substr(flag.size());
    };
    if (auto assets = value_of("--assets=")) {
      options.assets = *assets;
    } else if (auto image = value_of("--release-image=")) {
      options.release_image = *image;
    } else if (argument.starts_with("-")) {
      return error(Code::invalid, "unknown option {}", argument);
    } else {
      options.words.push_back(argument);
    }
  }
  return options;
}

Result<Runtime> runtime_of(sys::Files& files) { return TRY(files.info("/usr/bin/crio")) ? Runtime::podman : Runtime::containerd; }

Result<sys::Stage> find_stage(std::vector<sys::Stage> stages, const std::string& name) {
  std::vector<std::string> names;
  for (sys::Stage& stage : stages) {
    if (stage.name == name) return std::move(stage);
    names.push_back(stage.name);
  }
  return error(Code::invalid, "unknown stage '{}' (stages: {})", name, join(names, ", "));
}

}  // namespace

Result<> run_bootstrap(const net::Environment& machine, const std::vector<std::string>& arguments) {
  const Options options = TRY(parse_options(arguments));
  const bool is_all = options.words.empty();
  if (!is_all && (options.words.size() != 2 || options.words.front() != "stage")) {
    return error(Code::invalid, "bootstrap: arguments must be 'stage NAME' or none, got '{}'", join(options.words, " "));
  }
  if (options.release_image.empty()) return error(Code::invalid, "bootstrap: --release-image=IMAGE is required");
  const sys::FileLock lock =
      TRY(sys::FileLock::acquire(options.assets + "/.bootkube.lock", "the bootstrap in " + options.assets));

  Inputs inputs = TRY(read_inputs(machine.files, options.assets, options.release_image));
  inputs.cluster_profile = sys::environment_variable("CLUSTER_PROFILE");
  Containers containers(TRY(runtime_of(machine.files)), machine.runner, renders_at_once);
  TRY(containers.remove_leftovers(machine.context, container_names(inputs)));
  for (const char* folder : {"/manifests", "/bootstrap-manifests"}) {
    TRY(machine.files.make_directories(options.assets + folder, 0700));
    TRY(remove_remains(machine.files, options.assets + folder));
  }
  TRY(remove_remains(machine.files, "/etc/mcc/bootstrap"));
  for (const char* folder : {"manifests", "bootstrap-configs", "bootstrap-manifests"}) {
    TRY(machine.files.make_directories(std::string("/etc/kubernetes/") + folder, 0755));
  }

  std::vector<sys::Stage> all = stages({inputs, machine.files, machine.runner, machine.http, containers});
  std::set<std::string> again = repeated_stages;
  if (!is_all) {
    sys::Stage one = TRY(find_stage(std::move(all), options.words.back()));
    one.needs.clear();
    again = {one.name};
    all = {std::move(one)};
  }
  for (const std::string& name : again) TRY(machine.files.remove(sys::marker_path(options.assets, name)));
  return sys::run_stages(machine.context, machine.files, options.assets, all);
}

Result<> run_image_for(const net::Environment& machine, const std::vector<std::string>& arguments) {
  const Options options = TRY(parse_options(arguments));
  if (options.words.size() != 1) return error(Code::invalid, "image-for: exactly one name of a component is required");
  const std::string path = options.assets + "/image-references";
  const std::string references = TRY(machine.files.read(path));
  const std::string metadata = TRY(machine.files.read(options.assets + "/release-metadata"));
  const release::Release release =
      TRY(release::parse_release(release::Digest::of(references), references, metadata).context(path));
  const release::Component* component = TRY(release.component(options.words.front()));
  machine.print(release::to_string(component->image));
  return Ok{};
}

}  // namespace slipway::bootstrap
