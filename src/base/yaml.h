// YAML: reads what people and Go programs write, with the place of every field; writes what Go programs would write.
//
// The reader follows the rules of Kubernetes' own YAML library where they matter to users: `0777` is octal, `yes` and `on`
// are strings (a boolean field may take them, its reader decides), keys become text, merge keys work. It is stricter where
// leniency loses data: a key that stands twice is an error.
#pragma once

#include "base/findings.h"
#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway {

// Where a value of a document stands, and where its members or items do, in their order.
struct YamlPlaces {
  int line = 0;    // of the key for a member of a mapping, of the value otherwise; from 1
  int column = 0;  // from 1, in characters
  std::vector<YamlPlaces> inner;
};

// One document of a YAML file.
struct YamlDocument {
  std::string name;  // what messages call it, usually the file's path
  Json value;        // an empty document is null
  YamlPlaces places;

  // The place of a field, "spec.tags[3].name". A field that is not there has the place of the nearest one around it, so
  // that "missing" can be said somewhere useful.
  Place place_of(std::string_view field) const;
};

// Reads a text that holds at most one document; JSON is YAML, so this reads both.
//
//   errors  invalid, "name:line:column: what is wrong" a line: syntax (the first one), keys that stand twice (all of them),
//           nesting deeper than max_document_depth, aliases that blow a document up (more than 10,000 or 100,000 values),
//           numbers that JSON cannot hold, a tag other than YAML's own, a second document
Result<YamlDocument> parse_yaml(std::string_view text, std::string_view name);

// The same for a text of any number of documents, as manifests have; documents without content are left out.
Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text, std::string_view name);

// Writes one document in the look of Go's library: two blanks of indent, dashes of lists not indented, literal blocks for
// texts of several lines, quotes around every string that a reader of YAML 1.1 or 1.2 could take for something else, lines
// never folded. Keeps the order of keys; bytes that are not UTF-8 become U+FFFD. parse_yaml(emit_yaml(x)) is x.
std::string emit_yaml(const Json& value);

// The same as Go's library writes it unless told otherwise, for what others compute checksums of: lines folded at the first blank
// behind column 80, no quotes around "3.5.0" (which YAML 1.1 could take for a number; no reader does).
std::string emit_go_yaml(const Json& value);

}  // namespace slipway
