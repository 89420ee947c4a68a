// Runs every render command of the release on one small input and compares the output with tests/golden/components, one file for
// each component. Neither the order of the commands nor running them at the same time changes the output.
#include "support/golden.h"
#include "base/yaml.h"
#include "support/render_world.h"
#include "sys/task_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace slipway::components {
namespace {

using namespace testing_support;

class Golden : public ::testing::TestWithParam<Component> {};

TEST_P(Golden, OfTheComponent) {
  const Component& component = GetParam();
  const FileTree files = written(component, component.name == first_component().name ? input() : completed_input());
  expect_golden(fmt::format("components/{}.yaml", component.name), emit_yaml(described(files)));
}

std::string name_of(const ::testing::TestParamInfo<Component>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(First, Golden, ::testing::Values(first_component()), name_of);
INSTANTIATE_TEST_SUITE_P(Others, Golden, ::testing::ValuesIn(other_components()), name_of);

// All files of all commands, when each command runs alone.
JsonObject union_of_all() {
  FileTree all = completed_input();
  for (const Component& component : other_components()) all.merge(written(component, completed_input()));
  return described(all);
}

TEST(Renders, GiveTheSameInAnyOrder) {
  const std::string expected = emit_yaml(union_of_all());
  for (unsigned seed : {1u, 2u, 3u}) {
    std::vector<Component> order = other_components();
    std::ranges::shuffle(order, std::mt19937(seed));
    World world(completed_input());
    for (const Component& component : order) {
      const Result<> done = world.run(component);
      ASSERT_TRUE(done.ok()) << done.error().message();
    }
    EXPECT_EQ(emit_yaml(described(world.tree())), expected) << "seed " << seed;
  }
}

TEST(Renders, GiveTheSameAtTheSameTime) {
  World world(completed_input());
  sys::TaskGroup tasks(world.context());
  for (const Component& component : other_components()) {
    tasks.run(component.name, [&](const sys::Context&) { return world.run(component); });
  }
  const Result<> done = tasks.wait();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(emit_yaml(described(world.tree())), emit_yaml(union_of_all()));
}

}  // namespace
}  // namespace slipway::components
