// Between JSON and the types of ignition/types.h.
//
//   Parsed parsed = TRY(parse_text(text, "worker.ign"));
//   worker.ign:7:13: error: storage.files[3].mode: needs an integer, got a string
//
// Stricter than Ignition itself, which takes "Path" for "path" and the last of two members of one name: either is a typo.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "ignition/types.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::ignition {

// The config is worth something only while the findings have no errors.
struct Parsed {
  Config config;
  Findings findings;
};

// Reads a config that stands in a larger document, a MachineConfig say; `root` is the path of the field it stands in and
// begins the path of every finding. The findings have no places: see located().
//
//   errors    a value of the wrong kind; a version that is missing or not one of 3.0.0 to 3.5.0
//   warnings  a key that is not known, or not yet in the config's version; Ignition ignores those, and so do we
//   null      is the same as absent, but in lists, where it is an error
Parsed parse(const Json& value, const std::string& root = "");

// Reads a text; findings have their places.
//
//   errors  invalid: the text is not JSON (base/json.h); what is wrong with JSON that is no config stands in the findings
Result<Parsed> parse_text(std::string_view text, std::string_view name);

// The same findings with the places of their fields.
Findings located(const Findings& findings, const std::function<Place(std::string_view field)>& place_of);

// The same for findings about a text of JSON. The text is read once more, only when there is something to find in it; where
// that fails (YAML is narrower than JSON about escaped surrogates), the place is the name alone.
Findings located(const Findings& findings, std::string_view text, std::string_view name);

// Minimal and stable: members in the order of the table, nothing that is absent or empty; parse(to_json(x)) is x as long as
// x has no field that its version does not have.
Json to_json(const Config& config);

}  // namespace slipway::ignition
