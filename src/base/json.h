// JSON: one value type for every document slipway reads, builds and writes, and the one reader and writer of it.
//
// Json is Boost.JSON's value: objects keep the order of their members and find them in constant time, 64-bit integers stay
// exact (docs/decisions/0002-json-library.md has the measurements). Build documents with initializer lists or by key:
//
//   Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}}}};
//
// Read them with the functions below, which never throw; as_object() and its kin do, and are for values that were just built.
#pragma once

#include "base/result.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

// Collections inside collections that a document may have, JSON or YAML: far above any real one, far below a stack overflow.
inline constexpr int max_document_depth = 64;

// Reads one JSON document.
//
//   name    what messages call the document: a file name, or what it is ("image manifest")
//   errors  invalid, with "name:line:column: what is wrong": syntax, a key that stands twice in an object, nesting deeper
//           than max_document_depth, a number beyond a double, text after the document, text that is not UTF-8
//   numbers integers of 64 bits are exact; all others become the nearest double
Result<Json> parse_json(std::string_view text, std::string_view name);

enum class JsonStyle {
  compact,  // no blanks at all, one line, no newline at the end
  pretty,   // an indent of two blanks, a newline at the end
};

// Writes a document. Doubles are the shortest text that reads back as the same number; not a number and infinity, which
// JSON does not have, become null; bytes that are not UTF-8 become U+FFFD.
std::string emit_json(const Json& value, JsonStyle style);

// The member reached by these keys, or null when one of them is missing or its parent is no object.
const Json* find(const Json& value, std::initializer_list<std::string_view> keys);

// The string reached by these keys; nothing when it is missing or no string. The view lives as long as the document.
std::optional<std::string_view> find_string(const Json& value, std::initializer_list<std::string_view> keys);

// The array or object reached by these keys, an empty one when it is missing or something else.
const JsonArray& find_array(const Json& value, std::initializer_list<std::string_view> keys);
const JsonObject& find_object(const Json& value, std::initializer_list<std::string_view> keys);

// The string reached by these keys, "" when it is missing or no string.
std::string text_of(const Json& value, std::initializer_list<std::string_view> keys);

// The strings of the array reached by these keys; items that are no strings are left out.
std::vector<std::string> texts_of(const Json& value, std::initializer_list<std::string_view> keys);
JsonArray array_of(const std::vector<std::string>& texts);

// The integer reached by these keys, 0 when it is missing, no integer or outside of the range of int.
int integer_of(const Json& value, std::initializer_list<std::string_view> keys);

// errors  invalid, naming the path ("metadata.name: missing, a string is needed")
Result<std::string> require_string(const Json& value, std::initializer_list<std::string_view> keys);

// The words of messages for the kind of a value: "an object", "a string", "null".
std::string_view kind_name(const Json& value);

}  // namespace slipway
