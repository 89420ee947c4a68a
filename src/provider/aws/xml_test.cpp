#include "provider/aws/xml.h"

#include <gtest/gtest.h>

namespace slipway::provider::aws {
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

TEST(Xml, RefusesOtherText) {
  EXPECT_FALSE(parse_xml("not XML").ok());
  EXPECT_FALSE(parse_xml("").ok());
}

TEST(Xml, Escapes) { EXPECT_EQ(escape_xml("a<b>&c"), "a&lt;b&gt;&amp;c"); }

}  // namespace
}  // namespace slipway::provider::aws
