// A row of the schema: one field of an install-config. Private to the folder.
#pragma once

#include <span>
#include <string_view>

namespace slipway::config {

struct Field;
using Fields = std::span<const Field>;

enum class Kind {
  any,      // not checked
  text,     // numbers are converted to text
  integer,  // 32 bits; 3.0 is accepted
  boolean,  // "yes" and "on" are accepted
  object,   // its members are fields
  map,      // the user chooses the keys; values are texts
};

// How an empty value ("", 0, false, []) appears in the effective config, as Go would write its struct.
enum class Empty {
  dropped,  // omitted; an object is kept if it is given
  kept,     // written if it is given
  written,  // always written, as in cluster-config-v1 of every OpenShift
};

// For Field::instead: the deprecated field has no effect.
inline constexpr std::string_view nothing_instead = "-";

// A row of the table. The row of a list has is_list, and the kind of its items.
struct Field {
  std::string_view name;
  Kind kind = Kind::text;
  bool is_list = false;
  std::string_view about{};       // description for people, in sentences
  std::string_view fallback{};    // default if the enclosing object is given; pools are different, see effective_pool()
  std::string_view otherwise{};   // describes the default in words, if a value is not enough
  std::string_view allowed{};     // "Enabled|Disabled"; an empty text counts as not given
  Fields (*members)() = nullptr;  // for objects
  std::string_view instead{};     // for deprecated fields: path of the new field from the enclosing object, or nothing_instead
  bool is_required = false;       // an error if it is missing after conversions and defaults
  bool is_secret = false;         // its value is never shown
  bool null_is_wrong = false;     // null is an error; for other fields it means "not given"
  Empty empty = Empty::dropped;
};

}  // namespace slipway::config
