// YAML: reads the YAML of people and Go programs, with the place of every field; writes YAML as Go programs do.
//
// The reader follows Kubernetes' YAML library where users depend on it: `0777` is octal, `yes` and `on` are strings (the reader
// of a boolean field may accept them), keys become strings, merge keys work. It is stricter where leniency loses data: a
// duplicate key is an error.
#pragma once

#include "base/findings.h"
#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway {

// The position of a value in a document and the positions of its members or items, in order.
struct YamlPlaces {
  int line = 0;    // from 1; of the key for a member of a mapping, otherwise of the value
  int column = 0;  // from 1, in characters
  std::vector<YamlPlaces> inner;
};

// One document of a YAML file.
struct YamlDocument {
  std::string name;  // name in messages, usually the file's path
  Json value;        // null for an empty document
  YamlPlaces places;

  // The place of a field such as "spec.tags[3].name". For a missing field, the place of its nearest existing parent, so that
  // the error "missing" has a useful place.
  Place place_of(std::string_view field) const;
};

// Reads a text with at most one document. JSON is YAML, so this also reads JSON.
//
//   errors  invalid, one "name:line:column: problem" a line: syntax (the first error), duplicate keys (all), nesting deeper
//           than max_document_depth, too many aliases (10,000) or values that aliases repeat (100,000), numbers that JSON
//           cannot represent, a tag that is not YAML's own, a second document
Result<YamlDocument> parse_yaml(std::string_view text, std::string_view name);

// Reads a text with any number of documents, such as manifests. Skips empty documents.
Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text, std::string_view name);

// Writes one document in the style of Kubernetes' YAML library: indented by two blanks, dashes of lists not indented, literal
// blocks for multi-line strings, quotes around strings that a reader of YAML 1.1 or 1.2 could take for another type, no folded
// lines. Keeps the order of keys. Bytes that are not UTF-8 become U+FFFD. parse_yaml(emit_yaml(x)) is x.
std::string emit_yaml(const Json& value);

// Writes the default style of Go's library, for documents whose checksum other programs compute: lines are folded at the first
// blank after column 80, and "3.5.0" has no quotes (YAML 1.1 allows to read it as a number; no reader does).
std::string emit_go_yaml(const Json& value);

}  // namespace slipway
