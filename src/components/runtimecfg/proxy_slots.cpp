#include "components/runtimecfg/proxy_slots.h"

#include "base/number.h"
#include "base/text.h"

#include <map>
#include <optional>

namespace slipway::components::runtimecfg {

namespace {

constexpr int api_port = 6443;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words = split(line, ' ');
  std::erase(words, "");
  return words;
}

// Bits 1, 2 and 32 mean maintenance by command, because of another server, and because of DNS. Bit 4 only records the initial
// state.
bool is_in_use(std::string_view admin_state) {
  const std::optional<unsigned> bits = parse_number<unsigned>(admin_state);
  return bits && (*bits & (1 | 2 | 32)) == 0;
}

}  // namespace

Result<std::vector<ProxySlot>> parse_proxy_slots(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  std::map<std::string_view, std::size_t> columns;
  std::vector<ProxySlot> slots;
  for (std::string_view line : lines) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() > 1 && words.front() == "#") {
      for (std::size_t i = 1; i < words.size(); ++i) columns[words[i]] = i - 1;
      continue;
    }
    const auto word = [&](std::string_view column) {
      const auto found = columns.find(column);
      return found == columns.end() || found->second >= words.size() ? std::string_view() : words[found->second];
    };
    if (word("be_name") != proxy_backend) continue;
    const bool is_enabled = is_in_use(word("srv_admin_state"));
    // Operational state 2 is "running", which haproxy also reports before the first check. With check status 0 or 1 no check has
    // ended yet.
    const std::string_view checked = word("srv_check_status");
    const bool is_up = is_enabled && word("srv_op_state") == "2" && checked != "0" && checked != "1";
    slots.push_back({std::string(word("srv_name")), std::string(word("srv_addr")), is_enabled, is_up});
  }
  if (slots.empty()) return error(Code::invalid, "haproxy returned no servers of '{}': {}", proxy_backend, text.substr(0, 200));
  return slots;
}

std::vector<std::string> slot_commands(const std::vector<ProxySlot>& slots, const std::set<std::string>& addresses) {
  std::vector<std::string> commands;
  std::set<std::string> missing = addresses;
  std::vector<const ProxySlot*> free;
  for (const ProxySlot& slot : slots) {
    if (!slot.is_enabled) {
      free.push_back(&slot);
    } else if (missing.erase(slot.address) == 0) {
      commands.push_back(fmt::format("set server {}/{} state maint", proxy_backend, slot.name));
    }
  }
  for (const ProxySlot* slot : free) {
    if (missing.empty()) break;
    const std::string address = missing.extract(missing.begin()).value();
    commands.push_back(fmt::format("set server {}/{} addr {} port {}", proxy_backend, slot->name, address, api_port));
    commands.push_back(fmt::format("set server {}/{} state ready", proxy_backend, slot->name));
  }
  return commands;
}

}  // namespace slipway::components::runtimecfg
