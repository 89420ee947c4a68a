// Converts JSON to the types of ignition/types.h and back.
//
//   Parsed parsed = TRY(parse_text(text, "worker.ign"));
//   worker.ign:7:13: error: storage.files[3].mode: must be an integer, got a string
//
// Ignition accepts "Path" for "path", and uses the last of two members with the same name. Here these typos are reported.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "ignition/types.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::ignition {

// The config is usable only if the findings contain no errors.
struct Parsed {
  Config config;
  Findings findings;
};

// Reads a config, for example a part of a MachineConfig. Findings have no places: see located().
//
//   root      path of the field that contains the config; prefix of the path of every finding
//   errors    a value of the wrong kind; a version that is missing or not one of 3.0.0 to 3.5.0
//   warnings  a key that is unknown, or that the version of the config does not have; such keys are ignored, as in Ignition
//   null      means absent; in lists it is an error
Parsed parse(const Json& value, const std::string& root = "");

// Reads a text. Findings have places.
//
//   errors  invalid: the text is not JSON (base/json.h). JSON that is not a valid config gives findings instead
Result<Parsed> parse_text(std::string_view text, std::string_view name);

// Returns the findings with the places of their fields.
Findings located(const Findings& findings, const std::function<Place(std::string_view field)>& place_of);

// The same for findings about a JSON text. If there are findings, the text is parsed again, as YAML. If that fails (YAML does not
// accept all JSON, such as escaped surrogates), places have only the name.
Findings located(const Findings& findings, std::string_view text, std::string_view name);

// Writes members in the order of the table (fields.h), and omits absent and empty members. parse(to_json(x)) is x, unless x has
// fields that its version does not have.
Json to_json(const Config& config);

}  // namespace slipway::ignition
