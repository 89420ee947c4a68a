#include "assist/groups.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

namespace slipway::assist {

namespace {

constexpr std::size_t smallest_group = 3, most_for_exact = 64;

using Matrix = std::vector<std::vector<bool>>;

Matrix reach_of(const std::vector<const Host*>& hosts, const net::Cidr& network, bool by_link) {
  std::map<std::string, std::size_t, std::less<>> place;
  for (std::size_t i = 0; i < hosts.size(); ++i) place[hosts[i]->id] = i;
  Matrix one_way(hosts.size(), std::vector<bool>(hosts.size()));
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (const Reach& reach : hosts[from]->checks.reach) {
      const auto to = place.find(reach.host);
      const Result<net::IpAddress> address = net::parse_ip(reach.address);
      if (to == place.end() || !address.ok() || !network.contains(address.value())) continue;
      if (by_link ? reach.by_link : reach.by_address) one_way[from][to->second] = true;
    }
  }
  Matrix both(hosts.size(), std::vector<bool>(hosts.size()));
  for (std::size_t a = 0; a < hosts.size(); ++a) {
    for (std::size_t b = 0; b < hosts.size(); ++b) both[a][b] = a != b && one_way[a][b] && one_way[b][a];
  }
  return both;
}

// The largest clique of a graph of up to 64 nodes, by Bron and Kerbosch's algorithm with pivots. Nodes are bits.
class LargestClique {
 public:
  explicit LargestClique(const Matrix& reach) : neighbours_(reach.size()) {
    for (std::size_t a = 0; a < reach.size(); ++a) {
      for (std::size_t b = 0; b < reach.size(); ++b) neighbours_[a] |= std::uint64_t{reach[a][b]} << b;
    }
  }

  std::uint64_t find() {
    const std::size_t count = neighbours_.size();
    extend(0, count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1, 0);
    return best_;
  }

 private:
  void extend(std::uint64_t clique, std::uint64_t candidates, std::uint64_t excluded) {
    if (std::popcount(clique) + std::popcount(candidates) <= std::popcount(best_)) return;
    if (candidates == 0) {
      best_ = clique;
      return;
    }
    int most = -1;
    std::uint64_t of_pivot = 0;
    for (std::uint64_t rest = candidates | excluded; rest != 0; rest &= rest - 1) {
      const std::uint64_t neighbours = neighbours_[static_cast<std::size_t>(std::countr_zero(rest))] & candidates;
      if (std::popcount(neighbours) > most) {
        most = std::popcount(neighbours);
        of_pivot = neighbours;
      }
    }
    for (std::uint64_t rest = candidates & ~of_pivot; rest != 0; rest &= rest - 1) {
      const std::uint64_t node = rest & -rest;
      const std::uint64_t neighbours = neighbours_[static_cast<std::size_t>(std::countr_zero(node))];
      extend(clique | node, candidates & neighbours, excluded & neighbours);
      candidates &= ~node;
      excluded |= node;
    }
  }

  std::vector<std::uint64_t> neighbours_;
  std::uint64_t best_ = 0;
};

// For larger graphs: each node with the neighbours that fit, taken in the order of how many neighbours they have.
std::vector<std::size_t> large_clique(const Matrix& reach) {
  std::vector<std::size_t> order(reach.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto degree = [&](std::size_t node) { return std::ranges::count(reach[node], true); };
  std::ranges::stable_sort(order, std::greater<>(), degree);
  std::vector<std::size_t> best;
  for (const std::size_t start : order) {
    std::vector<std::size_t> clique = {start};
    for (const std::size_t node : order) {
      const auto fits = [&](std::size_t member) { return reach[node][member]; };
      if (std::ranges::all_of(clique, fits)) clique.push_back(node);
    }
    if (clique.size() > best.size()) best = std::move(clique);
  }
  return best;
}

}  // namespace

std::set<std::string> majority_group(const std::vector<const Host*>& hosts, const net::Cidr& network, bool by_link) {
  std::vector<const Host*> sorted = hosts;
  std::ranges::sort(sorted, {}, [](const Host* host) { return host->id; });
  const Matrix reach = reach_of(sorted, network, by_link);
  std::set<std::string> group;
  if (sorted.size() <= most_for_exact) {
    const std::uint64_t clique = LargestClique(reach).find();
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if ((clique >> i & 1) != 0) group.insert(sorted[i]->id);
    }
  } else {
    for (const std::size_t node : large_clique(reach)) group.insert(sorted[node]->id);
  }
  if (group.size() < smallest_group) group.clear();
  return group;
}

}  // namespace slipway::assist
