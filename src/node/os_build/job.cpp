#include "node/os_build/job.h"

#include "base/digest.h"
#include "base/flags.h"
#include "kube/pod_access.h"
#include "machineconfig/os_config.h"
#include "node/os_build/leftovers.h"
#include "sys/environment_variable.h"
#include "sys/root.h"

#include <array>
#include <optional>
#include <utility>

namespace slipway::node {

namespace {

namespace mc = machineconfig;

constexpr sys::Mode secret_mode = 0600;
constexpr const char* push_logins = "push-logins.json";
constexpr const char* pull_logins = "pull-logins.json";

// The logins of a Secret whose keys are files of a folder.
Result<Secret> read_logins(sys::Files& files, const std::string& folder, const OsBuildJob& job, const std::string& name) {
  constexpr std::array types = {std::pair{".dockerconfigjson", "kubernetes.io/dockerconfigjson"},
                                std::pair{".dockercfg", "kubernetes.io/dockercfg"}};
  for (const auto& [key, type] : types) {
    const std::optional<std::string> content = TRY(files.read_if_exists(folder + "/" + key));
    if (!content) continue;
    const Json secret = {{"type", type}, {"data", {{key, base64_encode(*content)}}}};
    return mc::logins_of(secret).context("Secret " + job.space + "/" + name);
  }
  return error(Code::not_found, "Secret {}/{}: it does not exist or has no logins (create it with type {})", job.space, name,
               types.front().second);
}

}  // namespace

Result<OsBuildOptions> put_build(sys::Files& files, const OsBuildJob& job) {
  std::vector<std::string> parts;
  while (true) {
    std::optional<std::string> part = TRY(files.read_if_exists(fmt::format("{}/{}.{}", job.inputs, mc::input_key, parts.size())));
    if (!part) break;
    parts.push_back(std::move(*part));
  }
  const mc::BuildInputs inputs = TRY(mc::unpack_inputs(parts));
  const std::string on_machine = os_build_folder(job.name), folder = job.root == "/" ? on_machine : job.root + on_machine;
  OsBuildOptions options{.folder = on_machine + "/build", .output = on_machine + "/output", .has_cache = job.has_cache};
  // Of an earlier attempt; the output of that stays.
  TRY(files.remove(folder + "/build"));
  for (const mc::BuildFile& file : inputs.files) TRY(files.write(folder + "/build/" + file.path, file.content, file.mode));
  TRY(files.write(folder + "/build/build.json", emit_json(mc::to_json(inputs.build), JsonStyle::pretty), 0644));
  const Secret push = TRY(read_logins(files, job.inputs + "/push", job, job.push_secret));
  TRY(files.write(folder + "/" + push_logins, push.reveal(), secret_mode));
  options.push_logins = on_machine + "/" + push_logins;
  if (job.pull_secret.empty()) return options;
  const Secret pull = TRY(read_logins(files, job.inputs + "/pull", job, job.pull_secret));
  TRY(files.write(folder + "/" + pull_logins, pull.reveal(), secret_mode));
  options.pull_logins = on_machine + "/" + pull_logins;
  return options;
}

Result<> build_and_report(const Environment& environment, kube::Api& api, const OsBuildJob& job,
                          const Result<OsBuildOptions>& options,
                          const std::function<Result<mc::OsImage>(const OsBuildOptions&)>& build) {
  const Result<mc::OsImage> image = options.ok() ? build(options.value()) : Result<mc::OsImage>(options.error());
  const std::string folder = os_build_folder(job.name);
  if (!image.ok() && image.error().code() == Code::unavailable) {
    for (const char* file : {push_logins, pull_logins}) TRY(environment.files.remove(folder + "/" + file));
  } else if (!image.ok()) {
    TRY(environment.files.remove(folder));
    if (image.error().code() == Code::cancelled) return image.error();
  }
  Json object =
      image.ok() ? mc::result_object(image.value()) : mc::failure_object(job.name, job.pod, mc::failure_of(image.error()));
  object.as_object()["metadata"].as_object()["namespace"] = job.space;
  const Result<Json> written = kube::create(environment.context, api, kube::types::config_maps, object);
  // An attempt that was killed at its end has written the same result.
  if (!written.ok() && written.error().code() != Code::conflict) return written.error();
  if (!image.ok()) return image.error();
  return environment.files.remove(folder);
}

Result<> run_os_image_build_job(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("os-image-build-job",
                                      {{.name = "name", .required = true},
                                       {.name = "namespace", .required = true},
                                       {.name = "push-secret", .required = true},
                                       {.name = "pull-secret"},
                                       {.name = "inputs", .fallback = "/inputs"},
                                       {.name = "root-mount", .fallback = "/rootfs"},
                                       {.name = "no-cache", .is_switch = true}},
                                      arguments));
  const OsBuildJob job{.name = flags.text("name"),
                       .pod = sys::environment_variable("POD_NAME", ""),
                       .space = flags.text("namespace"),
                       .inputs = flags.text("inputs"),
                       .push_secret = flags.text("push-secret"),
                       .pull_secret = flags.text("pull-secret"),
                       .root = flags.text("root-mount"),
                       .has_cache = !flags.is_set("no-cache")};
  if (job.pod.empty()) return error(Code::invalid, "os-image-build-job: the environment variable POD_NAME is not set");
  kube::Access access = TRY(kube::pod_access(environment.files));
  const std::string root = job.root == "/" ? "" : job.root;
  const sys::FileLock machine = TRY(wait_for_machine(environment.context, root));
  TRY(remove_other_builds(environment.files, root, job.name));
  const Result<OsBuildOptions> options = put_build(environment.files, job);
  if (job.root != "/") TRY(sys::enter_root(job.root));
  kube::Client api(environment.http, std::move(access));
  return build_and_report(environment, api, job, options,
                          [&](const OsBuildOptions& put) { return build_os_image(environment, put); });
}

}  // namespace slipway::node
