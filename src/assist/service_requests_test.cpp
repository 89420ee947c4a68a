#include "assist/service_requests.h"

#include "release/tar.h"

#include <gtest/gtest.h>

namespace slipway::assist {
namespace {

TEST(Refusal, HasTheCodeOfTheStatus) {
  for (const auto& [status, code] : std::vector<std::pair<int, Code>>{{400, Code::invalid},
                                                                      {401, Code::denied},
                                                                      {403, Code::denied},
                                                                      {404, Code::not_found},
                                                                      {409, Code::conflict},
                                                                      {429, Code::unavailable},
                                                                      {503, Code::unavailable}}) {
    const Error why = refusal({.status = status, .headers = {}, .body = R"({"kind": "Error", "reason": "because"})"});
    EXPECT_EQ(why.code(), code) << status;
    EXPECT_EQ(why.message(), fmt::format("the service answers {}: because", status));
  }
}

TEST(Logs, Multipart) {
  EXPECT_EQ(multipart("B", "x.tar.gz", "content"),
            "--B\r\nContent-Disposition: form-data; name=\"upfile\"; filename=\"x.tar.gz\"\r\n"
            "Content-Type: application/octet-stream\r\n\r\ncontent\r\n--B--\r\n");
}

TEST(Logs, Pack) {
  const std::string archive = pack({{"a.log", "one"}, {"b.log", ""}}).value();
  release::TarReader tar = release::TarReader::of_memory(archive).value();
  const auto first = tar.next().value();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "a.log");
  EXPECT_EQ(tar.read().value(), "one");
  EXPECT_EQ(tar.next().value()->name, "b.log");
  EXPECT_FALSE(tar.next().value());
}

}  // namespace
}  // namespace slipway::assist
