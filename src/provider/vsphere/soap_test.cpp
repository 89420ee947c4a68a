#include "provider/vsphere/soap.h"

#include "provider/vsphere/properties.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace slipway::provider::vsphere {
namespace {

std::string enveloped(std::string_view body) {
  return fmt::format(
      "<?xml version=\"1.0\"?><soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><soapenv:Body>{}</soapenv:Body></soapenv:Envelope>",
      body);
}

TEST(Soap, WritesARequest) {
  const std::string text =
      request("FindByInventoryPath", {"SearchIndex", "SearchIndex"}, element("inventoryPath", "a<b"), "op-1");
  EXPECT_NE(text.find("<FindByInventoryPath xmlns=\"urn:vim25\"><_this type=\"SearchIndex\">SearchIndex</_this>"
                      "<inventoryPath>a&lt;b</inventoryPath></FindByInventoryPath>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<operationID xmlns=\"urn:vim25\">op-1</operationID>"), std::string::npos);
  EXPECT_EQ(element("vm", Reference{"VirtualMachine", "vm-1"}), "<vm type=\"VirtualMachine\">vm-1</vm>");
  EXPECT_EQ(option("extraConfig", "k", "v&w"),
            "<extraConfig xsi:type=\"OptionValue\"><key>k</key><value xsi:type=\"xsd:string\">v&amp;w</value></extraConfig>");
}

TEST(Soap, ReadsAnAnswer) {
  const auto answer = parse_response(
      enveloped("<CloneVM_TaskResponse xmlns=\"urn:vim25\"><returnval type=\"Task\">task-5</returnval></CloneVM_TaskResponse>"));
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_FALSE(answer->fault.has_value());
  EXPECT_EQ(reference_of(answer->content.at({"returnval"})), (Reference{"Task", "task-5"}));
}

TEST(Soap, ReadsFaults) {
  const auto denied = parse_response(
      enveloped("<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>Permission was denied.</faultstring><detail>"
                "<NoPermissionFault xmlns=\"urn:vim25\" xsi:type=\"NoPermission\"><object type=\"Folder\">group-v3</object>"
                "<privilegeId>Folder.Create</privilegeId></NoPermissionFault></detail></soapenv:Fault>"));
  ASSERT_TRUE(denied.ok() && denied->fault);
  EXPECT_EQ(denied->fault->type, "NoPermission");
  EXPECT_EQ(denied->fault->privilege, "Folder.Create");
  EXPECT_EQ(denied->fault->object, (Reference{"Folder", "group-v3"}));
  const auto without_type = parse_response(
      enveloped("<soapenv:Fault><faultstring>gone</faultstring><detail><NotAuthenticatedFault/></detail></soapenv:Fault>"));
  ASSERT_TRUE(without_type.ok() && without_type->fault);
  EXPECT_EQ(without_type->fault->type, "NotAuthenticated");
}

TEST(Soap, RefusesOtherText) {
  for (const std::string_view text : {"", "<html/>", "{}", "<Envelope/>", "<Envelope><Body/></Envelope>"}) {
    EXPECT_EQ(parse_response(text).error().code(), Code::invalid) << text;
  }
}

TEST(Properties, ReadsPages) {
  const auto answer = parse_xml(
      "<returnval xmlns:x=\"i\"><token>t-1</token><objects><obj type=\"VirtualMachine\">vm-1</obj>"
      "<propSet><name>name</name><val x:type=\"xsd:string\">demo</val></propSet>"
      "<propSet><name>config.extraConfig[\"k\"]</name><val x:type=\"OptionValue\"><key>k</key><value>v</value></val></propSet>"
      "</objects></returnval>");
  ASSERT_TRUE(answer.ok());
  const Page page = page_of(answer.value());
  EXPECT_EQ(page.token, "t-1");
  ASSERT_EQ(page.objects.size(), 1u);
  EXPECT_EQ(page.objects[0].self, (Reference{"VirtualMachine", "vm-1"}));
  EXPECT_EQ(page.objects[0].text("name"), "demo");
  EXPECT_EQ(page.objects[0].text("config.extraConfig[\"k\"]"), "v");
  EXPECT_EQ(page.objects[0].text("other"), "");
}

TEST(Properties, ReadsUpdates) {
  const auto answer = parse_xml(
      "<returnval><version>2</version><filterSet><filter type=\"PropertyFilter\">f</filter>"
      "<objectSet><kind>modify</kind><obj type=\"Task\">task-5</obj>"
      "<changeSet><name>info.state</name><op>assign</op><val>success</val></changeSet></objectSet>"
      "<objectSet><kind>leave</kind><obj type=\"Task\">task-6</obj></objectSet></filterSet></returnval>");
  ASSERT_TRUE(answer.ok());
  const Updates updates = updates_of(answer.value());
  EXPECT_EQ(updates.version, "2");
  ASSERT_EQ(updates.changed.size(), 1u);
  EXPECT_EQ(updates.changed[0].text("info.state"), "success");
  EXPECT_EQ(updates.removed, (std::vector<Reference>{{"Task", "task-6"}}));
  EXPECT_TRUE(updates_of(Xml()).version.empty()) << "nothing changed in time";
}

}  // namespace
}  // namespace slipway::provider::vsphere
