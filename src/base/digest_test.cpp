#include "base/digest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace slipway {
namespace {

TEST(Sha256, KnownValues) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 pieces;
  pieces.update("a");
  pieces.update("bc");
  EXPECT_EQ(pieces.finish_hex(), sha256_hex("abc"));
}

TEST(Base64, KnownValues) {
  struct Case {
    const char* bytes;
    const char* text;
  };
  for (const Case& c : {Case{"", ""}, Case{"f", "Zg=="}, Case{"fo", "Zm8="}, Case{"foo", "Zm9v"}, Case{"\xff\xfe", "//4="}}) {
    EXPECT_EQ(base64_encode(c.bytes), c.text);
    EXPECT_EQ(base64_decode(c.text).value(), c.bytes);
  }
}

TEST(Base64, RefusesWhatIsNotExact) {
  for (const char* text : {"Zg", "Zg=", "Zg==\n", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v!A==", " Zg=", "Zm-_"}) {
    EXPECT_FALSE(base64_decode(text).ok()) << text;
  }
}

TEST(Md5, AgreesWithRfc1321) {
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}

RC_GTEST_PROP(Base64, ReadsBackAsTheSame, (const std::string& bytes)) {
  RC_ASSERT(base64_decode(base64_encode(bytes)).value() == bytes);
}

}  // namespace
}  // namespace slipway
