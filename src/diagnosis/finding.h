// A finding: one thing that is wrong with a cluster, named, with what proves it and what to do. Not to be confused with those of
// base/findings.h, which are about documents.
#pragma once

#include "base/json.h"
#include "sys/events.h"

#include <string>
#include <vector>

namespace slipway::diagnosis {

// A line of a file of the bundle.
struct Quote {
  std::string file;
  int line = 0;      // from 1; 0 when it is the file as a whole
  std::string text;  // shortened

  bool operator==(const Quote&) const = default;
};

struct Finding {
  std::string name{};             // "image-missing", one of docs/errors.md
  std::string stage{};            // what could not go on: "etcd-render", "the start of master-0"
  std::string cause{};            // a sentence
  std::vector<Quote> evidence{};  // the first says most
  std::string next_step{};        // what to do, a sentence
  bool is_final = false;          // it will not heal by itself

  bool operator==(const Finding&) const = default;
};

// A paragraph a finding, for people.
std::string to_text(const std::vector<Finding>& findings);

// {"findings": [{"name": ..., "stage": ..., "cause": ..., "evidence": [{"file": ..., "line": 3, "text": ...}], "next_step": ...,
//  "is_final": true}]}
Json to_json(const std::vector<Finding>& findings);

// As an event of kind "finding": failed, the cause as its error.
sys::Event to_event(const Finding& finding);

// What a command ends with: stage, cause, evidence, next step, and where the bundle is, unless that is empty.
Error to_error(const Finding& finding, const std::string& bundle);

}  // namespace slipway::diagnosis
