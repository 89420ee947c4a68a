#include "release/layer_reader.h"

#include "support/sample_release.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

using testing_support::Compression;
using testing_support::make_tar;

struct Walk {
  std::vector<std::string> names;
  std::map<std::string, std::string> found;
  Result<> result;
};

Walk walk(const std::string& blob, LayerLimits limits = {}) {
  Walk walk{{}, {}, Ok{}};
  walk.result = read_layer(
      blob, [&](LayerName name) { return walk.names.emplace_back(name), name.ends_with("wanted"); },
      [&](LayerName name, std::string content) -> Result<> { return walk.found.emplace(name, std::move(content)), Ok{}; },
      limits);
  return walk;
}

TEST(ReadLayer, ReadsEveryCompression) {
  for (Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    const std::string content(300'000, 'x');
    const Walk result = walk(make_tar({{"./a/", ""}, {"./a/wanted", content}, {"/b/other", "y"}, {"c/wanted", ""}}, compression));
    ASSERT_TRUE(result.result.ok()) << result.result.error().message();
    EXPECT_EQ(result.names, (std::vector<std::string>{"a", "a/wanted", "b/other", "c/wanted"}));
    EXPECT_EQ(result.found, (std::map<std::string, std::string>{{"a/wanted", content}, {"c/wanted", ""}}));
  }
}

TEST(ReadLayer, RefusesWhatIsBrokenOrTooLarge) {
  const std::string good =
      make_tar({{"wanted", std::string(100'000, 'x')}, {"other", std::string(100'000, 'y')}}, Compression::none);
  struct Case {
    const char* name;
    std::string blob;
    LayerLimits limits;
    std::string message;
  };
  const Case cases[] = {
      {"empty", "", {}, "layer: Unrecognized archive format"},
      {"text", "this is no archive", {}, "layer: Unrecognized archive format"},
      {"cut in a file", good.substr(0, 50'000), {}, "layer: Truncated tar archive"},
      {"file too large", good, {.file = 99'999}, "layer: wanted is larger than 100 kB"},
      {"layer too large", good, {.layer = 150'000}, "layer: unpacks to more than 150 kB"},
  };
  for (const Case& c : cases) {
    const Walk result = walk(c.blob, c.limits);
    ASSERT_FALSE(result.result.ok()) << c.name;
    EXPECT_EQ(result.result.error().message(), c.message) << c.name;
    EXPECT_EQ(result.result.error().code(), Code::invalid);
  }
}

TEST(ReadLayer, StopsAtAnErrorOfTheCaller) {
  const std::string blob = make_tar({{"a", ""}, {"b", ""}});
  int calls = 0;
  Result<> result = read_layer(
      blob, [](LayerName) { return true; },
      [&](LayerName, const std::string&) -> Result<> { return ++calls, error(Code::conflict, "enough"); });
  EXPECT_EQ(result.error().message(), "enough");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace slipway::release
