// JSON: the value type of all documents that slipway reads, builds and writes, with its reader and writer.
//
// Json is Boost.JSON's value: objects keep the order of their members and find them in constant time, 64-bit integers are exact
// (docs/decisions/0002-json-library.md has measurements). Build documents with initializer lists or by key:
//
//   Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}}}};
//
// Read them with the functions below, which never throw. as_object() and similar members throw; use them only on values that
// the program has just built.
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

// Maximum nesting of JSON and YAML documents: far above that of real documents, far below a stack overflow.
inline constexpr int max_document_depth = 64;

// Reads one JSON document.
//
//   name    the document's name in messages: a file name or a description ("image manifest")
//   errors  invalid, with "name:line:column: problem": syntax, a duplicate key in an object, nesting deeper than
//           max_document_depth, a number too large for a double, text after the document, text that is not UTF-8
//   numbers 64-bit integers are exact; all other numbers become the nearest double
Result<Json> parse_json(std::string_view text, std::string_view name);

enum class JsonStyle {
  compact,  // one line without blanks and without a newline at the end
  pretty,   // indented by two blanks, with a newline at the end
};

// Writes a document. A double is written as the shortest text that reads back as the same number. Not a number and infinity,
// which JSON lacks, become null. Bytes that are not UTF-8 become U+FFFD.
std::string emit_json(const Json& value, JsonStyle style);

// The member at this path of keys; null if a key is missing or its parent is not an object.
const Json* find(const Json& value, std::initializer_list<std::string_view> keys);

// The string at this path of keys; nullopt if it is missing or not a string. The view lives as long as the document.
std::optional<std::string_view> find_string(const Json& value, std::initializer_list<std::string_view> keys);

// The array or object at this path of keys; empty if it is missing or of another kind.
const JsonArray& find_array(const Json& value, std::initializer_list<std::string_view> keys);
const JsonObject& find_object(const Json& value, std::initializer_list<std::string_view> keys);

// An object or an array as an argument would become a temporary document, into which the result would point.
const Json* find(const JsonObject& value, std::initializer_list<std::string_view> keys) = delete;
std::optional<std::string_view> find_string(const JsonObject& value, std::initializer_list<std::string_view> keys) = delete;
const JsonArray& find_array(const JsonObject& value, std::initializer_list<std::string_view> keys) = delete;
const JsonObject& find_object(const JsonObject& value, std::initializer_list<std::string_view> keys) = delete;
const Json* find(const JsonArray& value, std::initializer_list<std::string_view> keys) = delete;
std::optional<std::string_view> find_string(const JsonArray& value, std::initializer_list<std::string_view> keys) = delete;
const JsonArray& find_array(const JsonArray& value, std::initializer_list<std::string_view> keys) = delete;
const JsonObject& find_object(const JsonArray& value, std::initializer_list<std::string_view> keys) = delete;

// The string reached by these keys, "" when it is missing or no string.
std::string text_of(const Json& value, std::initializer_list<std::string_view> keys);

// The strings of the array reached by these keys; items that are no strings are left out.
std::vector<std::string> texts_of(const Json& value, std::initializer_list<std::string_view> keys);
JsonArray array_of(const std::vector<std::string>& texts);

// The integer reached by these keys, 0 when it is missing, no integer or outside of the range of int.
int integer_of(const Json& value, std::initializer_list<std::string_view> keys);

// Whether the value reached by these keys is `true`; false when it is missing or no boolean.
bool is_true(const Json& value, std::initializer_list<std::string_view> keys);

// errors  invalid, with the path ("metadata.name: missing, must be a string")
Result<std::string> require_string(const Json& value, std::initializer_list<std::string_view> keys);

// The kind of a value for messages: "an object", "a string", "null".
std::string_view kind_name(const Json& value);

}  // namespace slipway
