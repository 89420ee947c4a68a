#include "components/runtimecfg/departure.h"

#include "base/check.h"
#include "base/number.h"
#include "base/text.h"
#include "components/render/document.h"
#include "components/runtimecfg/runtimecfg.h"
#include "net/interfaces.h"
#include "net/vrrp.h"
#include "sys/wait_for.h"

#include <optional>

namespace slipway::components::runtimecfg {

namespace {

constexpr Milliseconds calls_limit{500};
// Another machine takes over after 0.2 s at most.
constexpr Milliseconds take_over_limit{450};
// Polling interval: the end of a wait decides when clients are served again.
constexpr sys::Pace take_over_pace{Milliseconds(10), Milliseconds(10)};
constexpr Milliseconds nft_limit{2'000};

// Like write_priority_change, but never raises the priority: this machine may be unable to hold the address.
Result<> lower_priority(sys::Files& files, const std::string& track_file, int change) {
  const std::optional<std::string> text = TRY(files.read_if_exists(track_file));
  const std::optional<int> known = text ? parse_number<int>(trim(*text)) : std::nullopt;
  if (!known || *known > change) TRY(write_priority_change(files, track_file, change));
  return Ok{};
}

std::string table_of(std::string_view name) { return fmt::format("slipway-leaving-{}", to_lower(name)); }
std::string_view family_of(const net::IpAddress& address) { return address.is_v4() ? "ip" : "ip6"; }

}  // namespace

Result<bool> write_priority_change(sys::Files& files, const std::string& track_file, int change) {
  const std::string text = fmt::format("{}\n", change);
  if (TRY(files.read_if_exists(track_file)) == text) return false;
  TRY(files.write(track_file, text, 0644));
  return true;
}

std::string leaving_rules(std::string_view name, const net::IpAddress& address) {
  const TemplateValues values = {{"FAMILY", std::string(family_of(address))},
                                 {"TABLE", table_of(name)},
                                 {"SET_TYPE", address.is_v4() ? "ipv4_addr" : "ipv6_addr"},
                                 {"ADDRESS", to_string(address)}};
  const Result<std::string> rules = fill_text("runtimecfg/leaving.nft", values);
  CHECK(rules.ok());
  return no_leaving_rules(name, address) + rules.value();
}

// The first line creates the table, so that the second one also succeeds without it.
std::string no_leaving_rules(std::string_view name, const net::IpAddress& address) {
  return fmt::format("table {0} {1}\ndelete table {0} {1}\n", family_of(address), table_of(name));
}

Departure::Departure(sys::Files& files, Parts parts) : files_(files), parts_(std::move(parts)) {}

void Departure::begin(const sys::Context& context) {
  const Result<> accepted = parts_.drop_new_connections(context, false);
  if (!accepted.ok()) context.log.warn("{}; calls will be cut when the address moves", accepted.error().message());
}

Result<> Departure::leave(const sys::Context& stopping, int change) {
  // A stop request does not interrupt this: it is the usual reason to leave.
  const sys::Context context = stopping.with_stop({});
  const auto warn = [&](const Result<>& done) {
    if (!done.ok()) context.log.warn("{}; the address of the {} leaves all the same", done.error().message(), parts_.name);
  };
  const Result<bool> held = parts_.holds_address();
  if (!held.ok() || !held.value()) {
    return lower_priority(files_, parts_.track_file, change);
  }
  const SteadyTime begin = context.clock.steady();
  warn(parts_.drop_new_connections(context, true));
  const Result<> lowered = lower_priority(files_, parts_.track_file, change);
  if (lowered.ok()) {
    sys::pause(context, calls_limit);
    warn(parts_.say_farewell());
    const Result<> left = sys::wait_for(
        context, "another machine", take_over_limit,
        [&]() -> Result<sys::Observation> {
          return TRY(parts_.holds_address()) ? sys::Observation::not_yet("none took it") : sys::Observation::done();
        },
        nullptr, take_over_pace);
    const std::string_view result = left.ok() ? "another machine has it" : "no other machine takes it";
    context.log.info("the address of the {}: {} after {}", parts_.name, result, human_duration(context.clock.steady() - begin));
  }
  warn(parts_.drop_new_connections(context, false));
  return lowered;
}

Result<Departure> make_departure(const net::Environment& environment, const Departing& departing, const Json& addresses) {
  const std::string interface = TRY(interface_for(addresses, departing.address));
  const net::IpAddress own_address = TRY(own_address_for(addresses, departing.address));
  const net::VrrpFarewell farewell{
      .interface = interface, .own = own_address, .router_id = departing.router_id, .address = departing.address};
  sys::Runner& runner = environment.runner;
  const auto drop = [&runner, name = departing.name, address = departing.address](const sys::Context& context,
                                                                                  bool is_on) -> Result<> {
    const sys::Command command{.argv = {"nft", "-f", "-"},
                               .input = is_on ? leaving_rules(name, address) : no_leaving_rules(name, address),
                               .limit = nft_limit};
    TRY(sys::run_checked(runner, context, command)
            .context(is_on ? "stopping new connections" : "accepting connections again"));
    return Ok{};
  };
  return Departure(environment.files, {.name = departing.name,
                                       .track_file = departing.track_file,
                                       .holds_address = [address = departing.address] { return net::has_address(address); },
                                       .drop_new_connections = drop,
                                       .say_farewell = [farewell] { return net::send_vrrp_farewell(farewell); }});
}

}  // namespace slipway::components::runtimecfg
