// Answers of other programs to operators, any bytes. The first byte selects the source: h "show servers state" of haproxy, c the
// answer of haproxy to a command, i `ip -json address`, e the gateway of etcd (the second byte is the status), p required pods, g
// a duration in Go's format, o the record of the bootstrap about its files.
#include "base/check.h"
#include "components/cluster_bootstrap/options.h"
#include "components/cluster_bootstrap/owned_files.h"
#include "components/cluster_bootstrap/required_pods.h"
#include "components/etcd/members.h"
#include "components/program/host_address.h"
#include "components/router/slots.h"
#include "components/runtimecfg/proxy_slots.h"
#include "net/ip.h"
#include "sys/clock.h"

#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::components;
using namespace slipway::components::cluster_bootstrap;
using namespace slipway::components::runtimecfg;

class OneAnswer final : public net::Http {
 public:
  OneAnswer(int status, std::string_view text) : answer_{status, {}, std::string(text)} {}
  Result<net::Answer> send(const net::Request&, std::stop_token, const net::Sink&) override { return answer_; }

 private:
  net::Answer answer_;
};

void proxy_places(std::string_view text) {
  const auto places = parse_proxy_slots(text);
  if (!places.ok()) return;
  // A command is one line: a server name could contain anything.
  for (const std::string& command : slot_commands(places.value(), {"10.0.0.1", "10.0.0.2"})) {
    CHECK(command.find('\n') == std::string::npos);
  }
}

void etcd_members(int status, std::string_view text) {
  OneAnswer http(status, text);
  sys::RealClock clock;
  Log log(Level::error, [](Level, std::string_view) {});
  sys::Events events(clock, "fuzz");
  const sys::Context context{clock, log, events};
  const etcd::Gateway gateway(http, {});
  const auto members = gateway.list(context, "https://10.0.0.1:2381", etcd::Consistency::linearizable);
  if (members.ok()) {
    CHECK(status == 200 && !members->empty());
    for (const etcd::Member& member : members.value()) CHECK(!etcd::name_of(member).empty());
  }
  (void)gateway.status(context, "https://10.0.0.1:2381").ok();
}

void addresses(std::string_view text) {
  const auto found = parse_host_addresses(text);
  if (!found.ok()) return;
  for (bool v4 : {true, false}) {
    const auto chosen = choose_host_address(found.value(), v4, {}, {});
    if (chosen.ok()) CHECK(chosen->is_v4() == v4);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'h': proxy_places(text); break;
    case 'c': (void)router::is_done(text); break;
    case 'i': addresses(text); break;
    case 'e': etcd_members(100 + 2 * data[1], text.substr(1)); break;
    case 'p': {
      const auto pods = parse_required_pods(text);
      if (pods.ok()) CHECK(pod_states(pods.value(), {}).size() == pods->size());
      break;
    }
    case 'g': (void)parse_go_duration(text).ok(); break;
    case 'o': {
      const auto owned = parse_owned(text, "fuzz");
      if (owned.ok()) CHECK(parse_owned(emit_owned(owned.value()), "again").value() == owned.value());
      break;
    }
    default: break;
  }
  return 0;
}
