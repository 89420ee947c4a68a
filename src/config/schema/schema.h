// install-config v1 as one table: the fields, their kinds, their descriptions and their defaults. Reading, defaults, the
// effective config, `slipway explain`, the JSON Schema and the reference page (docs) use it. Fields and defaults are those of
// openshift/installer pkg/types. Private to the folder; explain.h is its public interface.
#pragma once

#include "base/json.h"
#include "config/schema/field.h"

#include <span>
#include <string_view>
#include <vector>

namespace slipway::config {

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
