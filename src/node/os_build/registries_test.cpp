#include "node/os_build/registries.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

TEST(Registries, OfAContainerfile) {
  const std::set<std::string> found = registries_in(
      "ARG IMAGE=z.example.com/x\n"
      "FROM --platform=linux/amd64 a.example.com:5000/os@sha256:00 AS configs\n"
      "FROM debian:13 AS tools\n"
      "FROM ${HOST}/x AS variable\n"
      "FROM library/debian\n"
      "COPY --from=B.example.com/tool:1 /bin/tool /usr/bin/\n"
      "COPY --from=tools /usr/bin/x y.example.com/x /\n"
      "RUN --mount=type=bind,from=localhost/c,target=/mnt \\\n"
      "  make\n");
  EXPECT_EQ(join({found.begin(), found.end()}, " "), "a.example.com:5000 b.example.com docker.io localhost");
}

TEST(Registries, ConfHasTheServersInOrder) {
  const Endpoints endpoints = {
      {"", {{.server = "10.0.0.1:5000", .plain_http = true}, {}}},
      {"quay.io",
       {{.server = "m.example.com", .path = "/v2/quay"},
        {.server = "digests.example.com", .serves_tags = false},
        {.server = "tags.example.com", .serves_digests = false},
        {.server = "nothing.example.com", .serves_digests = false, .serves_tags = false},
        {.server = "other-api.example.com", .path = "/api"},
        {}}},
      {"plain.example.com:5000", {{.server = "plain.example.com:5000", .plain_http = true}}},
      {"first-itself.example.com", {{}, {.server = "m.example.com"}}},
      {"registry.demo:5443", {{.server = "10.0.0.1:5000", .plain_http = true}, {}}},
  };
  EXPECT_EQ(registries_conf(endpoints, {"docker.io", "localhost:5001", "quay.io"}),
            "[[registry]]\nlocation = \"first-itself.example.com\"\n"
            "[[registry.mirror]]\nlocation = \"first-itself.example.com\"\n"
            "[[registry.mirror]]\nlocation = \"m.example.com\"\n"
            "[[registry]]\nlocation = \"plain.example.com:5000\"\ninsecure = true\n"
            "[[registry]]\nlocation = \"quay.io\"\n"
            "[[registry.mirror]]\nlocation = \"m.example.com/quay\"\n"
            "[[registry.mirror]]\nlocation = \"digests.example.com\"\npull-from-mirror = \"digest-only\"\n"
            "[[registry.mirror]]\nlocation = \"tags.example.com\"\npull-from-mirror = \"tag-only\"\n"
            "[[registry]]\nlocation = \"registry.demo:5443\"\n"
            "[[registry.mirror]]\nlocation = \"10.0.0.1:5000\"\ninsecure = true\n"
            "[[registry.mirror]]\nlocation = \"10.0.0.1:5000/registry.demo__5443\"\ninsecure = true\n"
            "[[registry]]\nlocation = \"docker.io\"\n"
            "[[registry.mirror]]\nlocation = \"10.0.0.1:5000/docker.io\"\ninsecure = true\n"
            "[[registry]]\nlocation = \"localhost:5001\"\n"
            "[[registry.mirror]]\nlocation = \"10.0.0.1:5000/localhost__5001\"\ninsecure = true\n");
  EXPECT_EQ(registries_conf({}, {"docker.io"}), "");
}

TEST(Registries, AuthoritiesAreListedOnce) {
  const Endpoints endpoints = {{"a", {{.ca_pem = "A"}, {.server = "b", .ca_pem = "B"}}}, {"c", {{.ca_pem = "A"}, {}}}};
  EXPECT_EQ(authorities_of(endpoints), (std::set<std::string>{"A", "B"}));
}

TEST(Registries, PushesGoToTheRegistryItself) {
  const Endpoints endpoints = {{"", {{.server = "10.0.0.1:5000", .plain_http = true}}},
                               {"own-authority", {{.server = "mirror", .ca_pem = "M"}, {.ca_pem = "A"}}},
                               {"mirrored", {{.server = "mirror", .plain_http = true}}}};
  EXPECT_EQ(own_endpoint(endpoints, "own-authority").ca_pem, "A");
  EXPECT_FALSE(own_endpoint(endpoints, "mirrored").plain_http);
  EXPECT_TRUE(own_endpoint(endpoints, "10.0.0.1:5000").plain_http);
  EXPECT_FALSE(own_endpoint(endpoints, "elsewhere").plain_http);
  EXPECT_FALSE(own_endpoint({}, "elsewhere").plain_http);
}

}  // namespace
}  // namespace slipway::node
