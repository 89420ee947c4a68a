#include "assist/groups.h"

#include "assist/test_hosts.h"
#include "base/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace slipway::assist {
namespace {

const net::Cidr network = net::parse_cidr("192.168.126.0/24").value();

struct Lab {
  std::vector<Host> hosts;

  explicit Lab(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) hosts.push_back(test_host(fmt::format("{:03}", i)));
  }
  void reaches(std::size_t from, std::size_t to) {
    hosts[from].checks.reach.push_back(
        {.host = hosts[to].id, .address = fmt::format("192.168.126.{}", to + 1), .by_link = true, .by_address = true});
  }
  std::set<std::string> group() const {
    std::vector<const Host*> all;
    for (const Host& host : hosts) all.push_back(&host);
    return majority_group(all, network, true);
  }
};

TEST(MajorityGroup, NeedsThreeHostsAndBothDirections) {
  Lab lab(4);
  EXPECT_TRUE(lab.group().empty());
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      if (a != b) lab.reaches(a, b);
    }
  }
  for (std::size_t a = 0; a < 3; ++a) lab.reaches(3, a);  // nobody reaches it
  EXPECT_EQ(lab.group(), (std::set<std::string>{"000", "001", "002"}));
  for (std::size_t a = 0; a < 3; ++a) lab.reaches(a, 3);
  EXPECT_EQ(lab.group().size(), 4U);
}

TEST(MajorityGroup, CountsTheNetworkAndTheKindOfReach) {
  Lab lab(3);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      if (a != b) lab.reaches(a, b);
    }
  }
  std::vector<const Host*> all = {&lab.hosts[0], &lab.hosts[1], &lab.hosts[2]};
  EXPECT_EQ(majority_group(all, network, false).size(), 3U);
  EXPECT_TRUE(majority_group(all, net::parse_cidr("10.0.0.0/8").value(), true).empty());
  lab.hosts[0].checks.reach[0].by_link = false;
  EXPECT_TRUE(lab.group().empty());
}

TEST(MajorityGroup, IsTheLargest) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 3 + random() % 6;
    Lab lab(count);
    std::vector<unsigned> links(count);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = a + 1; b < count; ++b) {
        if (random() % 3 == 0) continue;
        lab.reaches(a, b);
        lab.reaches(b, a);
        links[a] |= 1U << b;
        links[b] |= 1U << a;
      }
    }
    int most = 0;
    for (unsigned subset = 0; subset < 1U << count; ++subset) {
      bool is_clique = true;
      for (std::size_t a = 0; a < count; ++a) {
        if ((subset >> a & 1) != 0 && (links[a] | 1U << a) != (links[a] | 1U << a | subset)) is_clique = false;
      }
      if (is_clique) most = std::max(most, std::popcount(subset));
    }
    EXPECT_EQ(lab.group().size(), most < 3 ? 0U : static_cast<std::size_t>(most)) << round;
  }
}

TEST(MajorityGroup, FindsTheRestOfALargeCluster) {
  Lab lab(100);
  for (std::size_t a = 0; a < 100; ++a) {
    for (std::size_t b = 0; b < 100; ++b) {
      if (a != b && a != 42 && b != 42) lab.reaches(a, b);
    }
  }
  EXPECT_EQ(lab.group().size(), 99U);
  EXPECT_FALSE(lab.group().contains("042"));
}

}  // namespace
}  // namespace slipway::assist
