#include "base/metrics.h"

#include "base/check.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway {

namespace {

struct Family {
  Metric metric;
  std::string_view name;
  std::string_view type;
  std::string_view help;
};

// Sorted by name, in the order of the enumeration.
constexpr std::array families = {
    Family{Metric::api_requests, "slipway_api_requests_total", "counter",
           "Requests to the Kubernetes API by verb and class of the HTTP status; none: no answer."},
    Family{Metric::build_info, "slipway_build_info", "gauge", "Always 1; the label has the version of the program."},
    Family{Metric::cpu_seconds, "slipway_cpu_seconds_total", "counter", "CPU time of the process, of user and system."},
    Family{Metric::leader, "slipway_leader", "gauge", "Whether the process holds the Lease."},
    Family{Metric::memory_bytes, "slipway_memory_bytes", "gauge", "Resident memory of the process."},
    Family{Metric::plan_seconds, "slipway_plan_seconds_total", "counter", "Time to compute the plans of a controller."},
    Family{Metric::reconcile_seconds, "slipway_reconcile_seconds_total", "counter",
           "Time of the reconciliations of a controller: the plan and its writes."},
    Family{Metric::reconciles, "slipway_reconciles_total", "counter",
           "Reconciliations of a controller by result: done, conflict or failed."},
    Family{Metric::watches, "slipway_watches_total", "counter",
           "Watches that were started, by resource. It grows when a watch ends and starts again."},
};

const Family& family_of(Metric metric) {
  const auto found = std::ranges::find(families, metric, &Family::metric);
  CHECK(found != families.end());
  return *found;
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string text_of_labels(const MetricLabels& labels) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : labels) texts.push_back(fmt::format("{}=\"{}\"", name, escaped(value)));
  return join(texts, ",");
}

}  // namespace

void Metrics::add(Metric metric, const MetricLabels& labels, double by) {
  std::pair key(metric, text_of_labels(labels));
  values_.with_lock([&](auto& values) { values[std::move(key)] += by; });
}

void Metrics::set(Metric metric, const MetricLabels& labels, double value) {
  std::pair key(metric, text_of_labels(labels));
  values_.with_lock([&](auto& values) { values[std::move(key)] = value; });
}

std::string Metrics::samples(const MetricLabels& common) const {
  const std::string first = text_of_labels(common);
  std::string out;
  for (const auto& [key, value] : values_.with_lock([](const auto& values) { return values; })) {
    const std::string_view comma = first.empty() || key.second.empty() ? "" : ",";
    out += fmt::format("{}{{{}{}{}}} {}\n", family_of(key.first).name, first, comma, key.second, value);
  }
  return out;
}

std::string exposition(std::string_view samples) {
  std::vector<std::string_view> lines = split(samples, '\n');
  std::ranges::sort(lines);
  std::string out;
  for (const Family& family : families) {
    const std::string begin = fmt::format("{}{{", family.name);
    bool is_first = true;
    for (const std::string_view line : lines) {
      if (!line.starts_with(begin)) continue;
      if (std::exchange(is_first, false))
        out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", family.name, family.help, family.name, family.type);
      out += fmt::format("{}\n", line);
    }
  }
  return out;
}

}  // namespace slipway
