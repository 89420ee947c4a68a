// Runs src/components/etcd for test_etcd_members.py:
//
//   etcd_members_tool discover FLAGS...                      discover-etcd-initial-cluster
//   etcd_members_tool keep FOLDER BOOTSTRAP MASTER...        runs the operator's observer with masters at these addresses, named
//                                                            master-0 and so on, until etcd-bootstrap is removed
//   etcd_members_tool defragment FOLDER MASTER...            runs the observer with small limits until the database of each
//   master
//                                                            is defragmented
//
// FOLDER contains ca.crt, client.crt and client.key; the bootstrap is complete when it contains a file `complete`. Each change
// and each changed condition is a line on standard output.
#include "components/etcd/discover.h"
#include "components/etcd/observer.h"
#include "main/world.h"
#include "net/read_tls_options.h"
#include "sys/signals.h"

#include <fmt/core.h>

#include <map>

namespace {

using namespace slipway;
using namespace slipway::components::etcd;

Result<net::TlsOptions> read_tls_options(sys::Files& files, const std::string& folder) {
  return net::read_tls_options(files, folder + "/ca.crt", folder + "/client.crt", folder + "/client.key");
}

Result<> keep(const components::Environment& environment, const std::vector<std::string>& arguments) {
  const std::string& folder = arguments.at(0);
  const net::TlsOptions tls = TRY(read_tls_options(environment.files, folder));
  const std::vector<std::string> addresses(arguments.begin() + 1, arguments.end());
  const sys::Context& context = environment.context;
  MembershipObserver keeper(environment.http);
  std::map<std::string, std::string> told;
  std::size_t changes = 0;
  const auto say = [&](const std::string& line) {
    environment.print(fmt::format("{} {}\n", context.clock.steady().time_since_epoch().count(), line));
  };
  while (!context.stop.stop_requested()) {
    const Result<std::optional<sys::FileInfo>> complete = environment.files.info(folder + "/complete");
    std::vector<components::Condition> conditions;
    const Milliseconds pause = keeper.observe(context, tls, addresses, [&](ObservedMembers members) {
      MembershipInput input{.members = std::move(members), .replicas = static_cast<int>(addresses.size()) - 1};
      for (std::size_t i = 1; i < addresses.size(); ++i) {
        input.masters.push_back({fmt::format("master-{}", i - 1), addresses[i], context.clock.now()});
      }
      input.is_bootstrap_complete = complete.ok() && complete.value().has_value();
      input.now = context.clock.now();
      conditions = plan_membership(input).conditions;
      return input;
    });
    const Facts& facts = keeper.facts();
    for (; changes < facts.changes.size(); ++changes) say(facts.changes[changes].reason + ": " + facts.changes[changes].message);
    bool is_removed = false;
    for (const components::Condition& it : conditions) {
      std::string text = fmt::format("{}={} {} {}", it.type, it.is_true ? "True" : "False", it.reason, it.message);
      is_removed |= it.type == "EtcdBootstrapMemberRemoved" && it.is_true;
      if (told[it.type] != text) say(text);
      told[it.type] = std::move(text);
    }
    if (is_removed) return Ok{};
    context.clock.wait(context.clock.steady() + pause, context.stop, nullptr, 0);
  }
  return error(Code::cancelled, "stopped");
}

Result<> defragment(const components::Environment& environment, const std::vector<std::string>& arguments) {
  const net::TlsOptions tls = TRY(read_tls_options(environment.files, arguments.at(0)));
  const std::vector<std::string> addresses(arguments.begin() + 1, arguments.end());
  const sys::Context& context = environment.context;
  MembershipObserver keeper(environment.http, {.least_size = 16u << 20, .least_free_percent = 30, .pause = Seconds(2)});
  std::size_t changes = 0, defragmented = 0;
  while (!context.stop.stop_requested() && defragmented < addresses.size()) {
    keeper.observe(context, tls, addresses, [&](ObservedMembers members) {
      MembershipInput input{.members = std::move(members), .replicas = static_cast<int>(addresses.size())};
      for (std::size_t i = 0; i < addresses.size(); ++i)
        input.masters.push_back({fmt::format("master-{}", i), addresses[i], context.clock.now()});
      input.is_bootstrap_complete = true;
      input.now = context.clock.now();
      return input;
    });
    for (; changes < keeper.facts().changes.size(); ++changes) {
      const Change& change = keeper.facts().changes[changes];
      defragmented += change.reason == "MemberDefragmented" ? 1 : 0;
      environment.print(fmt::format("{}: {}\n", change.reason, change.message));
    }
    context.clock.wait(context.clock.steady() + Milliseconds(200), context.stop, nullptr, 0);
  }
  return Ok{};
}

}  // namespace

int main(int argc, char** argv) {
  const sys::StopOnSignal signals;
  const std::string command = argc > 1 ? argv[1] : "";
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  World world("etcd_members_tool", Level::info, signals.token());
  const Result<> done = command == "discover"                       ? run_discover(world.environment(), arguments)
                        : command == "keep" && arguments.size() > 2 ? keep(world.environment(), arguments)
                        : command == "defragment" && arguments.size() > 1
                            ? defragment(world.environment(), arguments)
                            : Result<>(error(Code::invalid, "'{}' is not a command", command));
  if (done.ok()) return 0;
  fmt::print(stderr, "{}\n", done.error().message());
  return 1;
}
