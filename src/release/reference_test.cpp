#include "release/reference.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

const std::string hex(64, 'a');
const std::string digest = "sha256:" + hex;

TEST(ParseReference, ReadsWhatTheSpecificationAllows) {
  struct Case {
    std::string text;
    Reference reference;
    std::string selector;
  };
  const Case cases[] = {
      {"localhost/a", {"localhost", "a"}, "latest"},
      {"localhost:5000/slipway/release:0.1.0", {"localhost:5000", "slipway/release", "0.1.0"}, "0.1.0"},
      {"example.com/a@" + digest, {"example.com", "a", "", Digest::from_hex(hex)}, digest},
      {"example.com/a:b@" + digest, {"example.com", "a", "b", Digest::from_hex(hex)}, digest},
      {"10.0.0.1:5000/a", {"10.0.0.1:5000", "a"}, "latest"},
      {"[fd00::1]:5000/a/b", {"[fd00::1]:5000", "a/b"}, "latest"},
      {"[fd00::1]/a", {"[fd00::1]", "a"}, "latest"},
      {"a-b.example/x--y/a_b__c.d:_T.-", {"a-b.example", "x--y/a_b__c.d", "_T.-"}, "_T.-"},
  };
  for (const Case& c : cases) {
    auto reference = parse_reference(c.text);
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    EXPECT_EQ(reference.value(), c.reference) << c.text;
    EXPECT_EQ(to_string(reference.value()), c.text);
    EXPECT_EQ(reference->selector(), c.selector);
  }
  EXPECT_EQ(parse_reference("Example.COM/a")->registry, "example.com");
}

TEST(ParseReference, NamesWhatIsWrong) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"", "has no registry (use REGISTRY/REPOSITORY)"},
      {"busybox", "has no registry (use REGISTRY/REPOSITORY)"},
      {"library/busybox:1", "has no registry (use REGISTRY/REPOSITORY)"},
      {"example.com", "has no repository"},
      {"example.com/", "has no repository"},
      {"localhost:5000", "has no repository"},
      {"example.com:x/a", "'example.com:x' is not a registry"},
      {"example.com:0/a", "'example.com:0' is not a registry"},
      {"example.com:65536/a", "'example.com:65536' is not a registry"},
      {"-a.example/a", "'-a.example' is not a registry"},
      {"a..b/a", "'a..b' is not a registry"},
      {"[::1/a", "'[::1' is not a registry"},
      {"example.com/A", "repository 'A' has capital letters"},
      {"example.com/a//b", "'a//b' is not a repository"},
      {"example.com/a/", "'a/' is not a repository"},
      {"example.com/a___b", "'a___b' is not a repository"},
      {"example.com/a..b", "'a..b' is not a repository"},
      {"example.com/a b", "'a b' is not a repository"},
      {"example.com/a:", "'' is not a tag"},
      {"example.com/a:-x", "'-x' is not a tag"},
      {"example.com/a:" + std::string(129, 'x'), "'" + std::string(129, 'x') + "' is not a tag"},
      {"example.com/a@sha256:1", "'sha256:1' is not a digest (must be sha256: and 64 lower-case hexadecimal digits)"},
      {"https://example.com/a", "'https:' is not a registry"},
  };
  for (const Case& c : cases) {
    auto reference = parse_reference(c.text);
    ASSERT_FALSE(reference.ok()) << c.text;
    EXPECT_EQ(reference.error().message(), fmt::format("image reference '{}': {}", c.text, c.message));
    EXPECT_EQ(reference.error().code(), Code::invalid);
  }
}

TEST(ParseRepository, WantsNeitherTagNorDigest) {
  EXPECT_EQ(parse_repository("localhost:5000/a/b").value(), (Reference{"localhost:5000", "a/b"}));
  for (const std::string& text : {std::string("localhost:5000/a:b"), "localhost:5000/a@" + digest}) {
    EXPECT_EQ(parse_repository(text).error().message(), fmt::format("repository '{}': must not have a tag or a digest", text));
  }
}

TEST(Digest, IsNeverHalfValid) {
  EXPECT_EQ(Digest::parse(digest)->text(), digest);
  EXPECT_EQ(Digest::of("").text(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (const std::string& text : {"sha256:" + std::string(64, 'A'), "sha512:" + hex, hex, digest + "0", std::string("sha256:")}) {
    EXPECT_FALSE(Digest::parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace slipway::release
