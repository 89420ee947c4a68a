#include "node/os_update/command.h"

#include "node/os_update/host_updater.h"
#include "node/os_update/ostree_updater.h"
#include "node/os_update/status.h"
#include "node/registry_access.h"
#include "release/registry_client.h"
#include "sys/own_mounts.h"

#include <array>
#include <memory>

namespace slipway::node {

namespace {

using OpenSource = OstreeUpdater::OpenSource;

Result<std::unique_ptr<release::ImageSource>> open_registries(const Environment& environment) {
  release::RegistryOptions options = TRY(registry_access(environment.context, environment.files));
  return std::unique_ptr<release::ImageSource>(std::make_unique<release::RegistryClient>(environment.http, std::move(options)));
}

Result<Wanted> parse_wanted(const std::string& text) {
  for (const Wanted wanted : {Wanted::next_config, Wanted::first_config}) {
    if (to_text(wanted) == text) return wanted;
  }
  return error(Code::invalid, "os stage: '{}' is unknown; the configs are next-config and first-config", text);
}

Result<> give_up(OstreeUpdater& updater, const Environment& environment) {
  if (!TRY(updater.give_up())) return Ok{};
  environment.context.log.error("the new deployment was not accepted in time; the machine boots the deployment before it");
  TRY(sys::run_checked(environment.runner, environment.context, {.argv = {"systemctl", "reboot"}}));
  return Ok{};
}

struct Verb {
  std::string_view name;
  std::string_view argument;  // its name, "" for none
  bool changes = false;       // needs a writable /sysroot and /boot
  Result<> (*run)(OstreeUpdater& updater, const Environment& environment, const std::string& argument);
};

constexpr std::array verbs = {
    Verb{"status", "", false, [](OstreeUpdater&, const Environment& e, const std::string&) { return show_os_status(e); }},
    Verb{"trial", "", false,
         [](OstreeUpdater& updater, const Environment& e, const std::string&) -> Result<> {
           e.print(to_text(TRY(updater.trial())));
           return Ok{};
         }},
    Verb{"fetch", "IMAGE", true,
         [](OstreeUpdater& updater, const Environment&, const std::string& image) { return updater.fetch(image); }},
    Verb{"stage", "CONFIG", true,
         [](OstreeUpdater& updater, const Environment&, const std::string& config) -> Result<> {
           return updater.stage(TRY(parse_wanted(config)));
         }},
    Verb{"accept", "", true, [](OstreeUpdater& updater, const Environment&, const std::string&) { return updater.accept(); }},
    Verb{"forget", "", true, [](OstreeUpdater& updater, const Environment&, const std::string&) { return updater.forget(); }},
    Verb{"give-up", "", true,
         [](OstreeUpdater& updater, const Environment& e, const std::string&) { return give_up(updater, e); }},
};

Error usage() {
  std::string text = "usage:";
  for (const Verb& verb : verbs) {
    text += fmt::format(" slipway-node os {}{}{};", verb.name, verb.argument.empty() ? "" : " ", verb.argument);
  }
  text.pop_back();
  return Error(Code::invalid, std::move(text));
}

}  // namespace

Result<> run_os_command(const Environment& environment, const Arguments& arguments) {
  for (const Verb& verb : verbs) {
    if (arguments.empty() || arguments[0] != verb.name) continue;
    if (arguments.size() != (verb.argument.empty() ? 1u : 2u)) return usage();
    if (verb.changes) TRY(sys::make_writable({"/sysroot", "/boot"}));
    OstreeUpdater updater(environment, [&environment] { return open_registries(environment); });
    return verb.run(updater, environment, verb.argument.empty() ? "" : arguments[1]);
  }
  return usage();
}

}  // namespace slipway::node
