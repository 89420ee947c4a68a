#include "release/update_graph.h"

#include "base/characters.h"
#include "base/text.h"
#include "net/url.h"
#include "release/reference.h"
#include "release/semantic_version.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace slipway::release {

namespace {

constexpr const char* channels_key = "io.openshift.upgrades.graph.release.channels";

using Pair = std::pair<std::string, std::string>;  // from, to

bool is_older(const std::string& one, const std::string& other) {
  const Result<SemanticVersion> a = parse_semantic_version(one), b = parse_semantic_version(other);
  return a.ok() && b.ok() && a.value() < b.value();
}

// Whether clusters take the update without force.
bool is_next(const std::string& from, const std::string& to) {
  const Result<SemanticVersion> a = parse_semantic_version(from), b = parse_semantic_version(to);
  return a.ok() && b.ok() && a.value() < b.value() && a->major == b->major && b->minor - a->minor <= 1;
}

bool follows(const GraphRelease& release, const std::string& from) {
  if (release.previous.empty()) return is_next(from, release.version);
  return std::ranges::find(release.previous, from) != release.previous.end();
}

std::vector<Pair> pairs_of(const Json& group) {
  std::vector<Pair> pairs;
  for (const Json& edge : find_array(group, {"edges"})) pairs.emplace_back(text_of(edge, {"from"}), text_of(edge, {"to"}));
  return pairs;
}

// Checks one graph, and collects all problems.
class Check {
 public:
  explicit Check(const YamlDocument& graph) : graph_(graph) {}

  Findings run(const std::vector<GraphRelease>& releases) {
    check_nodes();
    check_edges();
    check_conditional_edges();
    for (const GraphRelease& release : releases) check_release(release);
    return std::move(findings_);
  }

 private:
  template <class... Args>
  void error(const std::string& field, fmt::format_string<Args...> text, Args&&... args) {
    findings_.error(graph_.place_of(field), field, text, std::forward<Args>(args)...);
  }

  void check_nodes() {
    const JsonArray& nodes = find_array(graph_.value, {"nodes"});
    if (nodes.empty()) error("nodes", "must be a list with at least one release");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::string field = fmt::format("nodes[{}]", i), version = text_of(nodes[i], {"version"}),
                        payload = text_of(nodes[i], {"payload"});
      versions_.push_back(version);
      if (const auto parsed = parse_semantic_version(version); !parsed.ok())
        error(field + ".version", "{}", parsed.error().message());
      if (!images_.emplace(version, payload).second) error(field + ".version", "duplicate version {}", version);
      const Result<Reference> image = parse_reference(payload);
      if (!image.ok()) error(field + ".payload", "{}", image.error().message());
      if (image.ok() && !image->digest) error(field + ".payload", "{} has no digest", payload);
    }
  }

  void check_edge(const std::string& field, const Pair& edge) {
    if (!is_older(edge.first, edge.second)) error(field, "{} is not older than {}", edge.first, edge.second);
  }

  void check_edges() {
    const JsonArray& edges = find_array(graph_.value, {"edges"});
    const Json* list = find(graph_.value, {"edges"});
    if (!list || !list->is_array()) error("edges", "must be a list");
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const std::string field = fmt::format("edges[{}]", i);
      const std::optional<Pair> edge = edge_of(edges[i]);
      if (!edge) {
        error(field, "must be two indexes of nodes, below {}", versions_.size());
        continue;
      }
      check_edge(field, *edge);
      if (!edges_.insert(*edge).second) error(field, "duplicate edge from {} to {}", edge->first, edge->second);
    }
  }

  std::optional<Pair> edge_of(const Json& edge) const {
    if (!edge.is_array() || edge.get_array().size() != 2) return {};
    const auto version = [&](std::size_t place) -> std::optional<std::string> {
      const Json& index = edge.get_array()[place];
      if (!index.is_int64() || index.get_int64() < 0 || index.get_int64() >= static_cast<std::int64_t>(versions_.size()))
        return {};
      return versions_[static_cast<std::size_t>(index.get_int64())];
    };
    const std::optional<std::string> from = version(0), to = version(1);
    return from && to ? std::optional(Pair{*from, *to}) : std::nullopt;
  }

  void check_conditional_edges() {
    const JsonArray& groups = find_array(graph_.value, {"conditionalEdges"});
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::string field = fmt::format("conditionalEdges[{}]", i);
      const std::vector<Pair> pairs = pairs_of(groups[i]);
      if (pairs.empty()) error(field + ".edges", "must be a list with at least one edge");
      for (std::size_t j = 0; j < pairs.size(); ++j) check_conditional_edge(fmt::format("{}.edges[{}]", field, j), pairs[j]);
      const JsonArray& risks = find_array(groups[i], {"risks"});
      if (risks.empty()) error(field + ".risks", "must be a list with at least one risk");
      for (std::size_t j = 0; j < risks.size(); ++j) check_risk(fmt::format("{}.risks[{}]", field, j), risks[j]);
    }
  }

  void check_conditional_edge(const std::string& field, const Pair& edge) {
    for (const auto& [key, version] : {Pair{"from", edge.first}, Pair{"to", edge.second}}) {
      if (!images_.contains(version)) error(fmt::format("{}.{}", field, key), "no node has version '{}'", version);
    }
    check_edge(field, edge);
    if (!conditional_.insert(edge).second)
      error(field, "{} to {} has risks in two groups; clusters ignore such an update", edge.first, edge.second);
  }

  void check_risk(const std::string& field, const Json& risk) {
    const std::string name = text_of(risk, {"name"});
    const auto is_fine = [](char c) { return is_letter_or_digit(c) || c == '_' || c == ',' || c == ':'; };
    if (name.empty() || !std::ranges::all_of(name, is_fine) || !is_letter_or_digit(name.back()) ||
        (name.front() >= '0' && name.front() <= '9')) {
      error(field + ".name", "'{}' is not a reason of a condition (letters and digits, for example SlowDisks)", name);
    }
    if (text_of(risk, {"message"}).empty()) error(field + ".message", "missing");
    if (const auto url = net::parse_url(text_of(risk, {"url"})); !url.ok()) error(field + ".url", "{}", url.error().message());
    const JsonArray& rules = find_array(risk, {"matchingRules"});
    if (rules.empty()) error(field + ".matchingRules", "must be a list with at least one rule");
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const std::string place = fmt::format("{}.matchingRules[{}]", field, i), type = text_of(rules[i], {"type"});
      if (type != "Always" && type != "PromQL") error(place + ".type", "'{}' is not Always or PromQL", type);
      if (type == "PromQL" && text_of(rules[i], {"promql", "promql"}).empty()) error(place + ".promql.promql", "missing");
    }
  }

  void check_release(const GraphRelease& release) {
    const auto known = images_.find(release.version);
    if (known == images_.end()) return error("nodes", "no node has version {} ({})", release.version, release.image);
    const Result<Reference> listed = parse_reference(known->second), wanted = parse_reference(release.image);
    if (!listed.ok() || !wanted.ok() || listed->digest == wanted->digest) return;
    error("nodes", "version {} is {}, but the release has {}", release.version, known->second, release.image);
  }

  const YamlDocument& graph_;
  Findings findings_;
  std::vector<std::string> versions_;          // by index
  std::map<std::string, std::string> images_;  // by version
  std::set<Pair> edges_, conditional_;
};

void check_rules(const YamlDocument& rules, const std::vector<GraphRelease>& releases, Findings& findings) {
  if (!rules.value.is_object()) {
    findings.error(rules.place_of(""), "", "must be a mapping with edges or conditionalEdges");
    return;
  }
  for (const auto& member : rules.value.get_object()) {
    const std::string key(member.key());
    if (key != "edges" && key != "conditionalEdges")
      findings.error(rules.place_of(key), key, "unknown field (fields: edges, conditionalEdges)");
  }
  const std::vector<Pair> pairs = pairs_of(rules.value);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (const auto& [key, version] : {Pair{"from", pairs[i].first}, Pair{"to", pairs[i].second}}) {
      if (std::ranges::find(releases, version, &GraphRelease::version) != releases.end()) continue;
      const std::string field = fmt::format("edges[{}].{}", i, key);
      findings.error(rules.place_of(field), field, "no release has version '{}'", version);
    }
  }
}

}  // namespace

Result<Json> make_update_graph(std::vector<GraphRelease> releases, const std::vector<std::string>& channels,
                               const std::optional<YamlDocument>& rules) {
  std::ranges::stable_sort(releases, [](const GraphRelease& a, const GraphRelease& b) { return is_older(a.version, b.version); });
  std::set<Pair> conditional;
  JsonArray groups;
  std::optional<std::vector<Pair>> chosen;
  if (rules) {
    Findings findings;
    check_rules(*rules, releases, findings);
    TRY(findings.to_result());
    groups = find_array(rules->value, {"conditionalEdges"});
    if (find(rules->value, {"edges"})) chosen = pairs_of(rules->value);
  }
  for (const Json& group : groups) {
    for (Pair& pair : pairs_of(group)) conditional.insert(std::move(pair));
  }
  JsonArray nodes, edges;
  for (std::size_t to = 0; to < releases.size(); ++to) {
    const GraphRelease& release = releases[to];
    JsonObject metadata;
    if (!channels.empty()) metadata[channels_key] = join(channels, ",");
    nodes.push_back({{"version", release.version}, {"payload", release.image}, {"metadata", std::move(metadata)}});
    for (std::size_t from = 0; from < releases.size(); ++from) {
      const Pair edge{releases[from].version, release.version};
      const bool is_edge = chosen ? std::ranges::find(*chosen, edge) != chosen->end() : follows(release, edge.first);
      if (is_edge && !conditional.contains(edge)) edges.push_back(JsonArray{from, to});
    }
  }
  Json graph = {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}, {"conditionalEdges", std::move(groups)}};
  // Read back, so that it is checked as clusters read it.
  const YamlDocument made = TRY(parse_yaml(emit_json(graph, JsonStyle::pretty), rules ? rules->name : "the update graph"));
  const Findings found = check_update_graph(made, releases);
  Findings findings;
  for (Finding finding : found.all()) {
    finding.place = rules && finding.field.starts_with("conditionalEdges") ? rules->place_of(finding.field) : Place{};
    findings.add(std::move(finding));
  }
  TRY(findings.to_result());
  return graph;
}

Findings check_update_graph(const YamlDocument& graph, const std::vector<GraphRelease>& releases) {
  return Check(graph).run(releases);
}

}  // namespace slipway::release
