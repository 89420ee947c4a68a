#include "provider/xml.h"

#include <gtest/gtest.h>

namespace slipway::provider {
namespace {

TEST(Xml, ReadsAnAnswer) {
  const auto answer = parse_xml(
      "<?xml version=\"1.0\"?><DescribeVpcsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>r-1</requestId>"
      "<vpcSet><item><vpcId>vpc-1</vpcId></item><item><vpcId>vpc-2</vpcId></item></vpcSet></DescribeVpcsResponse>");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->name, "DescribeVpcsResponse");
  EXPECT_EQ(answer->text_at({"requestId"}), "r-1");
  EXPECT_EQ(answer->at({"vpcSet"}).children.size(), 2u);
  EXPECT_EQ(answer->text_at({"vpcSet", "item", "vpcId"}), "vpc-1");
  EXPECT_EQ(answer->text_at({"subnetSet", "item"}), "");
  EXPECT_TRUE(answer->has("vpcSet"));
  EXPECT_FALSE(answer->has("item"));
}

TEST(Xml, KeepsAttributes) {
  const auto answer = parse_xml(
      "<returnval xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" type=\"Folder\" "
      "i:type=\"x:ManagedObjectReference\">group-v3"
      "</returnval>");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->attribute("type"), "Folder");
  EXPECT_EQ(answer->instance_type(), "ManagedObjectReference");
  EXPECT_EQ(answer->attribute("key"), "");
  EXPECT_EQ(to_xml(answer.value(), "to"), "<to type=\"Folder\" xsi:type=\"x:ManagedObjectReference\">group-v3</to>");
}

TEST(Xml, WritesWhatItHasRead) {
  const std::string text = "<spec xsi:type=\"Spec\"><name>a&lt;b</name><on>true</on></spec>";
  const auto read = parse_xml("<e xmlns:xsi=\"i\">" + text + "</e>");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_xml(read->at({"spec"}), "spec"), text);
}

TEST(Xml, RefusesOtherText) {
  EXPECT_FALSE(parse_xml("not XML").ok());
  EXPECT_FALSE(parse_xml("").ok());
}

TEST(Xml, Escapes) { EXPECT_EQ(escape_xml("a<b>&c"), "a&lt;b&gt;&amp;c"); }

}  // namespace
}  // namespace slipway::provider
