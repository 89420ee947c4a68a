#include "diagnosis/why.h"

#include "base/text.h"
#include "diagnosis/observed.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace slipway::diagnosis {

namespace {

using ObjectList = std::vector<Object>;

AllBroken look_at_nothing(const Snapshot&, const std::string&) { return {}; }

std::vector<Object> named(std::string_view kind, const std::vector<std::string>& keys) {
  std::vector<Object> objects;
  for (const std::string& key : keys) objects.push_back({std::string(kind), key});
  return objects;
}

std::vector<std::string> keys_of(const Objects& objects) {
  std::vector<std::string> keys;
  for (const auto& [key, object] : objects) keys.push_back(key);
  return keys;
}

void add(ObjectList& all, std::vector<Object> more) { std::ranges::move(more, std::back_inserter(all)); }

// ---- On what an object depends

ObjectList below_cluster(const Snapshot& snapshot, const std::string&) {
  ObjectList all = {{"api", ""}, {"host", ""}};
  // Of nodes that exist, and of machines that have none.
  std::set<std::string> nodes;
  for (const auto& [name, node] : snapshot.all("nodes")) nodes.insert(name);
  for (const Machine& machine : snapshot.machines) nodes.insert(machine.name);
  add(all, named("node", {nodes.begin(), nodes.end()}));
  add(all, named("clusterversion", keys_of(snapshot.all("clusterversion"))));
  add(all, named("clusteroperator", keys_of(snapshot.all("clusteroperators"))));
  add(all, named("machineconfigpool", keys_of(snapshot.all("machineconfigpools"))));
  add(all, named("pod", keys_of(snapshot.all("pods"))));
  add(all, named("pvc", keys_of(snapshot.all("persistentvolumeclaims"))));
  add(all, named("route", keys_of(snapshot.all("routes"))));
  add(all, named("csr", keys_of(snapshot.all("csr"))));
  return all;
}

ObjectList below_api(const Snapshot& snapshot, const std::string&) {
  if (snapshot.notes.api != LookNotes::Api::silent) return {};
  // The API lives on masters, and during the bootstrap on its machine.
  ObjectList all = {{"host", ""}};
  for (const Machine& machine : snapshot.machines) {
    if (role_of(snapshot, machine) != "worker") all.push_back({"machine", machine.name});
  }
  return all;
}

ObjectList below_release(const Snapshot& snapshot, const std::string&) {
  return named("clusteroperator", keys_of(snapshot.all("clusteroperators")));
}

ObjectList below_operator(const Snapshot& snapshot, const std::string& key) {
  ObjectList all = named("pod", pods_of_operator(snapshot, key));
  if (key == "machine-config") add(all, named("machineconfigpool", keys_of(snapshot.all("machineconfigpools"))));
  return all;
}

ObjectList below_pool(const Snapshot& snapshot, const std::string& key) { return named("node", nodes_of_pool(snapshot, key)); }

ObjectList below_pod(const Snapshot& snapshot, const std::string& key) {
  const Json* pod = snapshot.find("pods", key);
  if (!pod || is_finished(*pod)) return {};
  ObjectList all = named("pvc", claims_of_pod(*pod));
  if (const std::string node = text_of(*pod, {"spec", "nodeName"}); !node.empty()) {
    all.push_back({"node", node});
    return all;
  }
  // It may wait for a machine that is still to become a node.
  for (const Machine& machine : snapshot.machines) {
    if (!snapshot.find("nodes", machine.name)) all.push_back({"node", machine.name});
  }
  return all;
}

ObjectList below_route(const Snapshot& snapshot, const std::string& key) { return named("pod", pods_of_route(snapshot, key)); }

ObjectList below_node(const Snapshot& snapshot, const std::string& key) {
  ObjectList all = {{"machine", key}};
  if (snapshot.find("nodes", key)) return all;
  for (const auto& [name, request] : snapshot.all("csr")) {
    if (text_of(request, {"spec", "username"}) == "system:node:" + key) all.push_back({"csr", name});
  }
  return all;
}

ObjectList below_machine(const Snapshot&, const std::string& key) { return {{"reach", key}, {"host", ""}}; }

ObjectList below_nothing(const Snapshot&, const std::string&) { return {}; }

struct Kind {
  std::string_view name;
  std::vector<std::string_view> aliases;
  int parts;              // of its keys; 0: there is one object, and users do not name it
  std::string_view file;  // of its objects in the snapshot; may be empty
  AllBroken (*look)(const Snapshot&, const std::string& key);
  ObjectList (*below)(const Snapshot&, const std::string& key);
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {
      {"cluster", {}, 0, "", look_at_nothing, below_cluster},
      {"api", {}, 0, "", look_at_api, below_api},
      {"clusterversion", {"clusterversions"}, 1, "clusterversion", look_at_release, below_release},
      {"clusteroperator", {"clusteroperators", "co"}, 1, "clusteroperators", look_at_operator, below_operator},
      {"machineconfigpool", {"machineconfigpools", "mcp"}, 1, "machineconfigpools", look_at_pool, below_pool},
      {"pod", {"pods", "po"}, 2, "pods", look_at_pod, below_pod},
      {"pvc", {"persistentvolumeclaim", "persistentvolumeclaims"}, 2, "persistentvolumeclaims", look_at_claim, below_nothing},
      {"route", {"routes"}, 2, "routes", look_at_route, below_route},
      {"csr", {"certificatesigningrequest", "certificatesigningrequests"}, 1, "csr", look_at_request, below_nothing},
      {"node", {"nodes", "no"}, 1, "nodes", look_at_node, below_node},
      {"machine", {"machines"}, 1, "", look_at_machine, below_machine},
      {"reach", {}, 0, "", look_at_reach, below_nothing},
      {"host", {}, 0, "", look_at_host, below_nothing},
  };
  return table;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kinds()) {
    if (kind.name == name || std::ranges::find(kind.aliases, name) != kind.aliases.end()) return &kind;
  }
  return nullptr;
}

// ---- The walk

// Sorts the end that explains most first.
bool explains_more(const Link& a, const Link& b, WallTime now) {
  if (a.row().level != b.row().level) return a.row().level > b.row().level;
  return a.since.value_or(now) < b.since.value_or(now);
}

class Walk {
 public:
  Walk(const Snapshot& snapshot, Situation situation) : snapshot_(snapshot), situation_(situation) {}

  // The chain of the object with the end that explains most. Empty if neither the object nor what it depends on is broken.
  const Chain& chain_of(const Object& object) {
    const auto known = known_.find(object);
    if (known != known_.end()) return known->second;
    const Kind* kind = find_kind(object.kind);
    Chain chain = links_of(*kind, object);
    const Chain* best = nullptr;
    for (const Object& each : kind->below(snapshot_, object.key)) {
      const Chain& below = chain_of(each);
      if (below.empty()) continue;
      if (!best || explains_more(below.back(), best->back(), snapshot_.notes.time)) best = &below;
    }
    if (best) chain.insert(chain.end(), best->begin(), best->end());
    return known_.emplace(object, std::move(chain)).first->second;
  }

  std::vector<Object> below(const Object& object) const { return find_kind(object.kind)->below(snapshot_, object.key); }

 private:
  Chain links_of(const Kind& kind, const Object& object) const {
    Chain chain;
    for (Broken& broken : kind.look(snapshot_, object.key)) {
      const LinkRow& row = link_row(broken.name);
      if (broken.since && snapshot_.notes.time - *broken.since < patience_of(row, situation_)) continue;
      const std::string subject = broken.subject.empty() ? object.key : broken.subject;
      chain.push_back({.name = std::string(row.name),
                       .object = object.text(),
                       .sentence = std::move(broken.sentence),
                       .since = broken.since,
                       .next_step = replaced(row.next_step, subject)});
    }
    return chain;
  }

  static std::string replaced(std::string_view text, const std::string& subject) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t place = text.find("{}", at);
      result += text.substr(at, place - at);
      if (place == std::string_view::npos) break;
      result += subject;
      at = place + 2;
    }
    return result;
  }

  const Snapshot& snapshot_;
  const Situation situation_;
  std::map<Object, Chain> known_;
};

// One chain for each end: the longest. An end in the middle of another chain is not an end.
std::vector<Chain> distinct(std::vector<Chain> chains) {
  std::ranges::stable_sort(chains, std::ranges::greater(), &Chain::size);
  std::vector<Chain> kept;
  for (Chain& chain : chains) {
    const auto has_end = [&](const Chain& other) { return std::ranges::find(other, chain.back()) != other.end(); };
    if (std::ranges::none_of(kept, has_end)) kept.push_back(std::move(chain));
  }
  return kept;
}

std::string age(const Link& link, WallTime now) {
  if (!link.since) return "";
  return fmt::format(", since {} ({})", to_rfc3339(std::chrono::floor<Seconds>(*link.since)),
                     human_duration(std::max(now - *link.since, Milliseconds(0))));
}

}  // namespace

Result<Object> parse_object(std::string_view text) {
  const std::size_t slash = text.find('/');
  const Kind* kind = find_kind(to_lower(text.substr(0, slash)));
  std::vector<std::string> names;
  for (const Kind& each : kinds()) {
    if (each.parts > 0) names.emplace_back(each.name);
  }
  if (!kind || kind->parts == 0 || slash == std::string_view::npos) {
    return error(Code::invalid, "'{}': not an object (use KIND/NAME or KIND/NAMESPACE/NAME; kinds: {})", to_utf8(text),
                 join(names, ", "));
  }
  const std::vector<std::string_view> parts = split(text.substr(slash + 1), '/');
  const bool is_complete = std::ranges::none_of(parts, [](std::string_view part) { return part.empty(); });
  if (static_cast<int>(parts.size()) != kind->parts || !is_complete) {
    return error(Code::invalid, "'{}': not an object (use {}/{})", to_utf8(text), kind->name,
                 kind->parts == 2 ? "NAMESPACE/NAME" : "NAME");
  }
  return Object{std::string(kind->name), std::string(text.substr(slash + 1))};
}

bool exists(const Snapshot& snapshot, const Object& object) {
  const Kind* kind = find_kind(object.kind);
  if (kind->parts == 0) return true;
  if (!kind->file.empty() && snapshot.find(kind->file, object.key)) return true;
  return (object.kind == "machine" || object.kind == "node") && snapshot.machine(object.key);
}

std::vector<Chain> why(const Snapshot& snapshot, const Object& object, Situation situation) {
  Walk walk(snapshot, situation);
  std::vector<Chain> chains;
  if (object == whole_cluster) {
    for (const Object& each : walk.below(object)) {
      if (const Chain& chain = walk.chain_of(each); !chain.empty()) chains.push_back(chain);
    }
  } else {
    if (const Chain& chain = walk.chain_of(object); !chain.empty()) chains.push_back(chain);
    // Nothing below the object can be known then.
    if (const Chain& chain = walk.chain_of({"api", ""}); !chain.empty()) chains.push_back(chain);
  }
  chains = distinct(std::move(chains));
  std::ranges::stable_sort(chains, [&](const Chain& a, const Chain& b) {
    return explains_more(a.back(), b.back(), snapshot.notes.time);
  });
  return chains;
}

std::string to_text(const std::vector<Chain>& chains, WallTime now) {
  if (chains.empty()) return "";
  std::string text;
  std::string indent;
  for (const Link& link : chains.front()) {
    text += fmt::format("{}{}: {}{}\n", indent, link.object, link.sentence, age(link, now));
    indent += "  ";
  }
  text += fmt::format("what to do: {}\n", chains.front().back().next_step);
  if (chains.size() == 1) return text;
  text += "\nalso broken:\n";
  for (std::size_t i = 1; i < chains.size(); ++i) {
    const Link& link = chains[i].back();
    text += fmt::format("  {}: {}{}; {}\n", link.object, link.sentence, age(link, now), link.next_step);
  }
  return text;
}

JsonArray to_json(const std::vector<Chain>& chains) {
  JsonArray list;
  for (const Chain& chain : chains) {
    JsonArray links;
    for (const Link& link : chain) {
      links.push_back({{"name", link.name},
                       {"level", to_string(link.row().level)},
                       {"object", link.object},
                       {"sentence", link.sentence},
                       {"since", link.since ? Json(to_rfc3339(*link.since)) : Json()},
                       {"next_step", link.next_step}});
    }
    list.push_back(JsonObject{{"links", std::move(links)}});
  }
  return list;
}

sys::Event to_event(const Chain& chain) {
  const Link& end = chain.back();
  JsonObject fields = {{"object", end.object}, {"next_step", end.next_step}};
  if (end.since) fields["since"] = to_rfc3339(*end.since);
  JsonArray objects;
  for (const Link& link : chain) objects.push_back(Json(fmt::format("{} {}", link.name, link.object)));
  fields["chain"] = std::move(objects);
  return {.kind = "cause",
          .name = end.name,
          .phase = sys::Phase::failed,
          .error = Error(Code::unavailable, end.sentence),
          .fields = std::move(fields)};
}

}  // namespace slipway::diagnosis
