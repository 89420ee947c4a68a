#include "assist/gates.h"

#include "assist/test_hosts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace slipway::assist {
namespace {

Validation check(std::string_view id, Outcome outcome, Weight weight = Weight::blocking) {
  return {.id = id, .category = "network", .weight = weight, .outcome = outcome, .message = "m"};
}

std::set<std::string_view> open_steps(const std::vector<Gate>& gates) {
  std::set<std::string_view> open;
  for (const Gate& gate : gates) {
    if (gate.is_open()) open.insert(gate.step);
  }
  return open;
}

const std::set<std::string_view> every_step = {"cluster-details", "host-discovery", "storage", "networking", "review"};

// All checks that exist for hosts: those of a cluster with load balancers of the user, and those of a later host.
std::set<std::string_view> all_of_hosts() {
  std::set<std::string_view> ids;
  const Host host = test_host("a");
  for (const bool is_day_two : {false, true}) {
    Cluster cluster = test_cluster();
    cluster.manages_addresses = false;
    cluster.is_day_two = is_day_two;
    for (const Validation& each : validate_host({.host = host, .cluster = &cluster, .hosts = {&host}, .now = test_now}))
      ids.insert(each.id);
  }
  return ids;
}

TEST(Gates, EveryCheckBelongsToOneStepBeforeTheLast) {
  std::map<std::string_view, int> of_hosts, of_cluster;
  for (const GateStep& step : gate_steps()) {
    for (const std::string_view id : step.host_validations) ++of_hosts[id];
    for (const std::string_view id : step.cluster_validations) ++of_cluster[id];
  }
  // Shown on the last step only: images are checked when the installation is prepared, the other repeats what hosts say.
  const std::set<std::string_view> last_only = {"container-images-available", "all-hosts-are-ready-to-install"};
  for (const std::string_view id : all_of_hosts()) EXPECT_EQ(of_hosts[id], last_only.contains(id) ? 0 : 1) << id;
  for (const Validation& each : validate_cluster(test_cluster(), {})) {
    EXPECT_EQ(of_cluster[each.id], last_only.contains(each.id) ? 0 : 1) << each.id;
  }
}

TEST(Gates, ACheckThatDoesNotPassClosesItsStepAndTheLast) {
  struct Case {
    const char* name;
    std::vector<Validation> of_cluster, of_host;
    std::set<std::string_view> closed;
  };
  const std::vector<Case> cases = {
      {"all pass", {check("api-vips-defined", Outcome::success)}, {check("connected", Outcome::success)}, {}},
      {"of the cluster", {check("api-vips-defined", Outcome::failure, Weight::input)}, {}, {"networking", "review"}},
      {"of a host", {}, {check("connected", Outcome::failure, Weight::state)}, {"host-discovery", "review"}},
      {"not known yet", {}, {check("belongs-to-majority-group", Outcome::pending)}, {"networking", "review"}},
      {"ignored by the user", {}, {check("has-default-route", Outcome::disabled)}, {}},
      {"a warning", {}, {check("ntp-synced", Outcome::failure, Weight::warning)}, {}},
      {"of no other step", {check("all-hosts-are-ready-to-install", Outcome::failure)}, {}, {"review"}},
      {"a disk", {}, {check("has-min-valid-disks", Outcome::failure, Weight::minimum)}, {"storage", "review"}},
  };
  for (const Case& each : cases) {
    std::set<std::string_view> open = every_step;
    for (const std::string_view step : each.closed) open.erase(step);
    EXPECT_EQ(open_steps(gates_of(each.of_cluster, {{"h", each.of_host}})), open) << each.name;
  }
}

TEST(Gates, TheLastStepIsOpenExactlyIfTheChecksPass) {
  for (const Weight weight : {Weight::state, Weight::minimum, Weight::input, Weight::blocking, Weight::warning}) {
    for (const Outcome outcome : {Outcome::success, Outcome::failure, Outcome::pending, Outcome::disabled}) {
      const std::vector<Validation> checks = {check("any", outcome, weight)};
      const bool pass_all = pass(checks, Weight::state) && pass(checks, Weight::minimum) && pass(checks, Weight::input) &&
                            pass(checks, Weight::blocking);
      EXPECT_EQ(gates_of(checks, {}).back().is_open(), pass_all) << to_string(weight) << " " << to_string(outcome);
    }
  }
}

TEST(Gates, JsonNamesHostsAndWarnings) {
  const std::vector<Gate> gates = gates_of({}, {{"h1", {check("ntp-synced", Outcome::failure, Weight::warning)}}});
  const Json json = to_json(gates);
  EXPECT_EQ(emit_json(json.get_array()[3], JsonStyle::compact),
            R"({"step":"networking","is_open":true,"problems":[],)"
            R"("warnings":[{"id":"ntp-synced","category":"network","status":"failure","message":"m","host_id":"h1"}]})");
}

}  // namespace
}  // namespace slipway::assist
