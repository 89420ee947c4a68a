#include "machineconfig/render.h"

#include "ignition/make.h"
#include "machineconfig/labels.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace slipway::machineconfig {
namespace {

const RenderBase base{.os_image = "r/os@sha256:1", .extensions_image = "", .controller_version = "1.0"};

MachineConfig config_of(std::string name, std::string role, std::string_view content = "", bool generated = false) {
  MachineConfig config{.name = std::move(name), .labels = {{std::string(role_label), std::move(role)}}};
  config.config.ignition.version = ignition::Version::v3_2;
  if (!content.empty()) ignition::put(config.config, ignition::make_file("/etc/motd", content, 0644));
  if (generated) config.annotations[std::string(generated_by)] = "1.0";
  return config;
}

const Pool master{.name = "master", .roles = {"master"}, .object = {{"spec", JsonObject()}}};
const Pool infra{.name = "infra", .roles = {"worker", "infra"}, .object = JsonObject()};

std::string motd(const Rendered& rendered) { return rendered.config.config.storage.files.at(0).contents.source.value_or(""); }

TEST(Render, ALaterNameWins) {
  const Result<Rendered> rendered = render(master, {config_of("99-b", "master", "b"), config_of("10-a", "master", "a")}, base);
  EXPECT_EQ(motd(rendered.value()), "data:,b");
  EXPECT_EQ(rendered->sources, (std::vector<std::string>{"10-a", "99-b"}));
}

TEST(Render, ACustomPoolWinsOverWorkersWhateverTheNames) {
  const Result<Rendered> rendered =
      render(infra, {config_of("99-z", "worker", "worker"), config_of("00-a", "infra", "infra")}, base);
  EXPECT_EQ(motd(rendered.value()), "data:,infra");
}

TEST(Render, OfTwoOfOneNameTheLastCounts) {
  const Result<Rendered> rendered =
      render(master, {config_of("00-master", "master", "template", true), config_of("00-master", "master", "user")}, base);
  EXPECT_EQ(motd(rendered.value()), "data:,user");
  EXPECT_EQ(rendered->sources.size(), 1u);
}

TEST(Render, LeavesOtherRolesOut) {
  EXPECT_EQ(render(master, {config_of("a", "worker", "x")}, base).error().code(), Code::invalid);
}

TEST(Render, AFileThatReplacesACompressedOneIsNotReadAsCompressed) {
  MachineConfig compressed = config_of("00", "master", "x");
  compressed.config.storage.files[0].contents.compression = "gzip";
  const Result<Rendered> rendered = render(master, {compressed, config_of("10", "master", "plain")}, base);
  EXPECT_EQ(rendered->config.config.storage.files.at(0).contents.compression, std::nullopt);
}

TEST(Render, FilesReplaceWhatIsThere) {
  MachineConfig silent = config_of("00", "master", "x");
  silent.config.storage.files[0].overwrite.reset();
  EXPECT_EQ(render(master, {silent}, base)->config.config.storage.files.at(0).overwrite, true);
}

TEST(Render, FoldsScalars) {
  MachineConfig first = config_of("00", "master"), second = config_of("10", "master");
  first.kernel_arguments = {"a"};
  first.kernel_type = "realtime";
  first.fips = true;
  second.kernel_arguments = {"b", "a"};
  second.os_image_url = "user/os";
  const Result<Rendered> rendered = render(master, {second, first}, base);
  EXPECT_EQ(rendered->config.kernel_arguments, (std::vector<std::string>{"a", "b", "a"}));
  EXPECT_EQ(rendered->config.kernel_type, "realtime");
  EXPECT_TRUE(rendered->config.fips);
  EXPECT_EQ(rendered->config.os_image_url, "user/os");
  EXPECT_EQ(rendered->config.annotations.at(std::string(image_overridden)), "true");
  second.extensions = {"kernel-devel"};
  EXPECT_EQ(render(master, {first, second}, base).error().code(), Code::invalid);
}

TEST(Render, GeneratedConfigsDoNotChooseTheImageAndHaveToBeOfThisVersion) {
  MachineConfig generated = config_of("00", "master", "x", true);
  generated.os_image_url = "stale/os";
  EXPECT_EQ(render(master, {generated}, base)->config.os_image_url, base.os_image);
  generated.annotations[std::string(generated_by)] = "0.9";
  EXPECT_EQ(render(master, {generated}, base).error().code(), Code::invalid);
}

TEST(Render, RefusesWhatNoApiServerWouldTake) {
  const std::string large(largest_rendered, 'x');
  EXPECT_EQ(render(master, {config_of("a", "master", large)}, base).error().code(), Code::invalid);
}

RC_GTEST_PROP(Render, DoesNotDependOnTheOrderOfItsInputs, ()) {
  std::vector<MachineConfig> configs;
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    const std::string role = *rc::gen::element<std::string>("worker", "infra");
    configs.push_back(config_of(fmt::format("{}-{}", *rc::gen::inRange(0, 100), i), role, fmt::format("content {}", i)));
    configs.back().kernel_arguments = {fmt::format("k{}", i)};
  }
  const Result<Rendered> once = render(infra, configs, base);
  std::vector<MachineConfig> shuffled;
  while (!configs.empty()) {
    const auto at = configs.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(configs.size()));
    shuffled.push_back(*at);
    configs.erase(at);
  }
  RC_ASSERT(once.ok());
  RC_ASSERT(render(infra, shuffled, base).value() == once.value());
}

TEST(PoolWith, NamesTheRenderedConfigTwice) {
  const Rendered rendered{.config = {.name = "rendered-master-1"}, .sources = {"00-master"}};
  const Json pool = pool_with(master, rendered);
  EXPECT_EQ(find_string(pool, {"spec", "configuration", "name"}), "rendered-master-1");
  EXPECT_EQ(find_string(pool, {"status", "configuration", "name"}), "rendered-master-1");
  EXPECT_EQ(find_array(pool, {"spec", "configuration", "source"}).size(), 1u);
}

}  // namespace
}  // namespace slipway::machineconfig
