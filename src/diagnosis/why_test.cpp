#include "diagnosis/why.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace slipway::diagnosis {
namespace {

const WallTime now = parse_rfc3339("2026-11-22T06:10:00Z").value();

std::string text_of_file(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(SLIPWAY_SOURCE "/" + path).rdbuf();
  return text.str();
}

Json data(const std::string& name) {
  Result<YamlDocument> document = parse_yaml(text_of_file("src/diagnosis/testdata/" + name), name);
  if (!document.ok()) ADD_FAILURE() << document.error().message();
  return document.ok() ? std::move(document->value) : Json(JsonObject());
}

// "ago 2m" and "in 2m" as a time; nothing for other texts.
std::optional<WallTime> relative_time(std::string_view text) {
  const bool is_past = text.starts_with("ago ");
  if (!is_past && !text.starts_with("in ")) return std::nullopt;
  const Result<Milliseconds> distance = parse_duration(text.substr(is_past ? 4 : 3));
  if (!distance.ok()) return std::nullopt;
  return is_past ? now - distance.value() : now + distance.value();
}

void set_times(Json& value) {
  if (value.is_object()) {
    for (auto& member : value.get_object()) set_times(member.value());
  } else if (value.is_array()) {
    for (Json& item : value.get_array()) set_times(item);
  } else if (value.is_string()) {
    if (const auto time = relative_time(value.get_string())) value = to_rfc3339(*time);
  }
}

// Follows the steps and puts the last item there; null removes a member.
void apply(Json& document, const JsonArray& steps) {
  Json* place = &document;
  for (std::size_t i = 0; i + 2 < steps.size(); ++i) {
    place = steps[i].is_int64() ? &place->as_array().at(static_cast<std::size_t>(steps[i].get_int64()))
                                : &place->as_object()[std::string_view(steps[i].as_string())];
    if (place->is_null()) *place = JsonObject();
  }
  const Json& last = steps[steps.size() - 2];
  const Json& value = steps.back();
  if (last.is_int64()) {
    JsonArray& list = place->as_array();
    const auto index = static_cast<std::size_t>(last.get_int64());
    if (index == list.size()) list.push_back(Json());
    list.at(index) = value;
  } else if (value.is_null()) {
    place->as_object().erase(std::string_view(last.as_string()));
  } else {
    place->as_object()[std::string_view(last.as_string())] = value;
  }
}

std::string lines_of(const JsonArray& values) {
  std::string lines;
  for (const Json& value : values) lines += emit_json(value, JsonStyle::compact) + "\n";
  return lines;
}

// The files of a bundle.
Bundle bundle_of(const Json& document) {
  Bundle bundle;
  Json look = *find(document, {"look"});
  look.as_object()["time"] = to_rfc3339(now);
  bundle.add(std::string(look_file), emit_json(look, JsonStyle::compact));
  bundle.add("host/expected.json", emit_json(*find(document, {"expected"}), JsonStyle::compact));
  bundle.add("host/machines.jsonl", lines_of(find_array(document, {"machines"})));
  bundle.add("host/events.jsonl", lines_of(find_array(document, {"events"})));
  for (const auto& [path, text] : find_object(document, {"files"})) bundle.add(std::string(path), std::string(text.as_string()));
  const std::vector<Machine> machines = bundle.machines();
  for (const auto& [name, lines] : find_object(document, {"probes"})) {
    std::string text;
    for (const auto& [label, rest] : lines.as_object())
      text += fmt::format("{} {}\n", std::string_view(label), std::string_view(rest.as_string()));
    const auto machine = std::ranges::find(machines, name, &Machine::name);
    for (const std::string& port : machine == machines.end() ? std::vector<std::string>() : ports_to_try(machines, *machine)) {
      if (!lines.as_object().contains("port " + port)) text += fmt::format("port {} open\n", port);
    }
    bundle.add(fmt::format("host/{}.probe.txt", std::string_view(name)), text);
  }
  for (const auto& [file, objects] : find_object(document, {"objects"})) {
    JsonArray items;
    for (const auto& [key, object] : objects.as_object()) {
      const std::string_view full = key;
      const std::size_t slash = full.find('/');
      Json item = object;
      Json& metadata = item.as_object()["metadata"];
      if (metadata.is_null()) metadata = JsonObject();
      metadata.as_object()["name"] = full.substr(slash == std::string_view::npos ? 0 : slash + 1);
      if (slash != std::string_view::npos) metadata.as_object()["namespace"] = full.substr(0, slash);
      items.push_back(std::move(item));
    }
    const Json list = {{"items", std::move(items)}};
    bundle.add(fmt::format("resources/{}.json", std::string_view(file)), emit_json(list, JsonStyle::compact));
  }
  return bundle;
}

using Changes = std::vector<JsonArray>;  // as in faults.yaml

Changes changes_of(const Json& each) {
  Changes changes;
  for (const Json& change : find_array(each, {"change"})) changes.push_back(change.as_array());
  return changes;
}

Snapshot changed(const Changes& changes) {
  Json document = data("cluster.yaml");
  for (const JsonArray& change : changes) apply(document, change);
  set_times(document);
  const std::optional<Snapshot> snapshot = snapshot_of(bundle_of(document));
  EXPECT_TRUE(snapshot.has_value());
  return snapshot.value_or(Snapshot());
}

std::vector<std::string> names_of(const Chain& chain) {
  std::vector<std::string> names;
  for (const Link& link : chain) names.push_back(link.name);
  return names;
}

TEST(Why, FaultsHaveTheirCauseAtTheEndOfTheFirstChain) {
  const Json cases = data("faults.yaml");
  ASSERT_GE(cases.as_array().size(), 60u);
  std::set<std::string> seen;
  for (const Json& each : cases.as_array()) {
    const std::string name = text_of(each, {"name"});
    const std::vector<Chain> chains = why(changed(changes_of(each)));
    ASSERT_FALSE(chains.empty()) << name;
    const Link& end = chains.front().back();
    EXPECT_EQ(end.name, text_of(each, {"link"})) << name << "\n" << to_text(chains, now);
    EXPECT_EQ(end.object, text_of(each, {"object"})) << name;
    EXPECT_NE(end.sentence.find(text_of(each, {"says"})), std::string::npos) << name << ": " << end.sentence;
    EXPECT_EQ(end.next_step.find("{}"), std::string::npos) << name;
    EXPECT_FALSE(end.next_step.empty()) << name;
    if (find(each, {"chain"})) {
      EXPECT_EQ(names_of(chains.front()), texts_of(each, {"chain"})) << name;
    }
    for (const Chain& chain : chains) {
      for (const Link& link : chain) seen.insert(link.name);
    }
  }
  for (const LinkRow& row : link_rows()) EXPECT_TRUE(seen.contains(std::string(row.name))) << row.name << " has no case";
}

TEST(Why, HealthyAndSlowClustersHaveNoChain) {
  const Json cases = data("calm.yaml");
  ASSERT_GE(cases.as_array().size(), 20u);
  for (const Json& each : cases.as_array()) {
    const std::vector<Chain> chains = why(changed(changes_of(each)));
    EXPECT_EQ(to_text(chains, now), "") << text_of(each, {"name"});
  }
}

// The same faults seconds after their onset have no link yet: the limits are data, and the walk applies them.
TEST(Why, PatienceBeginsWithTheFault) {
  for (const auto& [age, is_found] : std::initializer_list<std::pair<std::string, bool>>{{"ago 9s", false}, {"ago 11s", true}}) {
    const Changes off = {JsonArray{"machines", 3, "state", "stopped"},
                           JsonArray{"events",
                                     0,
                                     {{"time", age},
                                      {"source", "slipway"},
                                      {"kind", "machine"},
                                      {"name", "worker-0"},
                                      {"phase", "progress"},
                                      {"state", "stopped"}}}};
    EXPECT_EQ(!why(changed(off)).empty(), is_found) << age;
  }
}

TEST(Why, AnInstallationGetsMorePatienceForWhatTellsOfSpeed) {
  const auto patience = [](std::string_view name) { return patience_of(link_row(name), Situation::installing); };
  EXPECT_EQ(patience("machine-off"), Seconds(10));
  EXPECT_EQ(patience("port-closed"), Seconds(5));
  EXPECT_EQ(patience("node-silent"), Seconds(200));
  EXPECT_EQ(patience("machine-boots"), Seconds(900));
  EXPECT_EQ(patience_of(link_row("node-silent"), Situation::usual), Seconds(40));
  const Snapshot snapshot = changed({JsonArray{"objects", "leases", "kube-node-lease/worker-0", "spec", "renewTime", "ago 60s"}});
  EXPECT_FALSE(why(snapshot).empty());
  EXPECT_TRUE(why(snapshot, whole_cluster, Situation::installing).empty());
}

TEST(Why, AnObjectHasItsOwnChain) {
  const Changes off = {JsonArray{"machines", 3, "state", "stopped"}};
  const Snapshot snapshot = changed(off);
  EXPECT_TRUE(why(snapshot, {"pod", "openshift-dns/dns-0"}).empty());
  const std::vector<Chain> chains = why(snapshot, {"pod", "demo/web-0"});
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(names_of(chains[0]), std::vector<std::string>{"machine-off"});
  EXPECT_EQ(to_text(chains, now),
            "machine/worker-0: machine worker-0 is off\nwhat to do: start it: `slipway machine start worker-0`\n");
}

TEST(Why, OtherEndsFollowTheFirstChain) {
  const Changes both = {
      JsonArray{"machines", 3, "state", "stopped"},
      JsonArray{"objects",
                "clusteroperators",
                "dns",
                "status",
                "conditions",
                2,
                {{"type", "Degraded"}, {"status", "True"}, {"lastTransitionTime", "ago 10m"}, {"message", "no resolver"}}}};
  const std::string text = to_text(why(changed(both)), now);
  EXPECT_TRUE(text.starts_with("machine/worker-0: machine worker-0 is off\n")) << text;
  EXPECT_NE(text.find("\nalso broken:\n  clusteroperator/dns: operator dns is Degraded: no resolver, since 2026-11-22T06:00:00Z "
                      "(10 min 0 s); "),
            std::string::npos)
      << text;
}

TEST(Why, ChainsAreJsonAndEvents) {
  const Changes lost = {JsonArray{"objects", "persistentvolumeclaims", "demo/data", "status", "phase", "Lost"}};
  const std::vector<Chain> chains = why(changed(lost));
  ASSERT_EQ(chains.size(), 1u);
  const Json json(to_json(chains));
  const JsonArray& links = find_array(json.as_array().at(0), {"links"});
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(text_of(links.at(0), {"name"}), "claim-lost");
  EXPECT_EQ(text_of(links.at(0), {"level"}), "pod");
  EXPECT_EQ(text_of(links.at(0), {"since"}), "2026-11-22T05:10:00Z");
  sys::Event event = to_event(chains.front());
  event.source = "slipway";
  EXPECT_EQ(event.to_line(),
            R"({"time":"1970-01-01T00:00:00Z","source":"slipway","kind":"cause","name":"claim-lost","phase":"failed",)"
            R"("error":{"code":"unavailable","message":"claim demo/data has lost its volume"},"object":"pvc/demo/data",)"
            R"("next_step":"restore the PersistentVolume, or delete the claim and its pods","since":"2026-11-22T05:10:00Z",)"
            R"("chain":["claim-lost pvc/demo/data"]})");
}

TEST(Why, ObjectsAreNamedAsInTheApi) {
  EXPECT_EQ(parse_object("node/master-0").value(), (Object{"node", "master-0"}));
  EXPECT_EQ(parse_object("co/etcd").value(), (Object{"clusteroperator", "etcd"}));
  EXPECT_EQ(parse_object("MCP/worker").value(), (Object{"machineconfigpool", "worker"}));
  EXPECT_EQ(parse_object("persistentvolumeclaim/demo/data").value(), (Object{"pvc", "demo/data"}));
  for (const char* wrong : {"", "node", "node/", "pod/web-0", "node/a/b", "pod//web-0", "cluster/", "host/", "secret/a/b"}) {
    const Result<Object> object = parse_object(wrong);
    ASSERT_FALSE(object.ok()) << wrong;
    EXPECT_EQ(object.error().code(), Code::invalid) << wrong;
  }
  const Snapshot snapshot = changed({});
  EXPECT_TRUE(exists(snapshot, {"node", "master-0"}));
  EXPECT_TRUE(exists(snapshot, {"machine", "master-0"}));
  EXPECT_FALSE(exists(snapshot, {"pod", "demo/web-7"}));
}

TEST(Links, HaveNamesOfTheirOwnAndStandInTheDocumentation) {
  const std::string page = text_of_file("docs/why.md");
  std::set<std::string_view> names;
  for (const LinkRow& row : link_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(page.find(fmt::format("| `{}` | {} | {} | ", row.name, to_string(row.level), row.found)), std::string::npos)
        << row.name;
  }
}

TEST(Snapshot, ABundleWithoutALookHasTheTimeOfItsProbes) {
  Bundle bundle;
  EXPECT_FALSE(snapshot_of(bundle));
  bundle.add("host/machines.jsonl", R"({"name":"m0","state":"running"})");
  EXPECT_FALSE(snapshot_of(bundle));
  bundle.add("host/m0.probe.txt", "clock 2026-11-22T06:10:00Z\naddress 10.0.0.1 eth0\n");
  const std::optional<Snapshot> snapshot = snapshot_of(bundle);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->notes.time, now);
  EXPECT_EQ(snapshot->notes.api, LookNotes::Api::not_asked);
  EXPECT_TRUE(why(*snapshot).empty());
}

TEST(Snapshot, NotesOfALookReadBack) {
  const LookNotes notes{
      .time = now, .api = LookNotes::Api::silent, .api_failure = "no route", .silent_machines = {{"m0", "timed out"}}};
  Bundle bundle;
  bundle.add(std::string(look_file), to_text(notes));
  const std::optional<LookNotes> read = parse_look_notes(bundle);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->time, notes.time);
  EXPECT_EQ(read->api, notes.api);
  EXPECT_EQ(read->api_failure, notes.api_failure);
  EXPECT_EQ(read->silent_machines, notes.silent_machines);
}

TEST(Snapshot, LogsAreWantedOfContainersThatFail) {
  const Changes crashes = {
      JsonArray{
          "objects",
          "pods",
          "demo/web-0",
          "status",
          "containerStatuses",
          0,
          {{"name", "main"}, {"ready", false}, {"restartCount", 2}, {"state", {{"waiting", {{"reason", "CrashLoopBackOff"}}}}}}},
      JsonArray{"objects",
                "pods",
                "openshift-dns/dns-0",
                "status",
                "containerStatuses",
                0,
                {{"name", "dns"}, {"ready", false}, {"restartCount", 7}, {"state", {{"running", JsonObject()}}}}}};
  const Snapshot snapshot = changed(crashes);
  const std::vector<LogWish> wishes = wanted_logs(snapshot, 5);
  ASSERT_EQ(wishes.size(), 2u);
  EXPECT_EQ(wishes[0].container, "dns");
  EXPECT_TRUE(wishes[0].previous);
  EXPECT_FALSE(wishes[1].previous);
  EXPECT_EQ(path_of(wishes[1]), "control-plane/worker-0/containers/logs/demo_web-0_/main/2.log");
  EXPECT_EQ(wanted_logs(snapshot, 1).size(), 1u);
}

TEST(Snapshot, MachinesTryThePortsThatTheyNeed) {
  const std::vector<Machine> machines = {{"master-0", "", "running", "", "10.0.0.1"},
                                         {"master-1", "", "stopped", "", "10.0.0.2"},
                                         {"worker-0", "", "running", "", "10.0.0.3"},
                                         {"worker-1", "", "running", "", ""}};
  EXPECT_EQ(ports_to_try(machines, machines[2]),
            (std::vector<std::string>{"10.0.0.1:6443", "10.0.0.1:22623", "10.0.0.3:10250"}));
  EXPECT_EQ(ports_to_try(machines, machines[0]),
            (std::vector<std::string>{"10.0.0.1:2379", "10.0.0.1:2380", "10.0.0.1:6443", "10.0.0.1:22623", "10.0.0.1:10250",
                                      "10.0.0.3:10250"}));
}

}  // namespace
}  // namespace slipway::diagnosis
