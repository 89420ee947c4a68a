// Findings: every problem of a document, each with its place, so that a person mends them in one go.
//
//   findings.error(places["controlPlane.replicas"], "controlPlane.replicas", "must be odd, got {}", n).hint("use 1 or 3");
//
//   install-config.yaml:7:13: error: controlPlane.replicas: must be odd, got 2 (use 1 or 3)
#pragma once

#include "base/result.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway {

// Where in a document something stands. Line and column count from 1, columns in bytes; 0 is "not known".
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const Place&) const = default;
};

// "a.yaml:7:13", "a.yaml" or "7:13", as far as it is known; empty when nothing is.
std::string to_string(const Place& place);

enum class Severity { warning, error };

struct Finding {
  Severity severity = Severity::error;
  Place place;
  std::string field;    // path of the field, "spec.tags[3].name"; empty for the document as a whole
  std::string message;  // what is wrong
  std::string hint;     // what to do; may be empty

  bool operator==(const Finding&) const = default;
};

std::string to_string(const Finding& finding);

// Collects findings in the order they are made. A value: copy, compare, print.
class Findings {
 public:
  // Adds a finding; the reference takes a hint and dies with the next call.
  class Added {
   public:
    explicit Added(Finding& finding) : finding_(finding) {}
    void hint(std::string text) { finding_.hint = std::move(text); }

   private:
    Finding& finding_;
  };

  template <class... Args>
  Added error(Place place, std::string field, fmt::format_string<Args...> text, Args&&... args) {
    return add({Severity::error, std::move(place), std::move(field), fmt::format(text, std::forward<Args>(args)...), ""});
  }
  template <class... Args>
  Added warning(Place place, std::string field, fmt::format_string<Args...> text, Args&&... args) {
    return add({Severity::warning, std::move(place), std::move(field), fmt::format(text, std::forward<Args>(args)...), ""});
  }
  Added add(Finding finding);
  void append(Findings other);

  const std::vector<Finding>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  bool has_errors() const;

  // One line a finding, in the order of the document, warnings among them.
  std::string to_text() const;

  // Success unless there is an error; then Code::invalid with the text of all findings.
  Result<> to_result() const;

  bool operator==(const Findings&) const = default;

 private:
  std::vector<Finding> all_;
};

}  // namespace slipway
