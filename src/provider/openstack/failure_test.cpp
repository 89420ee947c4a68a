#include "provider/openstack/failure.h"

#include <gtest/gtest.h>

namespace slipway::provider::openstack {
namespace {

TEST(OpenstackFailure, ReadsTheFormsOfAllServices) {
  const auto message = [](std::string_view body) { return read_error(404, body).message; };
  EXPECT_EQ(message(R"({"itemNotFound": {"message": "Instance x could not be found.", "code": 404}})"),
            "Instance x could not be found.");
  EXPECT_EQ(message(R"({"error": {"code": 404, "message": "Could not find project", "title": "Not Found"}})"),
            "Could not find project");
  EXPECT_EQ(
      message(
          "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404</h1>\n  No image<br />\n</body></html>"),
      "404 Not Found 404 No image");
  EXPECT_EQ(message(R"({"message": "no", "code": 404})"), "no");
  EXPECT_EQ(message(R"({"NeutronError": "as text"})"), "as text");
  EXPECT_EQ(message(""), "");
  EXPECT_EQ(message("[]"), "");
  EXPECT_EQ(message("7"), "");
  const ServiceError neutron = read_error(409, R"({"NeutronError": {"type": "NetworkInUse", "message": "ports", "detail": ""}})");
  EXPECT_EQ(neutron.type, "NetworkInUse");
  EXPECT_EQ(neutron.message, "ports");
  EXPECT_LT(read_error(500, std::string(5000, 'x')).message.size(), 600u);
}

TEST(OpenstackFailure, Classifies) {
  const struct {
    ServiceError error;
    Failure failure;
  } cases[] = {
      {{.status = 401}, Failure::expired},
      {{.status = 403, .message = "Policy doesn't allow os_compute_api:servers:create"}, Failure::denied},
      {{.status = 403, .message = "Quota exceeded for instances: Requested 1"}, Failure::quota},
      {{.status = 409, .type = "OverQuota", .message = "Quota exceeded for resources: ['port']."}, Failure::quota},
      {{.status = 413, .message = "VolumeLimitExceeded: quota"}, Failure::quota},
      {{.status = 413}, Failure::throttled},
      {{.status = 429}, Failure::throttled},
      {{.status = 503}, Failure::throttled},
      {{.status = 500}, Failure::unanswered},
      {{.status = 502}, Failure::unanswered},
      {{.status = 504}, Failure::unanswered},
      {{.status = 404}, Failure::not_found},
      {{.status = 409, .type = "SecurityGroupRuleExists"}, Failure::exists},
      {{.status = 409, .type = "SecurityGroupInUse"}, Failure::in_use},
      {{.status = 409, .type = "RouterInterfaceInUseByFloatingIP"}, Failure::in_use},
      {{.status = 409, .message = "Cannot 'start' instance"}, Failure::in_use},
      {{.status = 409, .type = "IpAddressAlreadyAllocated"}, Failure::invalid},
      {{.status = 400}, Failure::invalid},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(static_cast<int>(classify(each.error)), static_cast<int>(each.failure))
        << each.error.status << " " << each.error.type << " " << each.error.message;
  }
}

TEST(OpenstackFailure, NamesTheRequestAndWhatToDo) {
  const Error error = to_error({.status = 403, .message = "no", .request_id = "req-1"}, "Nova CreateServer demo-master-0");
  EXPECT_EQ(error.code(), Code::denied);
  EXPECT_EQ(
      error.message(),
      "Nova CreateServer demo-master-0: no [request req-1] (the user needs a role in the project that permits this, usually "
      "member)");
  EXPECT_EQ(to_error({.status = 503}, "x").code(), Code::unavailable);
  EXPECT_EQ(to_error({.status = 409, .type = "PortInUse", .message = "m"}, "x").message(), "x: m [PortInUse]");
}

}  // namespace
}  // namespace slipway::provider::openstack
