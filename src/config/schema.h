// install-config v1 as one table: the fields, their kinds, their descriptions and their defaults. Reading, defaults, the
// effective config, `slipway explain`, the JSON Schema and the reference page (docs) use it. Fields and defaults are those of
// openshift/installer pkg/types. Private to the folder; explain.h is its public interface.
#pragma once

#include "base/json.h"

#include <span>
#include <string_view>
#include <vector>

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

// The fields of the whole file.
Fields install_config_fields();

// The fields of one platform: `section` below `platform`, and `pool` below `controlPlane.platform`, `compute[].platform` and
// `defaultMachinePlatform`. The table of the pool is empty if the machines of the platform have no settings.
struct PlatformTable {
  std::string_view name;
  Fields (*section)() = nullptr;  // null: a platform of OpenShift that this version does not support
  Fields (*pool)() = nullptr;
};
std::span<const PlatformTable> platform_tables();
const PlatformTable* find_platform(std::string_view name);

// The row with this name, which is not case-sensitive; null if there is none.
const Field* find_field(Fields fields, std::string_view name);

// The row at a path without indexes, "platform.vsphere.vcenters.server"; null if there is none.
const Field* find_field_at(std::string_view path);

std::vector<std::string_view> allowed_values(const Field& field);

// The fallback, converted to the kind of the field.
Json fallback_value(const Field& field);

}  // namespace slipway::config
