#include "assist/replies.h"

#include "base/findings.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::assist {

namespace {

constexpr std::size_t most_items = 10'000;  // of a list: larger networks than any that is installed this way

double number_of(const Json& value, std::string_view key) {
  const Json* member = find(value, {key});
  if (!member) return 0;
  boost::system::error_code problem;
  const auto number = member->to_number<double>(problem);
  return problem ? 0 : number;
}

// Items of a list of objects. Anything else is a finding.
const JsonArray& objects(const Json& parent, std::string_view key, std::string_view where, Findings& findings) {
  static const JsonArray none;
  const Json* list = key.empty() ? &parent : find(parent, {key});
  const std::string path = where.empty() ? std::string(key) : fmt::format("{}{}{}", where, key.empty() ? "" : ".", key);
  if (!list || list->is_null()) return none;
  if (!list->is_array()) {
    findings.error({}, path, "must be a list, is {}", kind_name(*list));
    return none;
  }
  const JsonArray& items = list->get_array();
  if (items.size() > most_items) {
    findings.error({}, path, "has {} items, at most {} are read", items.size(), most_items);
    return none;
  }
  for (const Json& item : items) {
    if (item.is_object()) continue;
    findings.error({}, path, "must be a list of objects, has {}", kind_name(item));
    return none;
  }
  return items;
}

Result<> inventory(Host& host, const Json& output, Findings&) {
  host.inventory = TRY(parse_inventory(output, "inventory"));
  return Ok{};
}

Result<> connectivity(Host& host, const Json& output, Findings& findings) {
  std::vector<Reach> all;
  std::map<std::string, std::set<std::string>> macs;
  for (const Json& remote : objects(output, "remote_hosts", "", findings)) {
    const std::string id = text_of(remote, {"host_id"});
    std::map<std::string, Reach> by_address;
    const auto reach = [&](const Json& each) -> Reach& {
      const std::string address = text_of(each, {"remote_ip_address"});
      Reach& found = by_address[address];
      found.host = id;
      found.address = address;
      return found;
    };
    for (const Json& each : objects(remote, "l2_connectivity", "remote_hosts", findings)) {
      Reach& found = reach(each);
      found.by_link = found.by_link || is_true(each, {"successful"});
    }
    for (const Json& each : objects(remote, "l3_connectivity", "remote_hosts", findings)) {
      Reach& found = reach(each);
      if (!is_true(each, {"successful"})) continue;
      const bool is_first = !found.by_address;
      found.by_address = true;
      const double latency = number_of(each, "average_rtt_ms"), loss = number_of(each, "packet_loss_percentage");
      found.latency_ms = is_first ? latency : std::min(found.latency_ms, latency);  // of several interfaces, the best
      found.loss_percent = is_first ? loss : std::min(found.loss_percent, loss);
    }
    for (const Json& each : objects(remote, "mtu_report", "remote_hosts", findings)) {
      Reach& found = reach(each);
      found.has_mtu = found.has_mtu && is_true(each, {"mtu_successful"});
    }
    for (auto& [address, found] : by_address) all.push_back(std::move(found));
  }
  for (const Json& each : objects(output, "collisions", "", findings)) {
    const std::vector<std::string> found = texts_of(each, {"mac_addresses"});
    macs[text_of(each, {"ip_address"})] = {found.begin(), found.end()};
  }
  host.checks.reach = std::move(all);
  host.checks.macs_of = std::move(macs);
  return Ok{};
}

Result<> time_sources(Host& host, const Json& output, Findings& findings) {
  std::vector<TimeSource> sources;
  for (const Json& each : objects(output, "ntp_sources", "", findings)) {
    sources.push_back({.name = text_of(each, {"source_name"}), .state = text_of(each, {"source_state"})});
  }
  host.checks.time_sources = std::move(sources);
  return Ok{};
}

Result<> domains(Host& host, const Json& output, Findings& findings) {
  std::map<std::string, std::vector<std::string>> resolved;
  for (const Json& each : objects(output, "resolutions", "", findings)) {
    std::vector<std::string> addresses = texts_of(each, {"ipv4_addresses"});
    for (std::string& address : texts_of(each, {"ipv6_addresses"})) addresses.push_back(std::move(address));
    resolved[text_of(each, {"domain_name"})] = std::move(addresses);
  }
  host.checks.resolved = std::move(resolved);
  return Ok{};
}

Result<> addresses(Host& host, const Json& output, Findings& findings) {
  std::map<std::string, bool> free;
  for (const Json& each : objects(output, "", "vips", findings)) {
    free[text_of(each, {"vip"})] = text_of(each, {"verification"}) == "succeeded";
  }
  host.checks.address_is_free = std::move(free);
  return Ok{};
}

Result<> disk_speed(Host& host, const Json& output, Findings& findings) {
  const std::string path = text_of(output, {"path"});
  if (path.empty()) findings.error({}, "path", "missing, must be a string");
  host.checks.disk_latency_ms[path] = number_of(output, "io_sync_duration");
  return Ok{};
}

Result<> images(Host& host, const Json& output, Findings& findings) {
  std::map<std::string, bool> found;
  for (const Json& each : objects(output, "images", "", findings)) {
    found[text_of(each, {"name"})] = text_of(each, {"result"}) == "success";
  }
  host.checks.images = std::move(found);
  return Ok{};
}

Result<> api_of_cluster(Host& host, const Json& output, Findings&) {
  host.checks.can_get_ignition = is_true(output, {"is_success"});
  return Ok{};
}

struct Row {
  std::string_view type;
  Result<> (*apply)(Host& host, const Json& output, Findings& findings);
};
constexpr std::array rows = {
    Row{"inventory", inventory},
    Row{"connectivity-check", connectivity},
    Row{"ntp-synchronizer", time_sources},
    Row{"domain-resolution", domains},
    Row{"verify-vips", addresses},
    Row{"installation-disk-speed-check", disk_speed},
    Row{"container-image-availability", images},
    Row{"api-vip-connectivity-check", api_of_cluster},
};

}  // namespace

bool is_kept(std::string_view step_type) {
  return std::ranges::any_of(rows, [&](const Row& row) { return row.type == step_type; });
}

Result<> apply_output(Host& host, std::string_view step_type, const Json& output) {
  for (const Row& row : rows) {
    if (row.type != step_type) continue;
    const bool is_list = row.apply == addresses;
    if (is_list ? !output.is_array() : !output.is_object()) {
      return error(Code::invalid, "output of {}: must be {}, is {}", step_type, is_list ? "a list" : "an object",
                   kind_name(output));
    }
    Host changed = host;
    Findings findings;
    TRY(row.apply(changed, output, findings));
    TRY(findings.to_result().context(fmt::format("output of {}", step_type)));
    host = std::move(changed);
  }
  return Ok{};
}

void apply_failure(Host& host, std::string_view step_type, const Json& argument) {
  if (step_type == "installation-disk-speed-check") {
    const std::string path = text_of(argument, {"path"});
    if (!path.empty()) host.checks.disk_latency_ms[path] = -1;
  }
}

}  // namespace slipway::assist
