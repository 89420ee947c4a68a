#include "base/metrics.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Metrics, AddsAndSets) {
  Metrics metrics;
  metrics.add(Metric::reconciles, {{"controller", "dns"}, {"result", "done"}});
  metrics.add(Metric::reconciles, {{"controller", "dns"}, {"result", "done"}});
  metrics.add(Metric::reconciles, {{"controller", "dns"}, {"result", "failed"}});
  metrics.add(Metric::plan_seconds, {{"controller", "dns"}}, 0.25);
  metrics.set(Metric::leader, {{"lease", "a/b"}}, 1);
  metrics.set(Metric::leader, {{"lease", "a/b"}}, 0);
  metrics.set(Metric::memory_bytes, {}, 52428800);
  EXPECT_EQ(metrics.samples({{"program", "dns-operator"}}),
            "slipway_leader{program=\"dns-operator\",lease=\"a/b\"} 0\n"
            "slipway_memory_bytes{program=\"dns-operator\"} 52428800\n"
            "slipway_plan_seconds_total{program=\"dns-operator\",controller=\"dns\"} 0.25\n"
            "slipway_reconciles_total{program=\"dns-operator\",controller=\"dns\",result=\"done\"} 2\n"
            "slipway_reconciles_total{program=\"dns-operator\",controller=\"dns\",result=\"failed\"} 1\n");
}

TEST(Metrics, EscapesValues) {
  Metrics metrics;
  metrics.set(Metric::build_info, {{"version", "a\"b\\c\nd"}}, 1);
  EXPECT_EQ(metrics.samples({}), "slipway_build_info{version=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST(Metrics, ManyProgramsAreOneDocument) {
  Metrics one, other;
  one.set(Metric::leader, {{"lease", "a/b"}}, 1);
  one.set(Metric::build_info, {{"version", "1"}}, 1);
  other.set(Metric::leader, {{"lease", "c/d"}}, 0);
  const std::string text = exposition(other.samples({{"program", "z"}}) + "no sample\nslipway_unknown{} 1\n\n" +
                                      one.samples({{"program", "a"}}));
  EXPECT_EQ(text,
            "# HELP slipway_build_info Always 1; the label has the version of the program.\n"
            "# TYPE slipway_build_info gauge\n"
            "slipway_build_info{program=\"a\",version=\"1\"} 1\n"
            "# HELP slipway_leader Whether the process holds the Lease.\n"
            "# TYPE slipway_leader gauge\n"
            "slipway_leader{program=\"a\",lease=\"a/b\"} 1\n"
            "slipway_leader{program=\"z\",lease=\"c/d\"} 0\n");
  EXPECT_EQ(exposition(""), "");
}

}  // namespace
}  // namespace slipway
