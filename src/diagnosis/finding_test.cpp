#include "diagnosis/finding.h"

#include "diagnosis/bundle.h"
#include "diagnosis/open.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::diagnosis {
namespace {

const Finding finding{.name = "disk-full",
                      .stage = "the disk of m0",
                      .cause = "the file system / of m0 is full",
                      .evidence = {{"host/m0.probe.txt", 3, "disk / 100 0"}, {"x.log", 0, "no space"}},
                      .next_step = "make space",
                      .is_final = true};

TEST(Finding, IsAParagraph) {
  Finding other = finding;
  other.is_final = false;
  other.evidence.clear();
  EXPECT_EQ(to_text({finding, other}),
            "disk-full: the file system / of m0 is full (final: does not resolve by itself)\n"
            "  stage: the disk of m0\n"
            "  seen in host/m0.probe.txt:3: disk / 100 0\n"
            "  seen in x.log: no space\n"
            "  what to do: make space\n"
            "\n"
            "disk-full: the file system / of m0 is full\n"
            "  stage: the disk of m0\n"
            "  what to do: make space\n");
  EXPECT_EQ(to_text({}), "");
}

TEST(Finding, IsAnErrorWithTheBundle) {
  EXPECT_EQ(to_error(finding, "/d/log-bundle-1.tar.gz").message(),
            "disk-full: the file system / of m0 is full\n"
            "  stage: the disk of m0\n"
            "  seen in host/m0.probe.txt:3: disk / 100 0\n"
            "  seen in x.log: no space\n"
            "  what to do: make space\n"
            "  log bundle: /d/log-bundle-1.tar.gz");
}

TEST(Finding, IsAnEventThatReadsBack) {
  sys::Event event = to_event(finding);
  event.source = "slipway";
  EXPECT_EQ(
      event.to_line(),
      R"({"time":"1970-01-01T00:00:00Z","source":"slipway","kind":"finding","name":"disk-full","phase":"failed",)"
      R"("error":{"code":"invalid","message":"the file system / of m0 is full"},"stage":"the disk of m0","is_final":true,)"
      R"("next_step":"make space",)"
      R"("evidence":[{"file":"host/m0.probe.txt","line":3,"text":"disk / 100 0"},{"file":"x.log","line":0,"text":"no space"}]})");
  EXPECT_TRUE(sys::parse_event(event.to_line()).ok());
}

TEST(Bundle, FindsLinesWithTheirNumbers) {
  Bundle bundle;
  bundle.add("a.log", "x one x\ntwo\nx three\n");
  EXPECT_EQ(bundle.lines_with("a.log", "x"), (std::vector<Quote>{{"a.log", 1, "x one x"}, {"a.log", 3, "x three"}}));
  EXPECT_EQ(bundle.lines_with("a.log", "none"), std::vector<Quote>());
  EXPECT_EQ(bundle.lines_with("b.log", "x"), std::vector<Quote>());
}

TEST(Bundle, QuotesAreShortAndPlain) {
  EXPECT_EQ(shortened("  a\tb\x1b[1mc  "), "a b [1mc");
  EXPECT_EQ(shortened(std::string(400, 'x')), std::string(300, 'x') + " ...");
  EXPECT_EQ(shortened(std::string(400, 'x') + "here" + std::string(400, 'y'), "here"),
            "... " + std::string(120, 'x') + "here" + std::string(176, 'y') + " ...");
  EXPECT_EQ(shortened(std::string(299, 'x') + "\xc3\xa4"), std::string(299, 'x') + "\xef\xbf\xbd ...");
}

TEST(Bundle, IsReadFromAFolder) {
  testing_support::MemoryFiles files;
  ASSERT_TRUE(files.write("/b/host/m.jsonl", "{}", 0600).ok());
  ASSERT_TRUE(files.write("/b/rendered-assets/openshift/a.yaml", "a", 0600).ok());
  ASSERT_TRUE(files.write("/b/rendered-assets/openshift/image-references", "{}", 0600).ok());
  ASSERT_TRUE(files.write("/b/top.txt", "t", 0600).ok());
  const Result<Bundle> bundle = read_folder(files, "/b");
  ASSERT_TRUE(bundle.ok()) << bundle.error().message();
  EXPECT_EQ(bundle->paths("", ""),
            (std::vector<std::string_view>{"host/m.jsonl", "rendered-assets/openshift/image-references", "top.txt"}));
  EXPECT_EQ(unpack("no archive").error().code(), Code::invalid);
}

TEST(Bundle, ListsMachinesOfTheProviderOrOfFolders) {
  Bundle bundle;
  bundle.add("control-plane/10.0.0.7/journals/kubelet.log", "");
  bundle.add("bootstrap/journals/kubelet.log", "");
  ASSERT_EQ(bundle.machines().size(), 2u);
  EXPECT_EQ(bundle.machines()[0].folder, "control-plane/10.0.0.7/");
  EXPECT_EQ(bundle.machines()[1].folder, "bootstrap/");
  bundle.add("host/machines.jsonl", "{\"name\":\"m0\",\"state\":\"running\"}\n{\"name\":\"m");
  ASSERT_EQ(bundle.machines().size(), 1u);
  EXPECT_EQ(bundle.machines()[0].state, "running");
}

}  // namespace
}  // namespace slipway::diagnosis
