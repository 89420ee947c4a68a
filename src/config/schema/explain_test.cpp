// The table of fields, and the texts that are generated from it.
#include "config/schema/explain.h"

#include "base/text.h"
#include "config/schema/json_schema.h"
#include "config/schema/reference.h"
#include "config/schema/schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

namespace slipway::config {
namespace {

void for_each_field(Fields fields, const std::string& path, const std::function<void(const Field&, const std::string&)>& visit) {
  for (const Field& field : fields) {
    const std::string at = path.empty() ? std::string(field.name) : fmt::format("{}.{}", path, field.name);
    visit(field, at);
    if (field.members) for_each_field(field.members(), at, visit);
  }
}

TEST(Schema, RowsAreComplete) {
  std::set<std::string> paths;
  for_each_field(install_config_fields(), "", [&](const Field& field, const std::string& path) {
    EXPECT_TRUE(paths.insert(to_lower(path)).second) << "twice: " << path;
    EXPECT_FALSE(field.about.empty()) << path;
    EXPECT_TRUE(field.about.ends_with('.')) << path;
    EXPECT_FALSE(field.otherwise.ends_with('.')) << path;
    EXPECT_EQ(field.members != nullptr, field.kind == Kind::object) << path;
    if (!field.allowed.empty() && !field.fallback.empty()) {
      const auto values = allowed_values(field);
      EXPECT_NE(std::find(values.begin(), values.end(), field.fallback), values.end()) << path;
    }
    if (!field.instead.empty() && field.instead != nothing_instead) {
      const std::string around = path.substr(0, path.size() - field.name.size());
      EXPECT_NE(find_field_at(around + std::string(field.instead)), nullptr) << path;
    }
  });
  EXPECT_GT(paths.size(), 300u);
}

TEST(Schema, MarksSecrets) {
  for (const char* path : {"pullSecret", "proxy.httpProxy", "proxy.httpsProxy", "platform.baremetal.hosts.bmc.password",
                           "platform.vsphere.vcenters.password", "platform.vsphere.password"}) {
    const Field* field = find_field_at(path);
    ASSERT_NE(field, nullptr) << path;
    EXPECT_TRUE(field->is_secret) << path;
  }
  for_each_field(install_config_fields(), "", [](const Field& field, const std::string& path) {
    const bool is_password = to_lower(field.name).find("password") != std::string::npos;
    EXPECT_TRUE(field.is_secret || !is_password) << path;
  });
}

TEST(Explain, DescribesAFieldAndItsMembers) {
  const auto text = explain("installconfig.controlPlane", false);
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(text->starts_with("KIND:     InstallConfig\nVERSION:  v1\n\nFIELD: controlPlane <object>\n")) << text.value();
  EXPECT_NE(text->find("  hyperthreading <string>\n    Whether the machines use"), std::string::npos) << text.value();
  EXPECT_NE(text->find("    One of Enabled, Disabled\n    Default: Enabled\n"), std::string::npos) << text.value();
  EXPECT_EQ(explain("InstallConfig.CONTROLPLANE.", false).value(), text.value());
  EXPECT_EQ(explain("installconfig.compute[0].name", false).value(), explain("installconfig.compute.name", false).value());
  EXPECT_NE(explain("installconfig.platform.vsphere.vCenter", false)->find("Deprecated: use vcenters.\n"), std::string::npos);
  for (const std::string_view line : split(explain("installconfig", false).value(), '\n')) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Explain, RecursiveListsAllFieldsBelow) {
  const std::string text = explain("installconfig.platform.baremetal", true).value();
  EXPECT_NE(text.find("  hosts <[]object>\n    name <string> -required-\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      rotational <boolean>\n"), std::string::npos) << text;
}

TEST(Explain, ErrorsListTheFieldsThatExist) {
  const auto message = [](std::string_view path) { return explain(path, false).error().message(); };
  EXPECT_EQ(message("pod.spec"),
            "'pod': nothing to explain (use a path that begins with installconfig, for example installconfig.platform)");
  EXPECT_EQ(message("installconfig.platfrom"), "installconfig has no field platfrom (did you mean platform?)");
  EXPECT_EQ(message("installconfig.proxy.q"), "installconfig.proxy has no field q (fields: httpProxy, httpsProxy, noProxy)");
  EXPECT_EQ(message("installconfig.publish.q"), "installconfig.publish has no fields, so there is no q");
}

TEST(JsonSchema, FollowsTheTable) {
  const Json schema = install_config_json_schema();
  EXPECT_EQ(find_string(schema, {"$schema"}), "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(find_array(schema, {"required"}), (JsonArray{"apiVersion", "metadata", "baseDomain", "platform"}));
  EXPECT_EQ(*find(schema, {"properties", "publish"}),
            Json({{"enum", JsonArray{"External", "Internal", "Mixed", "", nullptr}},
                  {"description", *find_string(schema, {"properties", "publish", "description"})},
                  {"default", "External"}}));
  EXPECT_EQ(*find(schema, {"$defs", "platform", "properties", "azure"}), Json(false));
  EXPECT_EQ(*find(schema, {"properties", "pullSecret", "writeOnly"}), Json(true));
  EXPECT_EQ(*find(schema, {"$defs", "networking", "properties", "machineCIDR", "deprecated"}), Json(true));
}

TEST(Reference, TheCommittedPageIsWhatTheProgramPrints) {
  const std::string path = SLIPWAY_SOURCE "/docs/install-config-reference.md";
  const std::string text = install_config_reference();
  if (std::getenv("ACCEPT")) {
    ASSERT_TRUE(std::ofstream(path) << text);
  }
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text) << "ACCEPT=1 writes " << path;
}

}  // namespace
}  // namespace slipway::config
