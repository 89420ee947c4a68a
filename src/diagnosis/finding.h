// A finding: a named fault of a cluster, with the evidence and the next step. base/findings.h is something else: faults of
// documents.
#pragma once

#include "base/json.h"
#include "sys/events.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// A line of a file in the bundle.
struct Quote {
  std::string file;
  int line = 0;      // from 1; 0 means the whole file
  std::string text;  // shortened

  bool operator==(const Quote&) const = default;
};

// A line for use as evidence: without control characters, cut to 300 bytes. If the line contains `focus`, the cut keeps it.
std::string shortened(std::string_view line, std::string_view focus = {});

struct Finding {
  std::string name{};             // "image-missing"; docs/errors.md lists all names
  std::string stage{};            // what is blocked: "etcd-render", "the start of master-0"
  std::string cause{};            // a sentence
  std::vector<Quote> evidence{};  // the strongest first
  std::string next_step{};        // what to do, a sentence
  bool is_final = false;          // does not resolve by itself

  bool operator==(const Finding&) const = default;
};

// One paragraph per finding, for people.
std::string to_text(const std::vector<Finding>& findings);

// {"findings": [{"name": ..., "stage": ..., "cause": ..., "evidence": [{"file": ..., "line": 3, "text": ...}], "next_step": ...,
//  "is_final": true}]}
Json to_json(const std::vector<Finding>& findings);

// An event of kind "finding" in phase "failed". Its error is the cause.
sys::Event to_event(const Finding& finding);

// The error of a command: cause, stage, evidence, next step, and the path of the bundle unless that is empty. The code is
// invalid.
Error to_error(const Finding& finding, const std::string& bundle);

}  // namespace slipway::diagnosis
