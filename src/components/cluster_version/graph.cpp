#include "components/cluster_version/graph.h"

#include "base/text.h"
#include "net/url.h"
#include "release/semantic_version.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace slipway::components::cluster_version {

namespace {

constexpr const char* channels_key = "io.openshift.upgrades.graph.release.channels";

KnownUpdates refuse(std::string reason, std::string message) {
  return {.reason = std::move(reason), .message = std::move(message)};
}

// An entry of status.availableUpdates.
Json release_of(const Json& node) {
  Json release = {{"version", text_of(node, {"version"})}, {"image", text_of(node, {"payload"})}};
  if (const std::string url = text_of(node, {"metadata", "url"}); !url.empty()) release.as_object()["url"] = url;
  const std::string names = text_of(node, {"metadata", channels_key});
  JsonArray channels;
  for (const std::string_view channel : split(names, ',')) {
    if (!channel.empty()) channels.push_back(Json(channel));
  }
  if (!channels.empty()) release.as_object()["channels"] = std::move(channels);
  return release;
}

bool is_newer(const Json& a, const Json& b) {
  const auto version_a = release::parse_semantic_version(text_of(a, {"version"}));
  const auto version_b = release::parse_semantic_version(text_of(b, {"version"}));
  if (version_a.ok() && version_b.ok()) return version_b.value() < version_a.value();
  return version_a.ok();
}

enum class Match { always, unknown, never_known };

// "Always" makes a risk certain, PromQL cannot be evaluated, and rules of other types say nothing.
Match match_of(const Json& risk) {
  Match match = Match::never_known;
  for (const Json& rule : find_array(risk, {"matchingRules"})) {
    const std::string type = text_of(rule, {"type"});
    if (type == "Always") return Match::always;
    if (type == "PromQL") match = Match::unknown;
  }
  return match;
}

// What a risk says about the condition Recommended.
struct Assessment {
  std::string reason;
  std::string message;
};

// The condition has all risks, because an administrator accepts all of them with the update. One certain risk decides the status.
// nullopt: a risk cannot be understood.
std::optional<Json> conditional_update(const Json& node, const JsonArray& risks) {
  std::vector<Assessment> certain, unknown;
  for (const Json& risk : risks) {
    const std::string text = fmt::format("{} {}", text_of(risk, {"message"}), text_of(risk, {"url"}));
    const std::string name = text_of(risk, {"name"});
    switch (match_of(risk)) {
      case Match::always: certain.push_back({name, text}); break;
      case Match::unknown:
        unknown.push_back({"EvaluationFailed", fmt::format("Could not evaluate the exposure to {}: {}", name, text)});
        break;
      case Match::never_known: return std::nullopt;
    }
  }
  const bool is_certain = !certain.empty();
  std::vector<Assessment> all = std::move(certain);
  std::ranges::move(unknown, std::back_inserter(all));
  std::vector<std::string> messages;
  for (const Assessment& each : all) messages.push_back(each.message);
  const Json condition = {{"type", "Recommended"},
                          {"status", is_certain ? "False" : "Unknown"},
                          {"reason", all.size() == 1 ? all.front().reason : "MultipleReasons"},
                          {"message", join(messages, "\n\n")}};
  return Json{{"release", release_of(node)}, {"risks", risks}, {"conditions", JsonArray{condition}}};
}

// The edges to other versions that have risks: risks by version. A version in two groups has an empty list.
std::map<std::string, JsonArray> risks_by_target(const Json& graph, std::string_view version) {
  std::map<std::string, JsonArray> risks;
  for (const Json& group : find_array(graph, {"conditionalEdges"})) {
    for (const Json& edge : find_array(group, {"edges"})) {
      if (text_of(edge, {"from"}) != version) continue;
      const auto [entry, is_new] = risks.emplace(text_of(edge, {"to"}), find_array(group, {"risks"}));
      if (!is_new) entry->second.clear();
    }
  }
  return risks;
}

std::optional<std::size_t> index_at(const Json& edge, std::size_t place) {
  if (!edge.is_array() || edge.get_array().size() != 2) return std::nullopt;
  const Json& index = edge.get_array()[place];
  if (!index.is_int64() || index.get_int64() < 0) return std::nullopt;
  return static_cast<std::size_t>(index.get_int64());
}

}  // namespace

GraphRequest graph_request(const Json& cluster_version, std::string_view version, std::string_view architecture) {
  const std::string channel = text_of(cluster_version, {"spec", "channel"}),
                    upstream = text_of(cluster_version, {"spec", "upstream"});
  if (channel.empty()) return {.reason = "NoChannel", .message = "spec.channel is empty, so no updates are retrieved"};
  if (upstream.empty())
    return {.reason = "NoUpstream", .message = "spec.upstream is empty, and there is no update service of slipway's own"};
  const Result<net::Url> url = net::parse_url(upstream);
  if (!url.ok()) return {.reason = "InvalidURI", .message = "spec.upstream: " + url.error().message()};
  const std::string id = text_of(cluster_version, {"spec", "clusterID"});
  return {.url = fmt::format("{}{}arch={}&channel={}&id={}&version={}", upstream,
                             upstream.find('?') == std::string::npos ? "?" : "&", net::percent_encode(architecture),
                             net::percent_encode(channel), net::percent_encode(id), net::percent_encode(version))};
}

KnownUpdates read_graph(std::string_view answer, std::string_view version) {
  const Result<Json> parsed = parse_json(answer, "the update graph");
  if (!parsed.ok()) return refuse("ResponseInvalid", parsed.error().message());
  const Json& graph = parsed.value();
  const JsonArray& nodes = find_array(graph, {"nodes"});
  std::map<std::string, const Json*> node_of;
  for (const Json& node : nodes) node_of.emplace(text_of(node, {"version"}), &node);
  if (!node_of.contains(std::string(version))) {
    return refuse("VersionNotFound", fmt::format("the update service does not know version {} in this channel", version));
  }
  const std::map<std::string, JsonArray> risks = risks_by_target(graph, version);
  KnownUpdates known{.is_retrieved = true};
  for (const auto& [target, of_target] : risks) {
    const auto node = node_of.find(target);
    if (node == node_of.end() || of_target.empty()) continue;
    if (std::optional<Json> update = conditional_update(*node->second, of_target))
      known.conditional.push_back(*std::move(update));
  }
  std::set<std::string> seen;
  for (const Json& edge : find_array(graph, {"edges"})) {
    const std::optional<std::size_t> from = index_at(edge, 0), to = index_at(edge, 1);
    if (!from || !to || *from >= nodes.size() || *to >= nodes.size()) return refuse("ResponseInvalid", "an edge has no node");
    const std::string target = text_of(nodes[*to], {"version"});
    if (text_of(nodes[*from], {"version"}) != version || risks.contains(target) || !seen.insert(target).second) continue;
    known.available.push_back(release_of(nodes[*to]));
  }
  std::ranges::sort(known.available, is_newer);
  std::ranges::sort(known.conditional, [](const Json& a, const Json& b) { return is_newer(a.at("release"), b.at("release")); });
  return known;
}

}  // namespace slipway::components::cluster_version
