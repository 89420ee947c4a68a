#include "provider/aws/preflight.h"

#include <gtest/gtest.h>

namespace slipway::provider::aws {
namespace {

TEST(Vcpus, AreThoseOfTheSize) {
  for (const auto& [type, vcpus] : std::initializer_list<std::pair<const char*, int>>{
           {"m6i.large", 2}, {"m6i.xlarge", 4}, {"m6i.2xlarge", 8}, {"m7i.48xlarge", 192}, {"t3.medium", 2}, {"m3.medium", 1}}) {
    EXPECT_EQ(vcpus_of(type), vcpus) << type;
  }
}

TEST(StandardTypes, ShareAQuota) {
  for (const char* type : {"m6i.large", "t3.medium", "c7gn.xlarge", "im4gn.large", "z1d.large"})
    EXPECT_TRUE(is_standard(type)) << type;
  for (const char* type :
       {"g5.xlarge", "p4d.24xlarge", "inf1.xlarge", "trn1.2xlarge", "mac2.metal", "hpc6a.48xlarge", "x1.16xlarge"})
    EXPECT_FALSE(is_standard(type)) << type;
}

TEST(Needs, CountWhatHasQuotas) {
  const Needs needs = needs_of({{.kind = "vpc", .name = "a"},
                                {.kind = "elastic-ip", .name = "b"},
                                {.kind = "machine", .name = "c", .spec = {{"type", "m6i.xlarge"}}},
                                {.kind = "machine", .name = "d", .spec = {{"type", "m6i.2xlarge"}}},
                                {.kind = "machine", .name = "e", .spec = {{"type", "g5.xlarge"}}}});
  EXPECT_EQ(needs.vpcs, 1);
  EXPECT_EQ(needs.elastic_ips, 1);
  EXPECT_EQ(needs.vcpus, 12);
}

}  // namespace
}  // namespace slipway::provider::aws
