// A log bundle as the rules see it: files by path, and what is read out of them more than once.
//
//   bootstrap/{journals,containers,network,...}    the bootstrap machine; control-plane/NAME/ the same of others
//   bootstrap/services/events.jsonl                its events
//   resources/KIND.json                            objects of the API, when it answers
//   host/machines.jsonl, NAME.console.log          machines as their provider sees them
//   host/NAME.probe.txt                            what a machine sees of the others (probe.h)
//   host/network.txt                               addresses of the host side of the cluster's network, `ip -oneline address`
//   host/expected.json                             what the install-config says of addresses
#pragma once

#include "diagnosis/finding.h"
#include "diagnosis/probe.h"

#include "sys/events.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// The list of the release's images with their names, of the bootstrap machine.
inline constexpr std::string_view image_references = "rendered-assets/openshift/image-references";

// A machine of the cluster.
struct Machine {
  std::string name;
  std::string folder;   // of the bundle, "control-plane/master-0/"; there may be nothing in it
  std::string state{};  // as `slipway machine list` has it; empty where the provider tells none
  std::string reason{};
  std::string address{};
};

// What its user asked for; empty where the bundle does not tell.
struct Expected {
  std::string domain;  // "demo.example.com"
  std::vector<std::string> api_addresses;
};

// A value: built by add() or by open.h, then only read. Threads: any, while nobody adds.
class Bundle {
 public:
  // Paths are as above, without the archive's first folder.
  void add(std::string path, std::string content);

  const std::string* find(std::string_view path) const;

  // Paths that begin and end like this, sorted.
  std::vector<std::string_view> paths(std::string_view prefix, std::string_view suffix) const;

  // The lines of a file that contain a text, in their order.
  std::vector<Quote> lines_with(std::string_view path, std::string_view text) const;

  // Those of all the files of a machine in which programs speak: journals, logs of containers.
  std::vector<Quote> said_on(const Machine& machine, std::string_view text) const;

  // All that is known of: those of the provider, else those that have a folder.
  std::vector<Machine> machines() const;

  std::optional<Probe> probe(const Machine& machine) const;
  Expected expected() const;

  // Objects of a kind, "pods". None when the API did not answer.
  std::vector<Json> objects(std::string_view kind) const;

  // What the bootstrap machine told.
  std::vector<sys::Event> bootstrap_events() const;

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

// A line as evidence: without control characters, at most 300 bytes of it, those around `focus` when that is in it.
std::string shortened(std::string_view line, std::string_view focus = {});

}  // namespace slipway::diagnosis
