// Rules about what the machine OS says on the console of a virtual or physical machine (docs/machine-os.md).
#include "diagnosis/all_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

struct Message {
  std::string_view text;
  std::string_view cause;  // after the name of the machine
  std::string_view next_step;
  bool is_final;
  bool is_over_after_login = true;  // a start that reached the login prompt got over it
};

constexpr std::array messages = {
    Message{"slipway: first boot failed: ", "its first boot failed",
            "correct the Ignition config, or the MachineConfigs that it is rendered from, and create the machine again", true},
    Message{"slipway: no network interface has got an address", "it gets no address",
            "check the DHCP server of its network, or set addresses with ip= on the kernel command line", false},
    Message{"slipway: waiting for the config of the first boot: ", "it gets no Ignition config",
            "check the address and the server; Ignition repeats the request until the server answers", false},
    Message{"slipway: the disk ", "its disk is too small", "enlarge the disk and start the machine again", false, false},
};

std::optional<Quote> last_line(const Bundle& bundle, const std::string& file, std::string_view text) {
  std::vector<Quote> lines = bundle.lines_with(file, text);
  return lines.empty() ? std::nullopt : std::optional(std::move(lines.back()));
}

}  // namespace

Found machine_reports(const Bundle& bundle) {
  for (const Machine& machine : bundle.machines()) {
    const std::string file = fmt::format("host/{}.console.log", machine.name);
    const std::optional<Quote> login = last_line(bundle, file, " login: ");
    for (const Message& message : messages) {
      const std::optional<Quote> line = last_line(bundle, file, message.text);
      if (!line || (message.is_over_after_login && login && login->line > line->line)) continue;
      Finding finding{.stage = "the start of " + machine.name,
                      .cause = fmt::format("{}: {}: {}", machine.name, message.cause,
                                           shortened(std::string_view(line->text).substr(line->text.find("slipway: ")))),
                      .next_step = std::string(message.next_step),
                      .is_final = message.is_final};
      // What follows the line, for instance the errors of Ignition.
      for (const Quote& said : bundle.lines_with(file, "slipway: ")) {
        if (said.line >= line->line) finding.evidence.push_back({said.file, said.line, shortened(said.text)});
      }
      return finding;
    }
  }
  return std::nullopt;
}

}  // namespace slipway::diagnosis
