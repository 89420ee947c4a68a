#include "service/multipart.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

constexpr std::string_view type = "multipart/form-data; boundary=\"x y\"";

TEST(Multipart, FindsAPart) {
  const std::string body =
      "--x y\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\n1\r\n"
      "--x y\r\nContent-Type: a/b\r\ncontent-disposition: form-data; name=upfile; filename=\"a\"\r\n\r\n\r\n--x\r\n\r\n--x "
      "y--\r\n";
  EXPECT_EQ(part_of(type, body, "other").value(), "1");
  EXPECT_EQ(part_of(type, body, "upfile").value(), "\r\n--x\r\n");
  EXPECT_EQ(part_of(type, body, "none").error().message(), "the body has no part 'none'");
}

TEST(Multipart, RefusesWhatIsBroken) {
  for (const char* body :
       {"", "x", "--x y", "--x y\r\n", "--x y\r\nA: b\r\n", "--x y\r\nA: b\r\n\r\n", "--x y\r\n\r\n--x y", "--x y--"}) {
    EXPECT_FALSE(part_of(type, body, "upfile").ok()) << body;
  }
  EXPECT_FALSE(part_of("multipart/form-data", "", "upfile").ok());
  EXPECT_FALSE(part_of("application/json; boundary=x", "--x", "upfile").ok());
}

}  // namespace
}  // namespace slipway::service
