#include "ignition/data_url.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace slipway::ignition {
namespace {

TEST(EncodeDataUrl, SupportsBothEncodings) {
  EXPECT_EQ(encode_data_url("", DataEncoding::shorter), "data:,");
  EXPECT_EQ(encode_data_url("a-b_c.d~e", DataEncoding::percent), "data:,a-b_c.d~e");
  EXPECT_EQ(encode_data_url("{\"a\": 1}\n\xff", DataEncoding::percent), "data:,%7B%22a%22%3A%201%7D%0A%FF");
  EXPECT_EQ(encode_data_url("a b", DataEncoding::base64), "data:;base64,YSBi");
  EXPECT_EQ(encode_data_url("a b"), "data:,a%20b");
  EXPECT_EQ(encode_data_url(std::string(9, '\n')), "data:;base64,CgoKCgoKCgoK");
}

TEST(DecodeDataUrl, ReadsWhatTheStandardAllows) {
  struct Case {
    const char* url;
    std::string_view bytes;
  };
  const Case cases[] = {
      {"data:,", ""},
      {"data:,a%20b%2C,c", "a b,,c"},
      {"data:;base64,", ""},
      {"data:;base64,aGk=", "hi"},
      {"data:text/plain;charset=utf-8,x", "x"},
      {"data:text/plain;charset=utf-8;base64,eA==", "x"},
      {"data:x-own/thing,x", "x"},
      {"data:text/plain;a=\"b,;\\\"c\",x", "x"},
      {"data:;a=b,base64", "base64"},
  };
  for (const Case& c : cases) {
    const auto decoded = decode_data_url(c.url);
    ASSERT_TRUE(decoded.ok()) << c.url << ": " << decoded.error().message();
    EXPECT_EQ(decoded.value(), c.bytes) << c.url;
  }
}

TEST(DecodeDataUrl, RejectsInvalidUrls) {
  struct Case {
    const char* url;
    const char* message;
  };
  const Case cases[] = {
      {"http://a", "a data URL must begin with 'data:'"},
      {"DATA:,x", "a data URL must begin with 'data:'"},
      {"data:", "a data URL must have a comma before its data"},
      {"data:text/plain", "a data URL must have a comma before its data"},
      {"data:text,x", "'data:' must be followed by a comma or a media type"},
      {"data:own/thing,x", "'data:' must be followed by a comma or a media type"},
      {"data:;nope,x", "only parameters NAME=VALUE, and 'base64' as the last one, are allowed before the comma"},
      {"data:;base64;a=b,x", "only parameters NAME=VALUE, and 'base64' as the last one, are allowed before the comma"},
      {"data:,a b", "the byte at offset 1 of the data must be escaped"},
      {"data:,\xc3\xa9", "the byte at offset 0 of the data must be escaped"},
      {"data:,a%4", "the % at offset 1 of the data is not followed by two hexadecimal digits"},
      {"data:,%zz", "the % at offset 0 of the data is not followed by two hexadecimal digits"},
      {"data:;base64,YQ", "base64 text has 2 characters, not a multiple of 4"},
  };
  for (const Case& c : cases) {
    const auto decoded = decode_data_url(c.url);
    ASSERT_FALSE(decoded.ok()) << c.url;
    EXPECT_EQ(decoded.error().message(), c.message) << c.url;
  }
}

RC_GTEST_PROP(DataUrlProperty, DecodesWhatItEncodes, (const std::string& bytes)) {
  for (const DataEncoding encoding : {DataEncoding::percent, DataEncoding::base64, DataEncoding::shorter}) {
    const auto decoded = decode_data_url(encode_data_url(bytes, encoding));
    RC_ASSERT(decoded.ok());
    RC_ASSERT(decoded.value() == bytes);
  }
}

}  // namespace
}  // namespace slipway::ignition
