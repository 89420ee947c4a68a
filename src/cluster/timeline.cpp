#include "cluster/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace slipway::cluster {

namespace {

// Who waits for whom, where the events do not say it themselves: what an item whose key begins like this needs. Of all items that
// begin like one of the needs, the one that ended last before it is what it waited for. A star is the kind of object that an
// operator speaks of: its own.
struct Need {
  std::string_view item;
  std::vector<std::string_view> needs;
};

const std::vector<Need>& table() {
  static const std::vector<Need> rows = {
      {"step machines", {"step assets"}},
      {"boot ", {"step machines", "machine "}},
      {"step kubernetes-api", {"stage wait-for-etcd"}},
      {"kubelet-certificate ", {"boot ", "step kubernetes-api"}},
      {"certificate-request ", {"step kubernetes-api", "boot "}},
      {"step control-plane-nodes", {"certificate-request "}},
      {"operator Etcd MemberAdded", {"certificate-request ", "stage wait-for-etcd"}},
      {"operator Etcd MemberPromoted", {"operator * InstallCompleted", "operator * MemberAdded", "operator * MemberPromoted"}},
      {"operator Etcd LeaderMoved", {"operator * MemberPromoted"}},
      {"operator Etcd NodeRevisionReady", {"operator * MemberPromoted"}},
      {"operator Etcd BootstrapMemberRemoved", {"report-progress "}},
      {"operator KubeAPIServer NodeRevisionReady", {"operator Etcd MemberPromoted", "operator * InstallCompleted"}},
      {"operator * RevisionCreated", {"certificate-request "}},
      {"operator * NodeTargeted", {"operator * RevisionCreated"}},
      {"operator * InstallCompleted", {"operator * RevisionCreated", "operator * NodeTargeted"}},
      {"operator * NodeRevisionReady", {"operator * InstallCompleted"}},
      {"stage cb-bootstrap",
       {"operator KubeAPIServer NodeRevisionReady", "operator KubeControllerManager NodeRevisionReady",
        "operator KubeScheduler NodeRevisionReady", "operator Etcd LeaderMoved"}},
      {"report-progress ", {"stage bootkube"}},
      {"step bootstrap-complete", {"report-progress "}},
      {"step bootstrap-member", {"operator Etcd BootstrapMemberRemoved"}},
      {"step bootstrap-machine", {"step bootstrap-member"}},
      {"step nodes-ready", {"step bootstrap-machine"}},
      {"step api-servers", {"operator KubeAPIServer NodeRevisionReady", "step nodes-ready"}},
      {"node master-", {"certificate-request ", "kubelet-certificate "}},
      // A worker gets its config from the cluster, once that has the address.
      {"node ", {"operator KubeAPIServer NodeRevisionReady", "report-progress ", "stage cb-bootstrap"}},
      {"step worker-nodes", {"node "}},
      {"cluster-operator etcd", {"operator Etcd "}},
      {"cluster-operator kube-apiserver", {"operator KubeAPIServer "}},
      {"cluster-operator kube-controller-manager", {"operator KubeControllerManager "}},
      {"cluster-operator kube-scheduler", {"operator KubeScheduler "}},
      {"cluster-operator ingress", {"node ", "cluster-operator dns", "cluster-operator network"}},
      {"cluster-operator ", {"node "}},
      {"step cluster-operators", {"cluster-operator ", "operator ", "step worker-nodes"}},
      {"step cluster-version", {"step cluster-operators"}},
  };
  return rows;
}

// "Etcd" of "operator Etcd MemberAdded"; empty for others.
std::string_view kind_of(std::string_view key) {
  constexpr std::string_view operators = "operator ";
  if (!key.starts_with(operators)) return {};
  key.remove_prefix(operators.size());
  return key.substr(0, key.find(' '));
}

std::string with_kind(std::string_view pattern, std::string_view kind) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, star), kind, pattern.substr(star + 1));
}

// Beginnings of the keys that an item needs, by the table.
std::vector<std::string> needs_of(std::string_view key) {
  const std::string_view kind = kind_of(key);
  std::vector<std::string> needs;
  const auto found = std::ranges::find_if(table(), [&](const Need& row) { return key.starts_with(with_kind(row.item, kind)); });
  if (found == table().end()) return needs;
  for (const std::string_view need : found->needs) needs.push_back(with_kind(need, kind));
  return needs;
}

std::string label_of(const sys::Event& event) {
  if (const Json* text = event.fields.if_contains("description"); text && text->is_string()) {
    return std::string(text->get_string());
  }
  return event.kind + " " + event.name;
}

bool needs_item(const std::vector<std::string>& own, const std::vector<std::string>& prefixes, std::string_view key) {
  return std::ranges::find(own, key) != own.end() ||
         std::ranges::any_of(prefixes, [&](const std::string& prefix) { return key.starts_with(prefix); });
}

// What stands behind a semicolon is detail.
std::string short_label(const std::string& label) { return label.substr(0, label.find(';')); }

// Of a stage: the stages that it needs.
std::vector<std::string> own_needs(const sys::Event& event) {
  std::vector<std::string> keys;
  const Json* list = event.fields.if_contains("needs");
  if (!list || !list->is_array()) return keys;
  for (const Json& name : list->get_array()) {
    if (name.is_string()) keys.push_back("stage " + std::string(name.get_string()));
  }
  return keys;
}

double seconds_between(WallTime from, WallTime to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

Timeline make_timeline(const std::vector<sys::Event>& events) {
  const auto is_begin = [](const sys::Event& event) {
    return event.kind == "step" && event.name == "assets" && event.phase == sys::Phase::started;
  };
  const auto is_end = [](const sys::Event& event) {
    return event.kind == "step" && event.name == "cluster-version" && event.phase == sys::Phase::finished;
  };
  const auto first = std::ranges::find_if(events, is_begin);
  auto last = std::find_if(first, events.end(), is_end);
  if (last != events.end()) ++last;
  Timeline timeline;
  if (first == events.end()) return timeline;
  timeline.start = first->time;
  std::vector<std::vector<std::string>> own;
  std::vector<sys::Event> ended;
  std::set<std::tuple<std::string, std::string, std::string, std::string, sys::Phase, WallTime>> known;
  std::copy_if(first, last, std::back_inserter(ended), [&](const sys::Event& event) {
    if (event.phase != sys::Phase::finished && event.phase != sys::Phase::failed) return false;
    return known.emplace(event.source, event.kind, event.name, label_of(event), event.phase, event.time).second;
  });
  std::ranges::stable_sort(ended, {}, &sys::Event::time);
  for (const sys::Event& event : ended) {
    timeline.items.push_back({.key = event.kind + " " + event.name,
                              .label = short_label(label_of(event)),
                              .begin = event.time - event.duration.value_or(Milliseconds(0)),
                              .end = event.time,
                              .has_failed = event.phase == sys::Phase::failed});
    own.push_back(own_needs(event));
  }
  for (std::size_t i = 0; i < timeline.items.size(); ++i) {
    const std::vector<std::string> needs = needs_of(timeline.items[i].key);
    for (std::size_t before = i; before-- > 0;) {
      if (!needs_item(own[i], needs, timeline.items[before].key)) continue;
      timeline.items[i].waited_for = before;
      break;
    }
  }
  for (const std::size_t i : timeline.critical_path()) timeline.items[i].is_critical = true;
  return timeline;
}

std::vector<std::size_t> Timeline::critical_path() const {
  std::vector<std::size_t> path;
  if (items.empty()) return path;
  for (std::optional<std::size_t> at = items.size() - 1; at; at = items[*at].waited_for) path.push_back(*at);
  std::ranges::reverse(path);
  return path;
}

std::string to_text(const Timeline& timeline) {
  std::string text = "    end   took\n";
  for (const TimelineItem& item : timeline.items) {
    text += fmt::format("{}{:6.2f} {:6.2f}  {}{}{}\n", item.is_critical ? '*' : ' ', seconds_between(timeline.start, item.end),
                        seconds_between(item.begin, item.end), item.label, item.has_failed ? ", failed" : "",
                        item.waited_for ? ", after " + timeline.items[*item.waited_for].label : "");
  }
  text += "\nThe critical path, marked with * above; what each item added to it:\n";
  WallTime reached = timeline.start;
  for (const std::size_t i : timeline.critical_path()) {
    const TimelineItem& item = timeline.items[i];
    text += fmt::format(" {:6.2f} +{:5.2f}  {}\n", seconds_between(timeline.start, item.end), seconds_between(reached, item.end),
                        item.label);
    reached = item.end;
  }
  std::map<std::string, int> revisions;
  std::string further;
  for (const TimelineItem& item : timeline.items) {
    if (!item.key.starts_with("operator ") || !item.key.ends_with(" RevisionCreated")) continue;
    if (++revisions[item.key] > 1)
      further += fmt::format(" {:6.2f}  {}\n", seconds_between(timeline.start, item.end), item.label);
  }
  text += further.empty() ? "\nOne revision of each operator.\n" : "\nRevisions behind the first, and why:\n" + further;
  return text;
}

}  // namespace slipway::cluster
