#include "node/os_update/command.h"

#include "node/os_update/host_updater.h"
#include "node/os_update/machine_updater.h"
#include "node/os_update/status.h"
#include "sys/own_mounts.h"

#include <array>
#include <memory>
#include <set>

namespace slipway::node {

namespace {

Result<Wanted> parse_wanted(const std::string& text) {
  for (const Wanted wanted : {Wanted::next_config, Wanted::first_config}) {
    if (to_text(wanted) == text) return wanted;
  }
  return error(Code::invalid, "os stage: '{}' is unknown; the configs are next-config and first-config", text);
}

// IMAGE [IMAGE-OF-EXTENSIONS EXTENSION...]
Images parse_images(const Arguments& arguments) {
  Images images{.os = arguments[0]};
  if (arguments.size() == 1) return images;
  images.extensions = arguments[1];
  const std::set<std::string> names(arguments.begin() + 2, arguments.end());
  images.wanted_extensions.assign(names.begin(), names.end());
  return images;
}

Result<> give_up(MachineUpdater& updater, const Environment& environment) {
  if (!TRY(updater.give_up())) return Ok{};
  environment.context.log.error("the new deployment was not accepted in time; the machine boots the deployment before it");
  TRY(sys::run_checked(environment.runner, environment.context, {.argv = {"systemctl", "reboot"}}));
  return Ok{};
}

struct Verb {
  std::string_view name;
  std::string_view arguments;  // their names
  std::size_t least = 0, most = 0;
  bool changes = false;  // needs a writable /sysroot and /boot
  Result<> (*run)(MachineUpdater& updater, const Environment& environment, const Arguments& arguments);
};

constexpr std::size_t any_number = 1000;

constexpr std::array verbs = {
    Verb{"status", "", 0, 0, false, [](MachineUpdater&, const Environment& e, const Arguments&) { return show_os_status(e); }},
    Verb{"trial", "", 0, 0, false,
         [](MachineUpdater& updater, const Environment& e, const Arguments&) -> Result<> {
           e.print(to_text(TRY(updater.trial())));
           return Ok{};
         }},
    Verb{"fetch", " IMAGE [IMAGE-OF-EXTENSIONS EXTENSION...]", 1, any_number, true,
         [](MachineUpdater& updater, const Environment&, const Arguments& arguments) -> Result<> {
           if (arguments.size() == 2) return error(Code::invalid, "os fetch: no extensions behind their image");
           return updater.fetch(parse_images(arguments));
         }},
    Verb{"stage", " CONFIG", 1, 1, true,
         [](MachineUpdater& updater, const Environment&, const Arguments& arguments) -> Result<> {
           return updater.stage(TRY(parse_wanted(arguments[0])));
         }},
    Verb{"accept", "", 0, 0, true,
         [](MachineUpdater& updater, const Environment&, const Arguments&) { return updater.accept(); }},
    Verb{"forget", "", 0, 0, true,
         [](MachineUpdater& updater, const Environment&, const Arguments&) { return updater.forget(); }},
    Verb{"give-up", "", 0, 0, true,
         [](MachineUpdater& updater, const Environment& e, const Arguments&) { return give_up(updater, e); }},
};

Error usage() {
  std::string text = "usage:";
  for (const Verb& verb : verbs) {
    text += fmt::format(" slipway-node os {}{};", verb.name, verb.arguments);
  }
  text.pop_back();
  return Error(Code::invalid, std::move(text));
}

}  // namespace

Result<> run_os_command(const Environment& environment, const Arguments& arguments) {
  for (const Verb& verb : verbs) {
    if (arguments.empty() || arguments[0] != verb.name) continue;
    const Arguments rest(arguments.begin() + 1, arguments.end());
    if (rest.size() < verb.least || rest.size() > verb.most) return usage();
    if (verb.changes) TRY(sys::make_writable({"/sysroot", "/boot"}));
    const OsProgram program = TRY(find_os_program(environment.files));
    if (verb.changes) environment.context.log.info("the operating system of this machine is changed by {}", to_text(program));
    const std::unique_ptr<MachineUpdater> updater = make_machine_updater(environment, program);
    return verb.run(*updater, environment, rest);
  }
  return usage();
}

}  // namespace slipway::node
