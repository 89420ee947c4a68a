#include "service/cluster_settings.h"

#include "base/text.h"
#include "service/fields.h"
#include "service/records.h"

#include <algorithm>
#include <array>
#include <optional>

namespace slipway::service {

namespace {

// high_availability_mode is the older form of control_plane_count.
Result<> settle_count(JsonObject& settings, const JsonObject& given) {
  const std::string mode = text_of(given, {"high_availability_mode"});
  settings.erase("high_availability_mode");
  if (mode.empty()) return Ok{};
  if (mode != "Full" && mode != "None") {
    return error(Code::invalid, "cluster: high_availability_mode: '{}' is not supported (use Full, or None for one node)",
                 to_utf8(mode));
  }
  const int count = mode == "None" ? 1 : 3;
  if (given.contains("control_plane_count") && integer_of(given, {"control_plane_count"}) != count) {
    return error(Code::invalid, "cluster: high_availability_mode {} does not fit control_plane_count {}", mode,
                 integer_of(given, {"control_plane_count"}));
  }
  settings["control_plane_count"] = count;
  return Ok{};
}

// Fields with one network, of older clients. Clients that are generated from the public description send the usual networks in
// them, whatever is in the lists: a list counts then.
struct OneNetwork {
  std::string_view field, list, usual;
};
constexpr std::array one_network = {
    OneNetwork{"machine_network_cidr", "machine_networks", ""},
    OneNetwork{"cluster_network_cidr", "cluster_networks", "10.128.0.0/14"},
    OneNetwork{"service_network_cidr", "service_networks", "172.30.0.0/16"},
};
constexpr std::string_view one_prefix = "cluster_network_host_prefix";

// The host prefix of the request; nullopt: none.
std::optional<std::int64_t> prefix_in(const JsonObject& given) {
  const Json* prefix = given.if_contains(one_prefix);
  return prefix ? std::optional(prefix->get_int64()) : std::nullopt;
}

Result<> settle_networks(JsonObject& settings, const JsonObject& given) {
  for (const OneNetwork& each : one_network) {
    const std::string one = text_of(given, {each.field});
    settings.erase(each.field);
    const bool is_of_pods = each.list == "cluster_networks";
    const auto prefix = is_of_pods ? prefix_in(given) : std::nullopt;
    if (given.contains(each.list)) {
      const JsonArray& list = list_in(given, each.list);
      const bool fits = one.empty() || one == each.usual ||
                        std::ranges::any_of(list, [&](const Json& item) { return text_of(item, {"cidr"}) == one; });
      if (!fits) return error(Code::invalid, "cluster: {} {} is not one of {}", each.field, one, each.list);
      continue;
    }
    if (one.empty() && !prefix) continue;
    const JsonArray& known = list_in(settings, each.list);
    Json network = known.empty() ? Json(JsonObject{}) : known.front();
    JsonObject& fields = network.get_object();
    if (!one.empty()) fields["cidr"] = one;
    if (prefix) fields["host_prefix"] = *prefix;
    if (is_of_pods && !fields.contains("host_prefix")) fields["host_prefix"] = one.find(':') == std::string::npos ? 23 : 64;
    const Json body = JsonObject{{each.list, JsonArray{network}}};
    settings[each.list] = TRY(read_fields(emit_json(body, JsonStyle::compact), cluster_fields(), "cluster")).at(each.list);
  }
  settings.erase(one_prefix);
  return Ok{};
}

// The platform says who has the virtual addresses, as user_managed_networking does.
Result<> settle_platform(JsonObject& settings, const JsonObject& given) {
  const std::string type = text_of(given, {"platform", "type"});
  settings.erase("platform");
  if (type.empty()) return Ok{};
  const bool is_managed_by_user = type == "none";
  if (given.contains("user_managed_networking") && is_true(given, {"user_managed_networking"}) != is_managed_by_user) {
    return error(Code::invalid, "cluster: platform {} does not fit user_managed_networking {}", type, !is_managed_by_user);
  }
  settings["user_managed_networking"] = is_managed_by_user;
  return Ok{};
}

}  // namespace

Result<> settle_fields(JsonObject& settings, const JsonObject& given) {
  TRY(settle_count(settings, given));
  TRY(settle_networks(settings, given));
  return settle_platform(settings, given);
}

void add_defaults(JsonObject& settings, std::string_view version) {
  const auto fill = [&](std::string_view key, Json value) {
    if (!settings.contains(key)) settings[key] = std::move(value);
  };
  fill("cluster_networks", JsonArray{Json{{"cidr", "10.128.0.0/14"}, {"host_prefix", 23}}});
  fill("service_networks", JsonArray{Json{{"cidr", "172.30.0.0/16"}}});
  fill("network_type", "OVNKubernetes");
  fill("control_plane_count", 3);
  fill("openshift_version", Json(version));
}

}  // namespace slipway::service
