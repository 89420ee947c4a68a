#include "components/cluster_bootstrap/manifests.h"

#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_bootstrap {
namespace {

class ManifestsTest : public testing::Test {
 protected:
  void put(const std::string& path, std::string_view text) { ASSERT_TRUE(files.write("/m/" + path, text, 0644).ok()); }
  Result<std::vector<kube::Manifest>> read() { return read_manifests(files, context.log, "/m"); }

  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  sys::Context context = test.context();
};

constexpr std::string_view space = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n";

TEST_F(ManifestsTest, AreAllDocumentsOfAllFiles) {
  put("b/pull-secret", space);
  put("a.yaml", fmt::format("---\n# nothing\n---\n{}---\n{}", space, space));
  const auto all = read();
  ASSERT_TRUE(all.ok()) << all.error().message();
  std::vector<std::string> names;
  for (const kube::Manifest& manifest : all.value()) names.push_back(manifest.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.yaml (1)", "a.yaml (2)", "b/pull-secret"}));
  ASSERT_EQ(test.logged().size(), 1u);
  EXPECT_NE(test.logged()[0].find("a.yaml: contains several documents"), std::string::npos);
}

TEST_F(ManifestsTest, TellEverythingThatIsWrong) {
  put("a.yaml", "kind: Namespace\n");
  put("b.yaml", "{apiVersion: v1, kind: List, items: []}\n");
  put("c.yaml", "{apiVersion: v1, kind: Pod, metadata: {}}\n");
  put("d.yaml", "a: b: c\n");
  put("e.yaml", "# nothing\n");
  const auto all = read();
  ASSERT_EQ(all.error().code(), Code::invalid);
  for (const char* part : {"a.yaml:1:1: error: not a Kubernetes object", "b.yaml:1", "a List is not a manifest",
                           "metadata.name: missing", "d.yaml:1", "e.yaml: error: the file contains no object"}) {
    EXPECT_NE(all.error().message().find(part), std::string::npos) << part << " is not in " << all.error().message();
  }
}

}  // namespace
}  // namespace slipway::components::cluster_bootstrap
