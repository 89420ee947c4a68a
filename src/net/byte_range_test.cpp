#include "net/byte_range.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::net {
namespace {

TEST(ParseRange, ReadsASingleRange) {
  using Kind = RangeRequest::Kind;
  struct Case {
    const char* header;
    std::uint64_t size;
    RangeRequest expected;
  };
  const RangeRequest whole, none{.kind = Kind::not_satisfiable};
  const auto part = [](std::uint64_t first, std::uint64_t length) { return RangeRequest{Kind::part, {first, length}}; };
  for (const Case& c : {Case{"bytes=0-0", 10, part(0, 1)},
                        Case{"bytes=0-9", 10, part(0, 10)},
                        Case{"bytes=2-", 10, part(2, 8)},
                        Case{"bytes=2-99", 10, part(2, 8)},
                        Case{"bytes=2-18446744073709551615", 10, part(2, 8)},
                        Case{"bytes=-3", 10, part(7, 3)},
                        Case{"bytes=-30", 10, part(0, 10)},
                        Case{"bytes=10-", 10, none},
                        Case{"bytes=-0", 10, none},
                        Case{"bytes=0-", 0, none},
                        Case{"bytes=0-0", 0, none},
                        Case{"bytes=-1", 0, none},
                        Case{"", 10, whole},
                        Case{"bytes=", 10, whole},
                        Case{"bytes=-", 10, whole},
                        Case{"bytes=3-2", 10, whole},
                        Case{"bytes=0-1,3-4", 10, whole},
                        Case{"bytes=x-1", 10, whole},
                        Case{"bytes=1-x", 10, whole},
                        Case{"bytes=+1-2", 10, whole},
                        Case{"bytes=18446744073709551616-", 10, whole},
                        Case{"items=0-1", 10, whole}}) {
    EXPECT_EQ(parse_range(c.header, c.size), c.expected) << c.header << " of " << c.size;
  }
}

BodyPart text_part(std::string text) { return {.text = std::make_shared<const std::string>(std::move(text))}; }

// What the parts stand for, with the place in its file for a part of a file.
std::string content(const std::vector<BodyPart>& parts) {
  std::string all;
  for (const BodyPart& part : parts)
    all += part.text ? *part.text : fmt::format("<{} {}+{}>", part.file.path, part.file.offset, part.file.length);
  return all;
}

TEST(ByteRange, CutsABodyOfSeveralParts) {
  const std::vector<BodyPart> body = {
      {.text = nullptr, .file = {"f", 100, 10}}, text_part("config"), {.text = nullptr, .file = {"f", 116, 4}}};
  struct {
    ByteRange range;
    std::string expected;
  } rows[] = {
      {{0, 20}, "<f 100+10>config<f 116+4>"},
      {{0, 10}, "<f 100+10>"},
      {{9, 2}, "<f 109+1>c"},
      {{11, 3}, "onf"},
      {{15, 2}, "g<f 116+1>"},
      {{16, 4}, "<f 116+4>"},
      {{19, 1}, "<f 119+1>"},
  };
  for (const auto& row : rows) EXPECT_EQ(content(cut(body, row.range)), row.expected) << row.range.first;
}

TEST(ByteRange, AnswersWhatTheClientDoesNotHave) {
  struct {
    std::vector<Header> headers;
    int status;
    std::string expected;
  } rows[] = {
      {{}, 200, "0123456789"},
      {{{"Range", "bytes=2-4"}}, 206, "234"},
      {{{"Range", "bytes=10-"}}, 416, ""},
      {{{"If-None-Match", "\"other\", \"tag\""}}, 304, ""},
      {{{"If-None-Match", "\"other\""}}, 200, "0123456789"},
      {{{"Range", "bytes=2-4"}, {"If-Range", "\"tag\""}}, 206, "234"},
      {{{"Range", "bytes=2-4"}, {"If-Range", "\"other\""}}, 200, "0123456789"},
  };
  for (const auto& row : rows) {
    const ServerRequest request{.method = "GET", .path = "/", .query = "", .headers = row.headers, .body = "", .peer = ""};
    const ServerAnswer answer = ranged_answer(request, {text_part("0123456789")}, "\"tag\"");
    EXPECT_EQ(answer.status, row.status);
    EXPECT_EQ(content(answer.parts), row.expected);
    EXPECT_EQ(find_header(answer.headers, "etag"), "\"tag\"");
  }
}

}  // namespace
}  // namespace slipway::net
