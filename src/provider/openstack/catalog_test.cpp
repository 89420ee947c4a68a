#include "provider/openstack/catalog.h"

#include <gtest/gtest.h>

namespace slipway::provider::openstack {
namespace {

Json answer_with(std::string_view catalog) {
  return parse_json(
             fmt::format(R"({{"token": {{"expires_at": "2026-11-28T10:00:00.000000Z", "project": {{"id": "p1", "name": "team"}},
      "roles": [{{"name": "member"}}], "catalog": [{}]}}}})",
                         catalog),
             "answer")
      .value();
}

std::string service(std::string_view type, std::string_view url, std::string_view region = "one",
                    std::string_view interface = "public") {
  return fmt::format(R"({{"type": "{}", "endpoints": [{{"interface": "{}", "region_id": "{}", "url": "{}"}}]}})", type, interface,
                     region, url);
}

Login login() { return {.auth_url = "https://k/v3", .source = "cloud demo"}; }

TEST(OpenstackCatalog, AddsVersionsToEndpoints) {
  const std::string catalog = service("compute", "https://n/v2.1/p1/") + "," + service("network", "https://q:9696") + "," +
                              service("image", "https://c/image/v2/") + "," + service("volumev3", "https://v/v3/p1") + "," +
                              service("object-store", "https://s/v1/AUTH_p1") + "," + service("dns", "https://d");
  const Result<Token> token = parse_token(answer_with(catalog), Secret("t"), login());
  ASSERT_TRUE(token.ok()) << token.error().message();
  EXPECT_EQ(token->project_id, "p1");
  EXPECT_EQ(token->endpoints.at(Service::nova), "https://n/v2.1/p1");
  EXPECT_EQ(token->endpoints.at(Service::neutron), "https://q:9696/v2.0");
  EXPECT_EQ(token->endpoints.at(Service::glance), "https://c/image/v2");
  EXPECT_EQ(token->endpoints.at(Service::cinder), "https://v/v3/p1");
  EXPECT_EQ(token->endpoints.at(Service::swift), "https://s/v1/AUTH_p1");
  EXPECT_EQ(without_project("https://n/v2.1/p1"), "https://n/v2.1");
  EXPECT_EQ(without_project("https://n/compute/v2.1"), "https://n/compute/v2.1");
}

TEST(OpenstackCatalog, ChoosesRegionAndInterface) {
  const std::string catalog = service("compute", "https://one") + "," + service("compute", "https://two", "two") + "," +
                              service("network", "https://inside", "two", "internal");
  const auto parse = [&](const Login& chosen) { return parse_token(answer_with(catalog), Secret("t"), chosen); };
  Login chosen = login();
  EXPECT_NE(parse(chosen).error().message().find("region_name is missing (the cloud has one, two)"), std::string::npos);
  chosen.region = "three";
  EXPECT_NE(parse(chosen).error().message().find("has no region three"), std::string::npos);
  chosen.region = "two";
  ASSERT_TRUE(parse(chosen).ok());
  EXPECT_EQ(parse(chosen)->endpoints.at(Service::nova), "https://two/v2.1");
  EXPECT_FALSE(parse(chosen)->endpoints.contains(Service::neutron)) << "only an internal one";
  chosen.endpoints["network"] = "https://mine";
  EXPECT_EQ(parse(chosen)->endpoints.at(Service::neutron), "https://mine/v2.0");
}

TEST(OpenstackCatalog, RefusesWhatIsNoLoginForAProject) {
  EXPECT_FALSE(parse_token(answer_with(""), Secret(), login()).ok());
  const Json unscoped = {{"token", {{"expires_at", "2026-11-28T10:00:00Z"}}}};
  EXPECT_EQ(parse_token(unscoped, Secret("t"), login()).error().code(), Code::denied);
  EXPECT_FALSE(parse_token(JsonObject(), Secret("t"), login()).ok());
}

TEST(OpenstackCatalog, MakesTheLoginOfEachMethod) {
  Login password = login();
  password.user = {.name = "me", .domain_name = "people"};
  password.project = {.id = "p1"};
  password.secret = Secret("pw");
  EXPECT_EQ(
      emit_json(login_body(password), JsonStyle::compact),
      R"({"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"me","domain":{"name":"people"},"password":"pw"}}},)"
      R"("scope":{"project":{"id":"p1"}}}})");
  Login credential = login();
  credential.method = Login::Method::application_credential;
  credential.credential = {.id = "ac"};
  credential.secret = Secret("s");
  EXPECT_EQ(emit_json(login_body(credential), JsonStyle::compact),
            R"({"auth":{"identity":{"methods":["application_credential"],"application_credential":{"secret":"s","id":"ac"}}}})");
  Login token = login();
  token.method = Login::Method::token;
  token.project = {.name = "team", .domain_id = "default"};
  token.secret = Secret("t");
  EXPECT_EQ(emit_json(login_body(token), JsonStyle::compact),
            R"({"auth":{"identity":{"methods":["token"],"token":{"id":"t"}},)"
            R"("scope":{"project":{"name":"team","domain":{"id":"default"}}}}})");
}

}  // namespace
}  // namespace slipway::provider::openstack
