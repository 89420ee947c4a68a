// Why a cluster, or one object of it, is not as it should be: the chain of broken links from what is awaited down to the cause.
//
//   clusteroperator/etcd   is Degraded
//   pod/openshift-etcd/etcd-master-1   is not Ready
//   node/master-1          its kubelet has been silent since ...
//   machine/master-1       is off
//
// The walk goes from an object to the objects that it depends on: condition, operator, revision, pod, Node, machine, reachability
// between machines, host. An object that is healthy, or not yet as old as its link's patience, has no link (links.h). Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "diagnosis/links.h"
#include "diagnosis/snapshot.h"
#include "sys/events.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// An object of a cluster: "node/master-1", "pod/openshift-etcd/etcd-master-1", "host".
struct Object {
  std::string kind;
  std::string key;  // "master-1", "openshift-etcd/etcd-master-1"; empty if there is only one of the kind

  std::string text() const { return key.empty() ? kind : kind + "/" + key; }
  auto operator<=>(const Object&) const = default;
};
inline const Object whole_cluster{"cluster", ""};

// Understands kinds by their names in the API and by their short names ("co", "mcp", "po").
// errors: invalid: no such kind, or not as many parts as the kind has
Result<Object> parse_object(std::string_view text);

// Whether the snapshot has the object.
bool exists(const Snapshot& snapshot, const Object& object);

struct Link {
  std::string name{};      // of its row in links.h
  std::string object{};    // "node/master-1"
  std::string sentence{};  // what is broken
  std::optional<WallTime> since{};
  std::string next_step{};

  const LinkRow& row() const { return link_row(name); }
  bool operator==(const Link&) const = default;
};

// From what is awaited to the deepest broken link. Never empty.
using Chain = std::vector<Link>;

// The chains of everything that is broken, those with the deepest end first; among equals, the oldest first. Each end appears
// once: in the longest of its chains. Empty if nothing is broken.
std::vector<Chain> why(const Snapshot& snapshot, const Object& object = whole_cluster, Situation situation = Situation::usual);

// The first chain with all its links, the deepest last, with what to do about it; then the ends of the other chains.
std::string to_text(const std::vector<Chain>& chains, WallTime now);

// [{"links": [{"name": ..., "level": "pod", "object": ..., "sentence": ..., "since": ..., "next_step": ...}]}]; since is null if
// it is unknown.
JsonArray to_json(const std::vector<Chain>& chains);

// An event of kind "cause" about the end of the chain: failed, with the sentence as its error.
sys::Event to_event(const Chain& chain);

}  // namespace slipway::diagnosis
