// Metrics: what a program counts about itself, in the text format of Prometheus.
//
//   metrics.add(Metric::reconciles, {{"controller", "dns"}, {"result", "done"}});
//   text = exposition(metrics.samples({{"program", "dns-operator"}}));
#pragma once

#include "base/guarded.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway {

// Their names, types and descriptions are a table in metrics.cpp; docs/metrics.md explains them.
enum class Metric {
  api_requests,       // verb, code
  build_info,         // version
  cpu_seconds,        // of the process
  leader,             // lease
  memory_bytes,       // of the process
  plan_seconds,       // controller
  reconcile_seconds,  // controller
  reconciles,         // controller, result
  watches,            // resource
};

// Names and values. A value may be any text.
using MetricLabels = std::vector<std::pair<std::string_view, std::string_view>>;

// Threads: any.
class Metrics {
 public:
  void add(Metric metric, const MetricLabels& labels, double by = 1);
  void set(Metric metric, const MetricLabels& labels, double value);

  // One line for each value, each with these labels in addition: `slipway_leader{program="dns-operator",lease="a/b"} 1`.
  std::string samples(const MetricLabels& common) const;

 private:
  Guarded<std::map<std::pair<Metric, std::string>, double>> values_;  // by metric and the text of its labels
};

// The samples of one or more programs as one document, sorted, with types and descriptions. Lines that are not samples of this
// table are left out: the programs may be of another release.
std::string exposition(std::string_view samples);

}  // namespace slipway
