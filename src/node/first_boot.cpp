#include "node/first_boot.h"

#include "base/flags.h"
#include "base/text.h"
#include "machineconfig/types.h"
#include "node/os_status.h"
#include "release/commit_metadata.h"

#include <algorithm>

namespace slipway::node {

namespace {

constexpr const char* repository = "/ostree/repo";

Result<std::string> booted_image(const Environment& environment) {
  const std::string status =
      TRY(sys::run_checked(environment.runner, environment.context, {.argv = {"ostree", "admin", "status"}}));
  const auto commit = booted_commit(status);
  if (!commit) return error(Code::not_found, "no booted deployment in the output of ostree admin status");
  return release::commit_metadata(environment.context, environment.runner, repository, *commit, "slipway.image");
}

// Reports settings that cannot be applied to a running kernel, or at all in a container.
void report_kernel(const Environment& environment, const machineconfig::MachineConfig& config) {
  const auto command_line = environment.files.read_if_exists("/proc/cmdline");
  const std::string words = command_line.ok() ? command_line->value_or("") : "";
  const std::vector<std::string_view> present = split(trim(words), ' ');
  std::vector<std::string> missing;
  for (const std::string& argument : config.kernel_arguments) {
    if (std::ranges::find(present, argument) == present.end()) missing.push_back(argument);
  }
  if (!missing.empty()) {
    environment.context.log.warn("kernel arguments of the config are not set on this machine: {}; continuing without",
                                 join(missing, " "));
  }
  const auto fips = environment.files.read_if_exists("/proc/sys/crypto/fips_enabled");
  const bool has_fips = fips.ok() && fips.value() && trim(*fips.value()) == "1";
  if (config.fips != has_fips) {
    environment.context.log.warn("the config has FIPS mode {}, the kernel has {}; continuing", config.fips ? "on" : "off",
                                 has_fips ? "on" : "off");
  }
}

Result<> complete(const Environment& environment, const std::string& file) {
  const std::string text = TRY(environment.files.read(file));
  const Json object = TRY(parse_json(text, file));
  const machineconfig::MachineConfig config = TRY(machineconfig::parse_machine_config(object, file));
  report_kernel(environment, config);
  if (!config.os_image_url.empty()) {
    const auto wanted = digest_of(config.os_image_url);
    if (!wanted) return error(Code::invalid, "{}: osImageURL {} has no digest", file, config.os_image_url);
    const std::string booted = TRY(booted_image(environment).context("reading the booted operating system"));
    if (booted != *wanted) {
      return error(Code::conflict,
                   "the machine runs the operating system of image {}, but {} requires {} (this version cannot change it; create "
                   "the machine from the image of its release)",
                   booted, file, *wanted);
    }
  }
  return environment.files.remove(file);
}

}  // namespace

std::optional<std::string> booted_commit(std::string_view status) {
  for (const Deployment& deployment : parse_deployments(status)) {
    if (deployment.booted) return deployment.commit;
  }
  return std::nullopt;
}

std::optional<std::string> digest_of(std::string_view image) {
  const std::size_t at = image.rfind('@');
  if (at == std::string_view::npos || !image.substr(at + 1).starts_with("sha256:")) return std::nullopt;
  return std::string(image.substr(at + 1));
}

Result<> run_first_boot(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(
      parse_flags("firstboot-complete-machineconfig",
                  {{.name = "machineconfig-file", .required = true, .fallback = "/etc/ignition-machine-config-encapsulated.json"},
                   {.name = "persist-nics", .is_switch = true}},
                  arguments));
  const std::string& file = flags.text("machineconfig-file");
  if (!TRY(environment.files.info(file))) return Ok{};  // an earlier run removed it
  sys::Span span(environment.context.events, environment.context.clock, "first-boot", file);
  return span.end(complete(environment, file));
}

}  // namespace slipway::node
