// OperatorEnvironment: the environment of a program of an image, with a file system in memory.
//
//   OperatorEnvironment world;
//   ASSERT_TRUE(components::node_tuning::run_render(world.environment(), {"--asset-output-dir=/out"}).ok());
//   EXPECT_EQ(world.names("/out"), ...);
#pragma once

#include "components/program/program.h"
#include "components/render/manifest_files.h"
#include "net/curl_http.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/runner.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace slipway::testing_support {

class OperatorEnvironment {
 public:
  components::Environment environment() {
    return {context_, files, runner_, random_, http_, [this](std::string_view text) { printed += text; }};
  }

  void put(const std::string& path, std::string_view text) { (void)files.write(path, text, 0644); }
  std::string text(const std::string& path) { return files.read(path).ok() ? files.read(path).value() : "no such file: " + path; }

  // All files below a folder.
  std::vector<std::string> names(const std::string& folder) {
    const Result<std::vector<std::string>> found = components::files_below(files, folder);
    return found.ok() ? found.value() : std::vector<std::string>{};
  }

  MemoryFiles files;
  TestContext test;
  std::string printed;

 private:
  sys::Context context_ = test.context();
  sys::RealRunner runner_;
  SeededRandom random_{1};
  net::CurlHttp http_;
};

// Renders twice into /out and expects the same files both times. World: an OperatorEnvironment with a render() function.
template <class World>
void expect_twice_the_same(World& world, const std::vector<std::string>& tree) {
  const Result<> rendered = world.render();
  ASSERT_TRUE(rendered.ok()) << rendered.error().message();
  EXPECT_EQ(world.names("/out"), tree);
  std::map<std::string, std::string> first;
  for (const std::string& name : tree) first[name] = world.text("/out/" + name);
  ASSERT_TRUE(world.render().ok());
  EXPECT_EQ(world.names("/out"), tree);
  for (const std::string& name : tree) EXPECT_EQ(world.text("/out/" + name), first[name]) << name;
}

}  // namespace slipway::testing_support
