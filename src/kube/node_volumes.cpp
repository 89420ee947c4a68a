#include "kube/node_volumes.h"

#include "base/characters.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace slipway::kube {

namespace {

constexpr std::string_view orders_key = "volumes", storage_key = "state";
constexpr std::size_t longest_name = 253;  // of objects; a file may have 255
constexpr std::size_t longest_reason = 300;

constexpr std::array order_words = {std::pair{VolumeOrder::Kind::make, std::string_view("make")},
                                    std::pair{VolumeOrder::Kind::keep, std::string_view("keep")},
                                    std::pair{VolumeOrder::Kind::remove, std::string_view("remove")}};
constexpr std::array state_words = {std::pair{VolumeState::Kind::ready, std::string_view("ready")},
                                    std::pair{VolumeState::Kind::refused, std::string_view("refused")},
                                    std::pair{VolumeState::Kind::missing, std::string_view("missing")},
                                    std::pair{VolumeState::Kind::removing, std::string_view("removing")},
                                    std::pair{VolumeState::Kind::removed, std::string_view("removed")}};

template <class Table, class Kind>
std::string_view word_of(const Table& table, Kind kind) {
  return std::ranges::find(table, kind, [](const auto& each) { return each.first; })->second;
}

template <class Table>
auto kind_of(const Table& table, std::string_view word) -> std::optional<decltype(table[0].first)> {
  const auto found = std::ranges::find(table, word, [](const auto& each) { return each.second; });
  if (found == table.end()) return std::nullopt;
  return found->first;
}

// A name of an object, so neither a path nor a hidden file.
Result<> check_name(std::string_view name) {
  const auto is_allowed = [](char c) { return is_lower_or_digit(c) || c == '-' || c == '.'; };
  const bool is_short = !name.empty() && name.size() <= longest_name;
  if (is_short && name.front() != '.' && std::ranges::all_of(name, is_allowed)) return Ok{};
  return error(Code::invalid, "'{}' is not the name of a volume", to_utf8(name.substr(0, longest_name)));
}

Result<> check_count(std::size_t count) {
  if (count <= max_volumes) return Ok{};
  return error(Code::invalid, "{} volumes; a node may have {}", count, max_volumes);
}

std::int64_t bytes_of(const Json& value, std::string_view key) {
  const Json* found = find(value, {key});
  return found && found->is_int64() ? std::max<std::int64_t>(found->get_int64(), 0) : 0;
}

Json object_of(std::string name, std::string_view node, std::string_view key, const Json& document) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", std::move(name)}, {"namespace", volumes_space}, {"annotations", {{volume_node, node}}}}},
          {"data", {{key, emit_json(document, JsonStyle::compact)}}}};
}

Result<Json> document_of(const Json& config_map, std::string_view key) {
  const std::string name = text_of(config_map, {"metadata", "name"});
  const std::string place = fmt::format("ConfigMap {}/{}: data.{}", volumes_space, name, key);
  Json document = TRY(parse_json(text_of(config_map, {"data", key}), place));
  if (!document.is_object()) return error(Code::invalid, "{}: must be an object", place);
  return document;
}

}  // namespace

std::vector<std::string> wanted_volumes(const std::vector<Json>& volumes, std::string_view node) {
  std::vector<std::string> wanted;
  for (const Json& volume : volumes) {
    if (text_of(volume, {"metadata", "annotations", volume_node}) != node) continue;
    const bool is_deleted = text_of(volume, {"status", "phase"}) == "Released" &&
                            text_of(volume, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete";
    if (is_deleted) continue;
    const std::string claim = text_of(volume, {"spec", "claimRef", "name"});
    wanted.push_back(claim.empty() ? text_of(volume, {"metadata", "name"})
                                   : fmt::format("{}/{}", text_of(volume, {"spec", "claimRef", "namespace"}), claim));
  }
  return wanted;
}

std::string orders_name(std::string_view node) { return fmt::format("wanted-{}", node); }

std::string storage_name(std::string_view node) { return fmt::format("state-{}", node); }

Json orders_object(std::string_view node, const VolumeOrders& orders) {
  JsonObject document;
  for (const auto& [name, order] : orders) {
    document[name] = JsonObject{{"order", word_of(order_words, order.kind)}, {"bytes", order.bytes}};
  }
  return object_of(orders_name(node), node, orders_key, std::move(document));
}

Json storage_object(std::string_view node, const NodeStorage& storage) {
  JsonObject volumes;
  for (const auto& [name, state] : storage.volumes) {
    JsonObject entry{{"state", word_of(state_words, state.kind)}};
    if (!state.reason.empty()) entry["reason"] = to_utf8(state.reason.substr(0, longest_reason));
    volumes[name] = std::move(entry);
  }
  const Json document = JsonObject{{"size", storage.size},
                                   {"free", storage.free},
                                   {"shared", storage.is_shared},
                                   {"volumes", std::move(volumes)},
                                   {"unclaimed", array_of(storage.unclaimed)}};
  return object_of(storage_name(node), node, storage_key, document);
}

Result<VolumeOrders> parse_orders(const Json& config_map) {
  const Json document = TRY(document_of(config_map, orders_key));
  const std::string place = text_of(config_map, {"metadata", "name"});
  TRY(check_count(document.get_object().size()).context(place));
  VolumeOrders orders;
  for (const auto& each : document.get_object()) {
    const std::string name(each.key());
    TRY(check_name(name).context(place));
    const std::string word = text_of(each.value(), {"order"});
    const auto kind = kind_of(order_words, word);
    if (!kind) return error(Code::invalid, "{}: {}: '{}' is not an order", place, name, to_utf8(word));
    orders[name] = {*kind, bytes_of(each.value(), "bytes")};
  }
  return orders;
}

Result<NodeStorage> parse_storage(const Json& config_map) {
  const Json document = TRY(document_of(config_map, storage_key));
  const std::string place = text_of(config_map, {"metadata", "name"});
  NodeStorage storage{.size = bytes_of(document, "size"),
                      .free = bytes_of(document, "free"),
                      .is_shared = is_true(document, {"shared"}),
                      .volumes = {},
                      .unclaimed = texts_of(document, {"unclaimed"})};
  const JsonObject& volumes = find_object(document, {"volumes"});
  TRY(check_count(volumes.size()).context(place));
  TRY(check_count(storage.unclaimed.size()).context(place));
  for (const std::string& name : storage.unclaimed) TRY(check_name(name).context(place));
  for (const auto& each : volumes) {
    const std::string name(each.key());
    TRY(check_name(name).context(place));
    const auto kind = kind_of(state_words, text_of(each.value(), {"state"}));
    if (!kind) return error(Code::invalid, "{}: {}: state is missing or unknown", place, name);
    storage.volumes[name] = {*kind, to_utf8(text_of(each.value(), {"reason"}).substr(0, longest_reason))};
  }
  return storage;
}

std::int64_t free_for_volumes(std::int64_t available, std::int64_t size, bool is_shared) {
  return std::max<std::int64_t>(available - (is_shared ? size / 10 : 0), 0);
}

std::int64_t capacity_for_volumes(const NodeStorage& storage) {
  // Divided first: a size that a node reports may be near the limit of the type.
  return storage.size / 100 * (storage.is_shared ? 80 : 95);
}

}  // namespace slipway::kube
