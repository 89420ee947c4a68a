#include "assets/graph.h"

namespace slipway::assets {

std::string Graph::name_of(std::type_index type) const {
  const auto node = nodes_.find(type);
  return node == nodes_.end() ? type.name() : node->second.name;
}

Result<> Graph::visit(std::type_index type, std::map<std::type_index, bool>& done) const {
  const auto node = nodes_.find(type);
  if (node == nodes_.end()) return error(Code::internal, "no function generates asset {}", name_of(type));
  const auto [mark, is_new] = done.emplace(type, false);
  if (!is_new && !mark->second) return error(Code::internal, "asset '{}' depends on itself", name_of(type));
  if (!is_new) return Ok{};
  for (const std::type_index& need : node->second.needs) {
    TRY(visit(need, done).context(fmt::format("asset '{}'", node->second.name)));
  }
  done[type] = true;
  return Ok{};
}

Result<> Graph::check() const {
  std::map<std::type_index, bool> done;
  for (const std::type_index& type : order_) TRY(visit(type, done));
  for (const Node& target : targets_) {
    for (const std::type_index& need : target.needs) TRY(visit(need, done).context(fmt::format("target '{}'", target.name)));
  }
  return Ok{};
}

Result<> Graph::make(std::type_index type) {
  TRY(check());
  const std::function<Result<>(std::type_index)> make_one = [&](std::type_index wanted) -> Result<> {
    if (values_.contains(wanted)) return Ok{};
    const auto found = nodes_.find(wanted);
    if (found == nodes_.end()) return error(Code::internal, "no function generates asset {}", name_of(wanted));
    const Node& node = found->second;
    if (!node.run) return error(Code::internal, "input '{}' is missing", node.name);
    for (const std::type_index& need : node.needs) TRY(make_one(need));
    std::any made = TRY(node.run(*this));
    values_.insert_or_assign(wanted, std::move(made));
    return Ok{};
  };
  return make_one(type);
}

std::vector<std::pair<std::string, std::string>> Graph::edges() const {
  std::vector<std::pair<std::string, std::string>> edges;
  for (const std::type_index& type : order_) {
    for (const std::type_index& need : nodes_.at(type).needs) edges.emplace_back(name_of(need), name_of(type));
  }
  return edges;
}

Graph::Row Graph::row_of(const Node& node, bool is_target) const {
  Row row{.name = node.name, .subject = node.subject, .needs = {}, .is_target = is_target};
  for (const std::type_index& need : node.needs) row.needs.push_back(name_of(need));
  return row;
}

std::vector<Graph::Row> Graph::rows() const {
  std::vector<Row> rows;
  for (const std::type_index& type : order_) rows.push_back(row_of(nodes_.at(type), false));
  for (const Node& target : targets_) rows.push_back(row_of(target, true));
  return rows;
}

}  // namespace slipway::assets
