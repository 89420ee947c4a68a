// install-config v1 as one table: which fields there are, of what kind, what they mean, what they are when nobody gives them.
// Reading, defaults, the effective config, `slipway explain`, the JSON Schema and the reference page (docs) all follow it.
// Fields and defaults are those of openshift/installer pkg/types. Private to the folder; what others may ask is in explain.h.
#pragma once

#include "base/json.h"

#include <span>
#include <string_view>
#include <vector>

namespace slipway::config {

struct Field;
using Fields = std::span<const Field>;

enum class Kind {
  any,      // kept as it is
  text,     // numbers become text
  integer,  // of 32 bits; 3.0 is one
  boolean,  // yes and on are
  object,   // with members of its own
  map,      // names that the user chooses, with texts
};

// What becomes of a value without content ("", 0, false, []) in the effective config: what Go does with its struct.
enum class Empty {
  dropped,  // left out; a given object always stays
  kept,     // as given
  written,  // there even when it was not given: cluster-config-v1 of every OpenShift has it
};

// Of an older field: it has no effect any more.
inline constexpr std::string_view nothing_instead = "-";

// A row. A list is a row of its items' kind with is_list.
struct Field {
  std::string_view name;
  Kind kind = Kind::text;
  bool is_list = false;
  std::string_view about{};  // sentences for people
  std::string_view
      fallback{};  // the value of a field that is not given where the object around it is; a pool's see machine_pool()
  std::string_view otherwise{};   // in words, where a value would not tell: what happens without the field
  std::string_view allowed{};     // "Enabled|Disabled"; an empty text counts as not given
  Fields (*members)() = nullptr;  // of an object
  std::string_view instead{};     // of an older field: the one to use, as a path from the object around it; nothing_instead
  bool is_required = false;       // an error where it is missing after conversions and defaults
  bool is_secret = false;         // its value is never shown
  bool null_is_wrong = false;     // elsewhere null means "not given"
  Empty empty = Empty::dropped;
};

// The fields of the whole file.
Fields install_config_fields();

// What one platform has below `platform` and, for machines, below `controlPlane.platform`, `compute[].platform` and
// `defaultMachinePlatform`. The pool's table is empty for a platform whose machines nobody can choose.
struct PlatformTable {
  std::string_view name;
  Fields (*section)() = nullptr;  // null: a name of OpenShift's that this version refuses
  Fields (*pool)() = nullptr;
};
std::span<const PlatformTable> platform_tables();
const PlatformTable* find_platform(std::string_view name);

// The row with this name, without regard to case; null when there is none.
const Field* find_field(Fields fields, std::string_view name);

// The row at a path without indexes, "platform.vsphere.vcenters.server"; null when there is none.
const Field* find_field_at(std::string_view path);

std::vector<std::string_view> allowed_values(const Field& field);

// The fallback as a value of the field's kind.
Json fallback_value(const Field& field);

}  // namespace slipway::config
