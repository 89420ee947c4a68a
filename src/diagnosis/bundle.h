// A log bundle for the rules: its files by path, and readers for files that several rules use.
//
//   bootstrap/{journals,containers,network,...}    logs of the bootstrap machine
//   control-plane/NAME/                            the same files of another machine
//   bootstrap/services/events.jsonl                events of the bootstrap machine
//   resources/KIND.json                            objects of the API, if the API answered
//   host/machines.jsonl, NAME.console.log          machines as the provider sees them
//   host/NAME.probe.txt                            what a machine sees of the others (probe.h)
//   host/network.txt                               addresses of the host side of the cluster network, `ip -oneline address`
//   host/expected.json                             addresses and domain in the install-config
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

// A file of the bootstrap machine: the images of the release with their names.
inline constexpr std::string_view image_references = "rendered-assets/openshift/image-references";

struct Machine {
  std::string name;
  std::string folder;   // in the bundle, "control-plane/master-0/"; may be empty
  std::string state{};  // as in `slipway machine list`; empty if the provider has no states
  std::string reason{};
  std::string address{};
};

// What the install-config says. Fields that the bundle does not have are empty.
struct Expected {
  std::string domain;  // "demo.example.com"
  std::vector<std::string> api_addresses;
};

// A value. Threads: any, except during add().
class Bundle {
 public:
  // path: as above, without the first folder of the archive
  void add(std::string path, std::string content);

  const std::string* find(std::string_view path) const;

  // Paths with this prefix and this suffix, sorted.
  std::vector<std::string_view> paths(std::string_view prefix, std::string_view suffix) const;

  // The lines of a file that contain the text, in order.
  std::vector<Quote> lines_with(std::string_view path, std::string_view text) const;

  // The same for all logs of a machine: journals, logs of containers, states of units.
  std::vector<Quote> log_lines_with(const Machine& machine, std::string_view text) const;

  // The machines of the provider's list. Without such a list: the machines that have a folder.
  std::vector<Machine> machines() const;

  std::optional<Probe> probe(const Machine& machine) const;
  Expected expected() const;

  // kind: "pods". Empty if the API did not answer.
  std::vector<Json> objects(std::string_view kind) const;

  std::vector<sys::Event> bootstrap_events() const;

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

}  // namespace slipway::diagnosis
