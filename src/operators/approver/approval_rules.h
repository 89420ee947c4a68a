// Which certificate requests of machines are approved, and which role a node gets: pure (operators 6, design 12.9).
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::operators {

// One row of the table that the installer wrote and keeps: who may join, as what, with which addresses.
struct KnownMachine {
  std::string name;
  std::string role;                    // "master", "worker"
  std::vector<std::string> addresses;  // IP addresses and host names

  bool operator==(const KnownMachine&) const = default;
};
using MachineTable = std::vector<KnownMachine>;

// The keys that nodes have certificates for, by the node's name: SHA-256 of the public halves.
using NodeKeys = std::map<std::string, std::vector<std::string>, std::less<>>;

// Of ConfigMap openshift-config/machine-addresses, YAML; the rows are JSON under the key `machines`:
//   [{"name":"master-0","role":"master","addresses":["10.97.77.11"]}]
// errors: invalid: no such key, rows without name or role
Result<MachineTable> machine_table(const Json& config_map, std::string_view name);
// The same of its YAML.
Result<MachineTable> parse_machine_table(std::string_view text, std::string_view name);

struct Verdict {
  bool approve = false;
  std::string reason;   // one word, of an Event or a condition: "UnknownMachine"
  std::string message;  // a sentence
  std::string node;     // whom the request is about, as far as that is known

  bool operator==(const Verdict&) const = default;
};

// Judges a CertificateSigningRequest. Of a client certificate: the bootstrap identity with exactly its groups asks for
// system:node:NAME in system:nodes, with the kubelet's usages, without alternative names, and no node has that name yet; or it
// has, and the request proves that it comes from there, by a key that the node had a certificate for: the way back of a machine
// that was off until its certificate was over. Of a serving certificate: the node itself asks for its own name, it has
// registered, and every alternative name is its own.
//
//   machines  null when there is no table: then names and addresses are not held against one
//   nodes     names of all Nodes
//   keys      of those nodes; a node without any cannot come back without a person
//   returns   nothing for a request that is not to be judged here: decided already, of another signer, a node's renewal
//             (which the controller manager approves)
std::optional<Verdict> judge_request(const Json& request, const MachineTable* machines,
                                     const std::set<std::string, std::less<>>& nodes, const NodeKeys& keys = {});

// What is known of the keys of a node, in its annotation slipway.internal/kubelet-keys; only the node itself and those who may
// change any node can write it.
std::vector<std::string> known_keys(const Json& node);

// The merge patch that makes the annotations of nodes know the keys of the client certificates that were issued, by the node's
// name; nothing for a node that knows them. The two newest keys count: a machine may lose its power before it has stored a new
// one.
//
//   requests  all that there are, of any kind; they are removed an hour after they were decided
std::map<std::string, Json> key_patches(const std::vector<Json>& nodes, const std::vector<Json>& requests);

// The merge patch that gives a node of the table the labels of its role; nothing when it has all. A master gets its taint
// together with the label "master", as it registers: who takes the taint off later means it (schedulable masters).
std::optional<Json> role_patch(const Json& node, const MachineTable& machines);

}  // namespace slipway::operators
