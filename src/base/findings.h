// Findings: all problems of a document, each with its place, so that users can fix them together.
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

// A position in a document. Line and column count from 1, columns in bytes; 0 means unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const Place&) const = default;
};

// "a.yaml:7:13", "a.yaml" or "7:13", depending on what is known; empty if nothing is known.
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

// Collects findings in the order of the calls. A value: it can be copied, compared and printed.
class Findings {
 public:
  // A handle to add a hint to the new finding. Invalid after the next call of Findings.
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

  // One line for each finding, sorted by place; includes warnings.
  std::string to_text() const;

  // Ok if there is no error; otherwise Code::invalid with the text of all findings.
  Result<> to_result() const;

  bool operator==(const Findings&) const = default;

 private:
  std::vector<Finding> all_;
};

}  // namespace slipway
