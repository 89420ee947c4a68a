#include "cluster/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace slipway::cluster {

namespace {

// Dependencies that the events do not contain: `needs` are the prefixes of the keys that an item with the prefix `item` waits
// for. The item waited for the last of them that ended before it. An item follows directly from the first prefix of `needs`. A
// star is the subject of the item: the kind of the operator's object, otherwise the name.
struct Need {
  std::string_view item;
  std::vector<std::string_view> needs;
};

const std::vector<Need>& table() {
  static const std::vector<Need> rows = {
      {"step machines", {"step assets"}},
      // Ignition on a machine retries until the bootstrap machine or the cluster serves its config.
      {"stage master-", {"stage mco-bootstrap"}},
      {"stage worker-", {"stage cb-bootstrap", "report-progress "}},
      {"boot ", {"stage *-turn", "stage *-ignition", "step machines"}},
      {"step kubernetes-api", {"stage wait-for-etcd"}},
      {"kubelet-certificate ", {"boot *", "step kubernetes-api"}},
      {"certificate-request ", {"boot *", "step kubernetes-api"}},
      {"serving-certificate ", {"node *", "certificate-request *"}},
      {"step control-plane-nodes", {"node master-", "step kubernetes-api"}},
      {"operator Etcd MemberAdded", {"node master-", "certificate-request "}},
      {"operator Etcd MemberPromoted", {"operator * InstallCompleted", "operator * MemberAdded", "operator * MemberPromoted"}},
      {"operator Etcd LeaderMoved", {"operator * MemberPromoted"}},
      {"operator Etcd NodeRevisionReady", {"operator * MemberPromoted"}},
      {"operator Etcd BootstrapMemberRemoved", {"report-progress "}},
      {"operator KubeAPIServer NodeRevisionReady", {"operator Etcd MemberPromoted", "operator * InstallCompleted"}},
      {"operator * RevisionCreated", {"node master-", "certificate-request "}},
      {"operator * NodeTargeted", {"operator * RevisionCreated"}},
      {"operator * InstallCompleted", {"operator * RevisionCreated", "operator * NodeTargeted"}},
      {"operator * NodeRevisionReady", {"operator * InstallCompleted"}},
      {"stage cb-bootstrap",
       {"operator KubeAPIServer NodeRevisionReady", "operator KubeControllerManager NodeRevisionReady",
        "operator KubeScheduler NodeRevisionReady", "operator Etcd LeaderMoved"}},
      {"report-progress ", {"stage bootkube"}},
      {"step bootstrap-complete", {"report-progress ", "step control-plane-nodes"}},
      {"step bootstrap-member", {"operator Etcd BootstrapMemberRemoved", "step bootstrap-complete"}},
      {"step bootstrap-machine", {"step bootstrap-member"}},
      {"step nodes-ready", {"step bootstrap-machine"}},
      {"step api-servers", {"operator KubeAPIServer NodeRevisionReady", "step nodes-ready"}},
      {"node master-", {"certificate-request *", "kubelet-certificate *"}},
      // The cluster serves the config of a worker after it has the API address.
      {"node ", {"boot *", "operator KubeAPIServer NodeRevisionReady", "report-progress ", "stage cb-bootstrap"}},
      {"step worker-nodes", {"node worker-", "step api-servers"}},
      {"cluster-operator etcd", {"operator Etcd NodeRevisionReady", "operator Etcd InstallCompleted"}},
      {"cluster-operator kube-apiserver",
       {"operator KubeAPIServer NodeRevisionReady", "operator KubeAPIServer InstallCompleted"}},
      {"cluster-operator kube-controller-manager",
       {"operator KubeControllerManager NodeRevisionReady", "operator KubeControllerManager InstallCompleted"}},
      {"cluster-operator kube-scheduler",
       {"operator KubeScheduler NodeRevisionReady", "operator KubeScheduler InstallCompleted"}},
      {"cluster-operator ingress", {"node ", "cluster-operator dns", "cluster-operator network"}},
      {"cluster-operator ", {"node "}},
      {"step cluster-operators", {"cluster-operator ", "operator ", "step worker-nodes"}},
      {"step cluster-version", {"step cluster-operators"}},
  };
  return rows;
}

// "Etcd" of "operator Etcd MemberAdded", "worker-0" of "node worker-0".
std::string_view subject_of(std::string_view key) {
  const std::string_view rest = key.substr(key.find(' ') + 1);
  return key.starts_with("operator ") ? rest.substr(0, rest.find(' ')) : rest;
}

std::string with_subject(std::string_view pattern, std::string_view subject) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, star), subject, pattern.substr(star + 1));
}

// The prefixes of keys that an item needs, from the table.
std::vector<std::string> needs_of(std::string_view key) {
  const std::string_view subject = subject_of(key);
  std::vector<std::string> needs;
  const auto found =
      std::ranges::find_if(table(), [&](const Need& row) { return key.starts_with(with_subject(row.item, subject)); });
  if (found == table().end()) return needs;
  for (const std::string_view need : found->needs) needs.push_back(with_subject(need, subject));
  return needs;
}

std::string field(const sys::Event& event, std::string_view name) {
  const Json* value = event.fields.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

// Certificate requests are identified by their node. The request for a kubelet's first certificate, which the node waits for, is
// named node-csr-HASH; the requests for its serving certificate have other names.
std::string key_of(const sys::Event& event) {
  const std::string node = field(event, "node");
  if (event.kind != "certificate-request" || node.empty()) return event.kind + " " + event.name;
  return (event.name.starts_with("node-csr-") ? "certificate-request " : "serving-certificate ") + node;
}

// The part of a description after a semicolon is detail.
struct Words {
  std::string label, detail;
};

Words words_of(const sys::Event& event) {
  Words words;
  const std::string description = field(event, "description"), node = field(event, "node");
  const std::size_t semicolon = description.find("; ");
  if (!description.empty()) {
    words = {description.substr(0, semicolon), semicolon == std::string::npos ? "" : description.substr(semicolon + 2)};
  } else if (event.kind == "certificate-request" && !node.empty()) {
    words = {fmt::format("the {}certificate of {} is approved", event.name.starts_with("node-csr-") ? "" : "serving ", node),
             event.name};
  } else if (event.kind == "boot") {
    words.label = event.name + " boots";
  } else {
    words.label = event.kind + " " + event.name;
  }
  if (event.error) words.detail = event.error->message();
  return words;
}

// The component that the event belongs to, for display.
std::string group_of(const sys::Event& event) {
  if (event.kind == "step") return "slipway: steps";
  if (event.kind == "finding" || event.kind == "cause") return "findings";
  if (event.kind == "operator") return "operator of " + std::string(subject_of(key_of(event)));
  if (event.kind == "cluster-operator") return "ClusterOperators";
  if (event.kind == "node" || event.kind.ends_with("certificate") || event.kind == "certificate-request") return "nodes";
  if (event.source == "slipway") return "machines";
  return "bootstrap machine";
}

bool is_end(const sys::Event& event) { return event.phase == sys::Phase::finished || event.phase == sys::Phase::failed; }

bool is_step(const sys::Event& event, std::string_view name, sys::Phase phase) {
  return event.kind == "step" && event.name == name && event.phase == phase;
}

// The events of the installation, sorted by time, without duplicates.
std::vector<sys::Event> of_installation(std::vector<sys::Event> events) {
  std::ranges::stable_sort(events, {}, &sys::Event::time);
  const auto first =
      std::ranges::find_if(events, [](const sys::Event& event) { return is_step(event, "assets", sys::Phase::started); });
  auto last = std::find_if(first, events.end(),
                           [](const sys::Event& event) { return is_step(event, "cluster-version", sys::Phase::finished); });
  if (last != events.end()) ++last;
  std::set<std::tuple<std::string, std::string, std::string, std::string, sys::Phase, WallTime>> known;
  std::vector<sys::Event> kept;
  std::copy_if(first, last, std::back_inserter(kept), [&](const sys::Event& event) {
    return known.emplace(event.source, event.kind, event.name, field(event, "description"), event.phase, event.time).second;
  });
  return kept;
}

// Spans that started and have not ended, in the order of their start.
std::vector<sys::Event> open_spans(const std::vector<sys::Event>& events) {
  std::vector<sys::Event> open;
  for (const sys::Event& event : events) {
    if (event.phase == sys::Phase::progress) continue;
    std::erase_if(open, [&](const sys::Event& other) { return other.kind == event.kind && other.name == event.name; });
    if (event.phase == sys::Phase::started) open.push_back(event);
  }
  return open;
}

// An item and the keys that it needs: those that its stage names, and prefixes from the table.
struct Node {
  TimelineItem item;
  std::vector<std::string> own, beginnings;

  bool needs(const Node& other) const {
    const std::string& key = other.item.key;
    return std::ranges::find(own, key) != own.end() ||
           std::ranges::any_of(beginnings, [&](const std::string& beginning) { return key.starts_with(beginning); });
  }
};

// Stages name the stages that they need. A stage that names none waits for its machine.
std::vector<std::string> own_needs(const sys::Event& event) {
  std::vector<std::string> keys;
  if (event.kind != "stage") return keys;
  const Json* list = event.fields.if_contains("needs");
  for (const Json& name : list && list->is_array() ? list->get_array() : JsonArray()) {
    if (name.is_string()) keys.push_back("stage " + std::string(name.get_string()));
  }
  if (!keys.empty()) return keys;
  if (event.source == "bootstrap") return {"step machines", "stage bootstrap-ignition", "boot bootstrap"};
  return {"step machines"};
  return keys;
}

Node node_of(const sys::Event& event) {
  const std::string key = key_of(event);
  Words words = words_of(event);
  return {.item = {.key = key,
                   .label = std::move(words.label),
                   .detail = std::move(words.detail),
                   .group = group_of(event),
                   .begin = event.time - event.duration.value_or(Milliseconds(0)),
                   .end = event.time,
                   .has_failed = event.phase == sys::Phase::failed},
          .own = own_needs(event),
          .beginnings = needs_of(key)};
}

// A watch delivers an event shortly after it happened. Another source may already have reported an event that follows from it.
// The event of the watch happened before that one.
constexpr Milliseconds late_at_most(500);

bool is_heard_by_watch(const Node& node) {
  return node.item.key.starts_with("operator ") || node.item.key.starts_with("node ") ||
         node.item.key.starts_with("cluster-operator ");
}

bool follows_from(const Node& node, const Node& other) {
  return !node.beginnings.empty() && other.item.key.starts_with(node.beginnings.front());
}

void put_causes_first(std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto at = [&](std::size_t index) { return nodes.begin() + static_cast<std::ptrdiff_t>(index); };
    // A step ends when all items that it needs have ended.
    const bool needs_all = nodes[i].item.key.starts_with("step ");
    if (!needs_all && std::any_of(at(0), at(i), [&](const Node& before) { return follows_from(nodes[i], before); })) continue;
    for (std::size_t j = i + 1; j < nodes.size() && nodes[j].item.end - nodes[i].item.end <= late_at_most; ++j) {
      if (!is_heard_by_watch(nodes[j]) || nodes[j].item.key == nodes[i].item.key || !follows_from(nodes[i], nodes[j])) continue;
      const auto late = nodes[j].item.end - nodes[i].item.end;
      nodes[j].item.begin -= late;
      nodes[j].item.end -= late;
      std::rotate(at(i), at(j), at(j + 1));
      ++i;
      if (!needs_all) break;
    }
  }
}

double seconds_between(WallTime from, WallTime to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

Timeline make_timeline(std::vector<sys::Event> all) {
  const std::vector<sys::Event> events = of_installation(std::move(all));
  Timeline timeline;
  if (events.empty()) return timeline;
  timeline.start = events.front().time;
  timeline.end = events.back().time;
  timeline.is_complete = is_step(events.back(), "cluster-version", sys::Phase::finished);
  std::vector<Node> nodes;
  for (const sys::Event& event : events) {
    if (is_end(event)) nodes.push_back(node_of(event));
  }
  put_causes_first(nodes);
  for (const sys::Event& event : timeline.is_complete ? std::vector<sys::Event>() : open_spans(events)) {
    nodes.push_back(node_of(event));
    nodes.back().item.end = timeline.end;
    nodes.back().item.is_open = true;
  }
  std::map<std::string, int> revisions;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    TimelineItem& item = nodes[i].item;
    item.begin = std::max(item.begin, timeline.start);  // durations are rounded
    for (std::size_t before = i; before-- > 0 && !item.waited_for;) {
      if (nodes[i].needs(nodes[before])) item.waited_for = before;
    }
    const bool is_revision = item.key.starts_with("operator ") && item.key.ends_with(" RevisionCreated");
    item.is_further_revision = is_revision && ++revisions[item.key] > 1;
  }
  for (Node& node : nodes) timeline.items.push_back(std::move(node.item));
  for (const std::size_t i : timeline.critical_path()) timeline.items[i].is_critical = true;
  return timeline;
}

std::vector<std::size_t> Timeline::critical_path() const {
  std::vector<std::size_t> path;
  const auto last = std::find_if(items.rbegin(), items.rend(), [](const TimelineItem& item) { return !item.is_open; });
  if (last == items.rend()) return path;
  std::optional<std::size_t> at = static_cast<std::size_t>(items.rend() - last) - 1;
  for (; at; at = items[*at].waited_for) path.push_back(*at);
  std::ranges::reverse(path);
  return path;
}

std::string to_text(const Timeline& timeline) {
  std::string text = "    end   took\n";
  for (const TimelineItem& item : timeline.items) {
    text += fmt::format("{}{:6.2f} {:6.2f}  {}{}{}\n", item.is_critical ? '*' : ' ', seconds_between(timeline.start, item.end),
                        seconds_between(item.begin, item.end), item.label,
                        item.has_failed ? ", failed"
                        : item.is_open  ? ", not finished"
                                        : "",
                        item.waited_for ? ", after " + timeline.items[*item.waited_for].label : "");
  }
  text += "\nCritical path (marked with * above) and the time that each item adds:\n";
  WallTime reached = timeline.start;
  for (const std::size_t i : timeline.critical_path()) {
    const TimelineItem& item = timeline.items[i];
    text += fmt::format(" {:6.2f} +{:5.2f}  {}\n", seconds_between(timeline.start, item.end), seconds_between(reached, item.end),
                        item.label);
    reached = item.end;
  }
  std::string further;
  for (const TimelineItem& item : timeline.items) {
    if (item.is_further_revision) further += fmt::format(" {:6.2f}  {}\n", seconds_between(timeline.start, item.end), item.label);
  }
  text += further.empty() ? "\nOne revision of each operator.\n" : "\nFurther revisions and their reasons:\n" + further;
  return text;
}

Json to_json(const Timeline& timeline, const std::string& cluster) {
  const auto since_start = [&](WallTime time) { return (time - timeline.start).count(); };
  JsonArray items, path;
  for (const TimelineItem& item : timeline.items) {
    JsonObject row = {{"key", item.key},
                      {"label", item.label},
                      {"group", item.group},
                      {"begin_ms", since_start(item.begin)},
                      {"end_ms", since_start(item.end)}};
    if (!item.detail.empty()) row["detail"] = item.detail;
    if (item.waited_for) row["waited_for"] = *item.waited_for;
    const std::pair<const char*, bool> marks[] = {{"critical", item.is_critical},
                                                  {"failed", item.has_failed},
                                                  {"open", item.is_open},
                                                  {"further_revision", item.is_further_revision}};
    for (const auto& [name, holds] : marks) {
      if (holds) row[name] = true;
    }
    items.emplace_back(std::move(row));
  }
  for (const std::size_t i : timeline.critical_path()) path.emplace_back(i);
  JsonObject all;
  if (!cluster.empty()) all["cluster"] = cluster;
  all["start"] = to_rfc3339(timeline.start);
  all["took_ms"] = since_start(timeline.end);
  all["is_complete"] = timeline.is_complete;
  all["items"] = std::move(items);
  all["critical_path"] = std::move(path);
  return all;
}

}  // namespace slipway::cluster
