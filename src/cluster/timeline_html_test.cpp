#include "cluster/timeline_html.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

sys::Event event_of(sys::Phase phase, std::string name, int at, JsonObject fields) {
  sys::Event event{.kind = "step", .name = std::move(name), .phase = phase, .fields = std::move(fields)};
  event.time = WallTime(Milliseconds(at));
  return event;
}

// The text of the page between two marks.
std::string between(const std::string& page, const std::string& begin, const std::string& end) {
  const std::size_t from = page.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  const std::size_t start = from + begin.size();
  return page.substr(start, page.find(end, start) - start);
}

int count_of(const std::string& page, const std::string& words) {
  int count = 0;
  for (std::size_t at = page.find(words); at != std::string::npos; at = page.find(words, at + 1)) ++count;
  return count;
}

constexpr const char* data_begin = R"(<script id="timeline" type="application/json">)";

TEST(TimelineHtml, CarriesTheTimelineWhateverItSays) {
  const std::string nasty = R"(</script><script>alert("1")</script><!-- {{SCRIPT}} & 'ä' \u003c)";
  const Timeline timeline =
      make_timeline({event_of(sys::Phase::started, "assets", 1000, {}),
                     event_of(sys::Phase::finished, "assets", 2500, {{"description", nasty + "; " + nasty}})});
  const std::string page = to_html(timeline, nasty);
  const Result<Json> carried = parse_json(between(page, data_begin, "</script>"), "the page");
  ASSERT_TRUE(carried.ok()) << carried.error().message();
  EXPECT_EQ(carried.value(), to_json(timeline, nasty));
  EXPECT_EQ(find_string(find(carried.value(), {"items"})->as_array()[0], {"label"}), nasty);
  EXPECT_EQ(count_of(page, "<script"), count_of(to_html({}, ""), "<script"));
  EXPECT_EQ(count_of(page, "<!--"), 0);
}

TEST(TimelineHtml, LoadsNothing) {
  const std::string page = to_html({}, "");
  for (const char* word : {"http:", "https:", "//cdn", "src=", "@import", "url(", "fetch(", "import("}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cluster
