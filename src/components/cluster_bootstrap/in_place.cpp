#include "components/cluster_bootstrap/in_place.h"

#include "base/flags.h"
#include "base/text.h"
#include "components/cluster_bootstrap/butane.h"
#include "ignition/parse.h"

namespace slipway::components::cluster_bootstrap {

Result<> run_in_place(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "asset-dir", .required = true, .letter = 'd'},
                                   {.name = "input", .required = true},
                                   {.name = "output", .required = true},
                                   {.name = "pretty", .fallback = "true", .is_switch = true, .letter = 'p'}};
  const Flags flags = TRY(parse_flags("cluster-bootstrap bootstrap-in-place", table, arguments));
  sys::Files& files = environment.files;
  const std::string& input = flags.text("input");
  const std::string& output = flags.text("output");
  const std::string text = TRY(files.read(input));
  const ignition::Config config = TRY(translate_butane(files, flags.text("asset-dir"), text, input));
  const std::string written =
      emit_json(ignition::to_json(config), flags.is_set("pretty") ? JsonStyle::pretty : JsonStyle::compact);
  TRY(files.write(output, written, 0600));
  environment.context.log.info("{}: {} files, {}", output, config.storage.files.size(), human_size(written.size()));
  return Ok{};
}

}  // namespace slipway::components::cluster_bootstrap
