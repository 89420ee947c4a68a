#include "assets/graph_dot.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace slipway::assets {

namespace {

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

}  // namespace

std::string to_dot(const Graph& graph) {
  const std::vector<Graph::Row> rows = graph.rows();
  std::vector<std::string> subjects;
  for (const Graph::Row& row : rows) {
    if (!row.is_target && std::ranges::find(subjects, row.subject) == subjects.end()) subjects.push_back(row.subject);
  }
  std::string dot = "strict digraph \"assets\" {\n  rankdir=LR;\n  node [shape=box];\n";
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    dot += fmt::format("  subgraph \"cluster_{}\" {{\n    label={};\n", i, quoted(subjects[i]));
    for (const Graph::Row& row : rows) {
      if (!row.is_target && row.subject == subjects[i]) dot += fmt::format("    {};\n", quoted(row.name));
    }
    dot += "  }\n";
  }
  for (const Graph::Row& row : rows) {
    if (row.is_target) dot += fmt::format("  {} [style=filled];\n", quoted(row.name));
  }
  for (const Graph::Row& row : rows) {
    for (const std::string& need : row.needs) dot += fmt::format("  {} -> {};\n", quoted(need), quoted(row.name));
  }
  return dot + "}\n";
}

}  // namespace slipway::assets
