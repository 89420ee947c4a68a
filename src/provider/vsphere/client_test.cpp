#include "provider/vsphere/client.h"

#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace slipway::provider::vsphere {
namespace {

std::string answer_of(std::string_view method, std::string_view content) {
  return fmt::format("<Envelope><Body><{0}Response>{1}</{0}Response></Body></Envelope>", method, content);
}

net::Answer good(std::string body, std::vector<net::Header> headers = {}) { return {200, std::move(headers), std::move(body)}; }

net::Answer fault(std::string_view type) {
  return {500,
          {},
          fmt::format("<Envelope xmlns:xsi=\"i\"><Body><Fault><faultstring>no</faultstring><detail><F xsi:type=\"{}\"/></detail>"
                      "</Fault></Body></Envelope>",
                      type)};
}

// A vCenter that answers calls by their method: each call takes the next answer, and the last one is repeated.
class FakeVcenter final : public net::Http {
 public:
  FakeVcenter() {
    answers["RetrieveServiceContent"] = {
        good(answer_of("RetrieveServiceContent",
                       "<returnval><rootFolder type=\"Folder\">group-d1</rootFolder>"
                       "<propertyCollector type=\"PropertyCollector\">pc</propertyCollector>"
                       "<searchIndex type=\"SearchIndex\">si</searchIndex>"
                       "<sessionManager type=\"SessionManager\">sm</sessionManager></returnval>"))};
    answers["Login"] = {good(answer_of("Login", "<returnval><key>k</key></returnval>"),
                             {{"Set-Cookie", "vmware_soap_session=\"s-1\"; Path=/; HttpOnly"}})};
    answers["Logout"] = {good(answer_of("Logout", ""))};
    answers["CreatePropertyCollector"] = {
        good(answer_of("CreatePropertyCollector", "<returnval type=\"PropertyCollector\">pc-1</returnval>"))};
    answers["CreateFilter"] = {good(answer_of("CreateFilter", "<returnval type=\"PropertyFilter\">f-1</returnval>"))};
    answers["DestroyPropertyCollector"] = {good(answer_of("DestroyPropertyCollector", ""))};
  }

  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    requests.push_back(request);
    std::string method = request.url.target;
    if (const std::size_t body = request.body.find("Body><"); body != std::string::npos) {
      method = request.body.substr(body + 6, request.body.find(' ', body + 6) - body - 6);
    }
    methods.push_back(method);
    std::deque<Result<net::Answer>>& left = answers[method];
    if (left.empty()) return error(Code::internal, "unexpected call {}", method);
    Result<net::Answer> next = left.front();
    if (left.size() > 1) left.pop_front();
    return next;
  }

  long count(std::string_view method) const { return std::ranges::count(methods, method); }

  std::map<std::string, std::deque<Result<net::Answer>>> answers;
  std::vector<net::Request> requests;
  std::vector<std::string> methods;
};

class ClientTest : public testing::Test {
 protected:
  testing_support::TestContext test;
  testing_support::MemoryFiles files;
  sys::RealRunner runner;
  testing_support::SeededRandom random{1};
  FakeVcenter http;
  sys::Context context{test.context()};
  net::Environment environment{context, files, runner, random, http};
  Vcenter vcenter{environment, {.server = "vc.example.com", .user = "u&v", .password = Secret("secret")}, ""};

  const Call change{.method = "CloneVM_Task", .self = {"VirtualMachine", "vm-1"}, .object = "demo-master-0", .changes = true};
  const Call question{.method = "FindByInventoryPath", .self = {"SearchIndex", "si"}};

  void task_answers(std::string_view state, std::string_view more = "") {
    http.answers["CloneVM_Task"] = {good(answer_of("CloneVM_Task", "<returnval type=\"Task\">task-1</returnval>"))};
    const auto update = [](std::string_view value, std::string_view rest) {
      return good(answer_of(
          "WaitForUpdatesEx",
          fmt::format("<returnval><version>1</version><filterSet><objectSet><kind>modify</kind><obj type=\"Task\">task-1</obj>"
                      "<changeSet><name>info.state</name><val>{}</val></changeSet>{}</objectSet></filterSet></returnval>",
                      value, rest)));
    };
    http.answers["WaitForUpdatesEx"] = {update("running", ""), good(answer_of("WaitForUpdatesEx", "")), update(state, more)};
  }
};

TEST_F(ClientTest, LogsInOnceAndOut) {
  {
    Vcenter own(environment, {.server = "vc.example.com", .user = "u&v", .password = Secret("secret")}, "PEM");
    http.answers["FindByInventoryPath"] = {
        good(answer_of("FindByInventoryPath", "<returnval type=\"Folder\">group-v3</returnval>"))};
    EXPECT_EQ(own.find(context, "/dc/vm").value().value(), (Reference{"Folder", "group-v3"}));
    EXPECT_TRUE(own.find(context, "/dc/vm").ok());
  }
  EXPECT_EQ(http.methods, (std::vector<std::string>{"RetrieveServiceContent", "Login", "FindByInventoryPath",
                                                    "FindByInventoryPath", "Logout"}));
  EXPECT_EQ(net::to_string(http.requests[1].url), "https://vc.example.com/sdk");
  EXPECT_EQ(http.requests[1].tls.ca_pem, "PEM");
  EXPECT_NE(http.requests[1].body.find("<userName>u&amp;v</userName><password>secret</password>"), std::string::npos);
  EXPECT_EQ(net::find_header(http.requests[2].headers, "cookie").value_or(""), "vmware_soap_session=\"s-1\"");
  EXPECT_TRUE(test.event_lines().empty()) << "only changes are events";
}

TEST_F(ClientTest, LogsInAgainWhenTheSessionHasEnded) {
  http.answers["FindByInventoryPath"] = {fault("NotAuthenticated"), good(answer_of("FindByInventoryPath", ""))};
  EXPECT_EQ(vcenter.find(context, "/dc/none").value(), std::nullopt);
  EXPECT_EQ(http.count("Login"), 2);
  http.answers["FindByInventoryPath"] = {fault("NotAuthenticated")};
  EXPECT_EQ(vcenter.find(context, "/dc/none").error().code(), Code::unavailable) << "it does not try forever";
}

TEST_F(ClientTest, AWrongLoginIsNamed) {
  http.answers["Login"] = {fault("InvalidLogin")};
  const auto failed = vcenter.find(context, "/dc");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::denied);
  EXPECT_NE(failed.error().message().find("vc.example.com: login of u&v"), std::string::npos) << failed.error().message();
  EXPECT_EQ(failed.error().message().find("secret"), std::string::npos);
}

TEST_F(ClientTest, QuestionsAreRepeatedAndChangesAreNot) {
  http.answers["FindByInventoryPath"] = {error(Code::unavailable, "lost"), good("<html/>"),
                                         good(answer_of("FindByInventoryPath", ""))};
  EXPECT_TRUE(vcenter.send(context, question).ok());
  http.answers["CloneVM_Task"] = {error(Code::unavailable, "lost")};
  EXPECT_EQ(vcenter.send(context, change).error().code(), Code::unavailable);
  EXPECT_EQ(http.count("CloneVM_Task"), 1);
  http.answers["CloneVM_Task"] = {net::Answer{503, {}, "busy"}, net::Answer{429, {}, ""},
                                  good(answer_of("CloneVM_Task", "<returnval type=\"Task\">task-1</returnval>"))};
  EXPECT_TRUE(vcenter.send(context, change).ok()) << "an overloaded server has not executed it";
}

TEST_F(ClientTest, ReportsChanges) {
  http.answers["CloneVM_Task"] = {fault("NoPermission")};
  const auto refused = vcenter.send(context, change);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"call CloneVM_Task progress"}));
  const Json fields = test.events().at(0).fields;
  EXPECT_EQ(text_of(fields, {"object"}), "demo-master-0");
  EXPECT_TRUE(text_of(fields, {"request_id"}).size() >= 8);
  EXPECT_EQ(text_of(fields, {"failure"}), refused.error().message());
}

TEST_F(ClientTest, WaitsForATask) {
  task_answers("success", "<changeSet><name>info.result</name><val type=\"VirtualMachine\">vm-9</val></changeSet>");
  const auto result = vcenter.run(context, change);
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(reference_of(result.value()), (Reference{"VirtualMachine", "vm-9"}));
  EXPECT_EQ(http.count("WaitForUpdatesEx"), 3);
  EXPECT_EQ(http.count("DestroyPropertyCollector"), 1);
}

TEST_F(ClientTest, ATaskMayFail) {
  task_answers(
      "error",
      "<changeSet><name>info.error</name><val xmlns:xsi=\"i\"><fault xsi:type=\"DuplicateName\"/><localizedMessage>exists"
      "</localizedMessage></val></changeSet>");
  const auto result = vcenter.run(context, change);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::unavailable) << "perhaps of an earlier call without an answer";
  EXPECT_NE(result.error().message().find("exists [DuplicateName]"), std::string::npos);
}

TEST_F(ClientTest, AWaitSurvivesTheEndOfItsSession) {
  task_answers("success");
  http.answers["WaitForUpdatesEx"].push_front(fault("ManagedObjectNotFound"));
  http.answers["RetrievePropertiesEx"] = {
      good(answer_of("RetrievePropertiesEx", "<returnval><objects><obj type=\"Task\">task-1</obj></objects></returnval>"))};
  EXPECT_TRUE(vcenter.run(context, change).ok());
  EXPECT_EQ(http.count("CreatePropertyCollector"), 2);
}

TEST_F(ClientTest, ReadsAllPages) {
  const std::string object = "<objects><obj type=\"Folder\">f</obj></objects>";
  http.answers["RetrievePropertiesEx"] = {
      good(answer_of("RetrievePropertiesEx", "<returnval><token>t</token>" + object + "</returnval>"))};
  http.answers["ContinueRetrievePropertiesEx"] = {
      good(answer_of("ContinueRetrievePropertiesEx", "<returnval>" + object + "</returnval>"))};
  EXPECT_EQ(vcenter.all(context, {{"Folder", {"name"}}}).value().size(), 2u);
}

TEST_F(ClientTest, TheRestApiHasASessionOfItsOwn) {
  const std::string session = "/rest/com/vmware/cis/session", path = "/com/vmware/cis/tagging/category";
  http.answers[session] = {good(R"({"value":"t-1"})"), good(R"({"value":"t-2"})")};
  http.answers["/rest" + path] = {net::Answer{401, {}, ""}, good(R"({"value":["c"]})")};
  const auto read = vcenter.rest(context, "GET", path);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(http.count(session), 2) << "the first session had ended";
  http.answers["/rest" + path] = {net::Answer{400, {}, R"({"type":"com.vmware.vapi.std.errors.already_exists"})"}};
  EXPECT_EQ(vcenter.rest(context, "POST", path, JsonObject(), "c").error().code(), Code::conflict);
  http.answers["/rest" + path] = {net::Answer{404, {}, ""}};
  EXPECT_EQ(vcenter.rest(context, "GET", path).error().code(), Code::not_found);
  http.answers["/rest" + path] = {net::Answer{403, {}, ""}};
  EXPECT_EQ(vcenter.rest(context, "POST", path, JsonObject()).error().code(), Code::denied);
}

TEST_F(ClientTest, EndsTheSessionOfTheRestApi) {
  const std::string session = "/rest/com/vmware/cis/session", path = "/com/vmware/cis/tagging/category";
  http.answers[session] = {good(R"({"value":"t-1"})")};
  http.answers["/rest" + path] = {good(R"({"value":[]})")};
  {
    Vcenter own(environment, {.server = "vc.example.com", .user = "u&v", .password = Secret("secret")}, "PEM");
    ASSERT_TRUE(own.rest(context, "GET", path).ok());
  }
  EXPECT_EQ(http.requests.back().method, "DELETE");
  EXPECT_EQ(net::find_header(http.requests.back().headers, "vmware-api-session-id").value_or(""), "t-1");
}

TEST_F(ClientTest, UploadsGoWhereTheLeaseSays) {
  http.answers["/nfc/1/disk.vmdk"] = {good("")};
  const auto nothing = [](char*, std::size_t) -> Result<std::size_t> { return std::size_t{0}; };
  EXPECT_TRUE(vcenter.upload(context, "https://*/nfc/1/disk.vmdk", 0, nothing, "disk.vmdk").ok());
  EXPECT_EQ(net::to_string(http.requests.back().url), "https://vc.example.com/nfc/1/disk.vmdk");
  http.answers["/nfc/1/disk.vmdk"] = {net::Answer{500, {}, ""}};
  EXPECT_EQ(vcenter.upload(context, "https://esx1/nfc/1/disk.vmdk", 0, nothing, "disk.vmdk").error().code(), Code::unavailable);
}

}  // namespace
}  // namespace slipway::provider::vsphere
