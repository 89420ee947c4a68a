// Graph: assets, each made by one function; the function's parameters are what it depends on, so nobody keeps a second list.
//
//   Graph graph;
//   graph.input<Config>("install config");
//   graph.add("root CA", make_root_ca);             // Result<RootCa> make_root_ca(const Config&)
//   graph.put(config);
//   const RootCa* ca = TRY(graph.get<RootCa>());    // makes it and what it needs, once
//
// An asset is known by its type. What was put stands: its function is not called.
#pragma once

#include "base/check.h"
#include "base/result.h"

#include <any>
#include <functional>
#include <map>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

namespace slipway::assets {

// Threads: one at a time.
class Graph {
 public:
  // What the assets that follow are about; for pictures.
  void subject(std::string name) { subject_ = std::move(name); }

  // An asset that comes from outside.
  template <class T>
  void input(std::string name) {
    add_node(typeid(T), {std::move(name), subject_, {}, nullptr});
  }

  // An asset and the function that makes it: T or Result<T> of other assets.
  template <class Returned, class... Needs>
  void add(std::string name, Returned (*make)(const Needs&...)) {
    using T = typename AssetOf<Returned>::Type;
    auto run = [make](Graph& graph) -> Result<std::any> {
      Result<T> made = make(graph.value<Needs>()...);
      if (!made.ok()) return std::move(made).error();
      return std::any(std::move(made).value());
    };
    add_node(typeid(T), {std::move(name), subject_, {std::type_index(typeid(Needs))...}, run});
  }

  // What people ask for, and the assets that it is.
  template <class... Needs>
  void target(std::string name) {
    targets_.push_back({std::move(name), "", {std::type_index(typeid(Needs))...}, nullptr});
  }

  template <class T>
  void put(T value) {
    values_.insert_or_assign(typeid(T), std::any(std::move(value)));
  }

  // The asset, which lives as long as the graph and until it is put anew.
  //
  //   errors  those of the functions; internal: a cycle, a missing producer, an input that was not put
  template <class T>
  Result<const T*> get() {
    TRY(make(typeid(T)));
    return &value<T>();
  }

  // errors: internal, naming the assets: something that nobody makes, a cycle
  Result<> check() const;

  // (what is needed, what it is needed for), by the names that were given.
  std::vector<std::pair<std::string, std::string>> edges() const;

  // All assets in the order in which they were added, then the targets.
  struct Row {
    std::string name;
    std::string subject;  // empty for targets
    std::vector<std::string> needs;
    bool is_target = false;
  };
  std::vector<Row> rows() const;

 private:
  template <class T>
  struct AssetOf {
    using Type = T;
  };
  template <class T>
  struct AssetOf<Result<T>> {
    using Type = T;
  };
  struct Node {
    std::string name;
    std::string subject;
    std::vector<std::type_index> needs;
    std::function<Result<std::any>(Graph&)> run;  // none for inputs and targets
  };

  template <class T>
  const T& value() const {
    return *std::any_cast<T>(&values_.at(typeid(T)));
  }
  void add_node(std::type_index type, Node node) {
    order_.push_back(type);
    CHECK(nodes_.emplace(type, std::move(node)).second);
  }
  std::string name_of(std::type_index type) const;
  Row row_of(const Node& node, bool is_target) const;
  Result<> visit(std::type_index type, std::map<std::type_index, bool>& done) const;
  Result<> make(std::type_index type);

  std::string subject_;
  std::map<std::type_index, Node> nodes_;
  std::vector<Node> targets_;
  std::vector<std::type_index> order_;  // as they were added
  std::map<std::type_index, std::any> values_;
};

// All assets of an installation. Inputs: config::InstallConfig, Environment, Randomness, PreviousTls, UserTls, UserFiles.
Graph asset_graph();

}  // namespace slipway::assets
