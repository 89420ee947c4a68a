#include "provider/local/address_plan.h"

#include "base/check.h"
#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <optional>

namespace slipway::provider::local {

namespace {

constexpr int first_machine = 10;

std::optional<unsigned> number(std::string_view text, unsigned max) {
  const std::optional<unsigned> value = parse_number<unsigned>(text);
  return value.value_or(0) <= max ? value : std::nullopt;
}

}  // namespace

std::string dotted(unsigned address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

std::string AddressPlan::to_cidr() const { return with_prefix(dotted(network)); }

std::string AddressPlan::gateway() const { return dotted(network + 1); }

std::string AddressPlan::with_prefix(std::string_view address) const { return fmt::format("{}/{}", address, prefix); }

// The last address of the network is the broadcast address.
int AddressPlan::most_machines() const { return std::min((1 << (32 - prefix)) - 1 - first_machine, 1000); }

std::string AddressPlan::address(int machine) const {
  CHECK(machine >= 0 && machine < most_machines());
  return dotted(network + static_cast<unsigned>(first_machine + machine));
}

std::string AddressPlan::mac(int machine) { return fmt::format("52:54:00:73:{:02x}:{:02x}", machine >> 8 & 255, machine & 255); }

std::string AddressPlan::gateway_mac() { return mac(0xffff); }

std::string AddressPlan::interface(int machine) { return fmt::format("vm{}", machine); }

Result<AddressPlan> parse_network(std::string_view cidr) {
  const Error refused = error(Code::invalid, "'{}' is not an IPv4 network, for example 10.97.77.0/24", cidr);
  const std::size_t slash = cidr.find('/');
  if (slash == std::string_view::npos) return refused;
  const std::vector<std::string_view> bytes = split(cidr.substr(0, slash), '.');
  if (bytes.size() != 4) return refused;
  AddressPlan plan;
  for (std::string_view byte : bytes) {
    const std::optional<unsigned> value = number(byte, 255);
    if (!value) return refused;
    plan.network = plan.network << 8 | *value;
  }
  const std::optional<unsigned> prefix = number(cidr.substr(slash + 1), 32);
  if (!prefix) return refused;
  if (*prefix < 16 || *prefix > 28) return error(Code::invalid, "network {}: prefix length must be from /16 to /28", cidr);
  plan.prefix = static_cast<int>(*prefix);
  const unsigned host_bits = (1u << (32 - *prefix)) - 1;
  if (plan.network & host_bits) {
    return error(Code::invalid, "network {}: host bits are set (did you mean {}/{}?)", cidr, dotted(plan.network & ~host_bits),
                 *prefix);
  }
  return plan;
}

Result<int> free_number(const AddressPlan& plan, const std::vector<int>& taken) {
  for (int number = 0; number < plan.most_machines(); ++number) {
    if (std::find(taken.begin(), taken.end(), number) == taken.end()) return number;
  }
  return error(Code::conflict, "cluster network {}: no free address, it has {} machines", plan.with_prefix(dotted(plan.network)),
               taken.size());
}

}  // namespace slipway::provider::local
