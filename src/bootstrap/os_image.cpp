#include "bootstrap/os_image.h"

#include "base/json.h"
#include "base/text.h"
#include "kube/roles.h"
#include "machineconfig/node_annotations.h"
#include "machineconfig/os_build_files.h"
#include "machineconfig/os_build_limits.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <vector>

namespace slipway::bootstrap {

namespace {

using machineconfig::OsImage;
using sys::Context;
using sys::Observation;

constexpr const char* pool = "master";
constexpr const char* machine_logins = "/root/.docker/config.json";  // the pull secret
namespace limits = machineconfig::os_build_limits;
constexpr Milliseconds between_runs{10'000};
// For the command to end by itself, with a reason.
constexpr Milliseconds end_of_run = std::chrono::minutes(1);
// Of the controller, which renders after its image was pulled.
constexpr Milliseconds limit_of_build_file = std::chrono::minutes(20);
// Begins with the build, and the installer's own limits end before it.
constexpr Milliseconds limit_of_masters = limits::run + std::chrono::hours(1);
// The address of the API may just have moved, and requests to the old machine are lost.
constexpr sys::Pace of_api{Milliseconds(200), Milliseconds(2'000)};

// Written by the controller.
std::string of_controller(const char* name) { return fmt::format("{}/{}/{}", machineconfig::configs_folder, name, pool); }
std::string builds() { return of_controller(machineconfig::os_builds_name); }
std::string logins() { return of_controller(machineconfig::os_logins_name); }
std::string prebuilt() { return of_controller(machineconfig::prebuilt_images_name) + "/image.json"; }

std::string output() { return fmt::format("{}/{}", machineconfig::os_images_folder, pool); }

Result<> wait_for_file(const Context& context, sys::Files& files, const std::string& path, std::string_view what) {
  const auto observe = [&]() -> Result<Observation> {
    if (TRY(files.info(path))) return Observation::done();
    return Observation::not_yet("{} does not exist", path);
  };
  return sys::wait_for(context, what, limit_of_build_file, observe, nullptr, {Milliseconds(100), Milliseconds(1'000)});
}

// The end of a command that recorded no failure.
Error killed(const sys::Output& ended) {
  const std::string_view output = trim(ended.err);
  return error(Code::unavailable, "slipway-node os-image-build ended with status {}: {}", ended.status,
               to_utf8(output.substr(output.rfind('\n') + 1)));
}

// No error of the API ends this: it begins before the API is served, and before the namespace exists.
Result<> record_image(const Context& context, kube::Api& api, const OsImage& image) {
  const Json object = {
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata", {{"name", machineconfig::os_images_config_map}, {"namespace", machineconfig::os_build_space}}},
      {"data", {{pool, emit_json(machineconfig::to_json(image), JsonStyle::compact)}}},
  };
  const auto observe = [&]() -> Result<Observation> {
    const Result<Json> applied = kube::apply(context, api, kube::types::config_maps, object, "slipway-bootstrap");
    if (applied.ok()) return Observation::done();
    if (applied.error().code() == Code::cancelled) return Error(applied.error());
    return Observation::not_yet("{}", applied.error().message());
  };
  return sys::wait_for(context, fmt::format("ConfigMap {} to be created", machineconfig::os_images_config_map), limit_of_masters,
                       observe, nullptr, of_api);
}

}  // namespace

Result<> build_os_image_of_masters(const Context& context, sys::Files& files, sys::Runner& runner) {
  TRY(wait_for_file(context, files, builds() + "/build.json",
                    "the machine config controller to write the build of the OS image"));
  const std::string pull_logins = logins() + "/pull.json";
  const bool has_pull_logins = TRY(files.info(pull_logins)).has_value();
  sys::Command command{.argv = {"/usr/local/bin/slipway-node", "os-image-build", "--folder=" + builds(), "--output=" + output(),
                                fmt::format("--pull-logins={}", has_pull_logins ? pull_logins : machine_logins),
                                "--push-logins=" + logins() + "/push.json"}};
  command.on_line = [&](sys::Stream stream, std::string_view line) {
    if (stream == sys::Stream::err) context.log.info("os-image-build: {}", line);
  };
  const SteadyTime end = context.clock.steady() + limits::run + end_of_run;
  const std::string failure = output() + "/" + machineconfig::os_build_failure_file;
  for (int run = 1;; ++run) {
    command.limit = std::max(std::chrono::duration_cast<Milliseconds>(end - context.clock.steady()), Milliseconds(1));
    const sys::Output ended = TRY(runner.run(context, command));
    if (ended.status == 0) return Ok{};
    // The command has tried again whatever may succeed then. Only a kill leaves no record.
    const Result<std::optional<Error>> recorded = machineconfig::read_os_failure(files, failure);
    if (recorded.ok() && recorded.value()) return *recorded.value();
    if (run == limits::runs) return killed(ended);
    context.log.warn("{}; running it again", killed(ended).message());
    if (!sys::pause(context, between_runs)) return error(Code::cancelled, "stopped before the next run of os-image-build");
  }
}

Result<std::optional<OsImage>> os_image_of_masters(sys::Files& files) {
  std::optional<OsImage> image = TRY(machineconfig::read_os_image(files, output() + "/image.json"));
  return image ? image : TRY(machineconfig::read_os_image(files, prebuilt()));
}

std::optional<std::string> masters_with_other_images(const kube::Objects& masters, const std::string& image) {
  if (masters.empty()) return "no master has joined";
  std::vector<std::string> others;
  for (const Json& node : masters) {
    const std::string current = text_of(node, {"metadata", "annotations", machineconfig::current_image});
    if (current == image) continue;
    others.push_back(fmt::format("{} runs {}", kube::name_of(node), current.empty() ? "the image of the release" : current));
  }
  return others.empty() ? std::nullopt : std::optional(join(others, ", "));
}

Result<> wait_for_os_image_of_masters(const Context& context, sys::Files& files, kube::Api& api) {
  std::optional<OsImage> image;
  const auto observe = [&]() -> Result<Observation> {
    image = TRY(os_image_of_masters(files));
    return image ? Observation::done() : Observation::not_yet("{} does not exist", prebuilt());
  };
  TRY(sys::wait_for(context, "the image of the masters", limit_of_build_file, observe, nullptr,
                    {Milliseconds(100), Milliseconds(1'000)}));
  TRY(record_image(context, api, *image));
  const std::string name = image->image();
  return kube::wait_until(context, api, "every master to run " + name, limit_of_masters, kube::types::nodes, "",
                          {.labels = std::string(kube::master_label)},
                          [&](const kube::Objects& masters) -> Result<std::optional<std::string>> {
                            return masters_with_other_images(masters, name);
                          });
}

}  // namespace slipway::bootstrap
