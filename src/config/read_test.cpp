// How values of the file are read, and the errors for values that cannot be read.
#include "base/text.h"
#include "config/install_config.h"
#include "config/schema/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace slipway::config {
namespace {

constexpr std::string_view base = R"(apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
platform: {none: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}'
)";

// The findings about the base config with these lines appended. Their first line is line 6.
std::string findings_with(std::string_view added, bool strict = false) {
  return check_install_config(fmt::format("{}{}", base, added), "c", {.strict = strict}).to_text();
}

TEST(ReadInstallConfig, ReportsTheExpectedAndTheActualKind) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"controlPlane: {replicas: three}",
       "c:6:16: error: controlPlane.replicas: must be a whole number, got the string 'three'\n"},
      {"controlPlane: {replicas: '3'}",
       "c:6:16: error: controlPlane.replicas: must be a whole number, got the string '3' (remove the quotes)\n"},
      {"controlPlane: {replicas: 3.5}", "c:6:16: error: controlPlane.replicas: must be a whole number of 32 bits, got 3.5\n"},
      {"controlPlane: {replicas: 3000000000}",
       "c:6:16: error: controlPlane.replicas: must be a whole number of 32 bits, got 3000000000\n"},
      {"controlPlane: [a]", "c:6:1: error: controlPlane: must be a mapping, got a list\n"},
      {"compute: [{name: worker, platform: []}]", "c:6:26: error: compute[0].platform: must be a mapping, got a list\n"},
      {"fips: maybe", "c:6:1: error: fips: must be true or false, got the string 'maybe'\n"},
      {"sshKey: {a: b}", "c:6:1: error: sshKey: must be a string, got an object (enclose it in single quotes)\n"},
      {"featureGates: A=true",
       "c:6:1: error: featureGates: must be a list, got the string 'A=true' (write each item on its own line, beginning with '- "
       "')\n"},
      {"publish: external",
       "c:6:1: error: publish: must be External, Internal or Mixed, got 'external' (did you mean 'External'?)\n"},
      {"imageDigestSources: [{source: quay.io/a, mirrors: [null]}]",
       "c:6:52: error: imageDigestSources[0].mirrors[0]: has no value\n"},
      {"compute: [null]", "c:6:11: error: compute[0]: has no value\n"},
  };
  for (const auto& [added, findings] : cases) EXPECT_EQ(findings_with(added), findings) << added;
}

TEST(ReadInstallConfig, NeverQuotesSecretsAndLongTexts) {
  const std::string long_text(100, 'x');
  EXPECT_EQ(findings_with("fips: " + long_text), "c:6:1: error: fips: must be true or false, got a string\n");
  EXPECT_EQ(findings_with("fips: \"a\\nb\""), "c:6:1: error: fips: must be true or false, got a string\n");
  EXPECT_EQ(findings_with("proxy: {httpProxy: [s3cret]}").find("s3cret"), std::string::npos);
}

TEST(ReadInstallConfig, AcceptsTheValuesThatGosLibraryAccepts) {
  const auto loaded = load_install_config(fmt::format("{}{}", base,
                                                      "CONTROLPLANE: {replicas: 3.0}\n"
                                                      "fips: no\n"
                                                      "sshkey: null\n"
                                                      "compute: &pools [{name: worker, replicas: 2}]\n"),
                                          "c");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_EQ(loaded->warnings.to_text(), "");
  EXPECT_EQ(loaded->config.control_plane.replicas, 3);
  EXPECT_EQ(loaded->config.compute_replicas(), 2);
  const auto json = load_install_config(
      R"({"apiVersion": "v1", "metadata": {"name": 7}, "baseDomain": "example.com", "platform": {"local": {}}})", "c");
  ASSERT_TRUE(json.ok()) << json.error().message();
  EXPECT_EQ(json->config.name, "7");
}

using Wrap = std::function<Json(const Json&)>;
using Visit = std::function<void(const Field& field, const std::string& path, const Wrap& wrap)>;

// Visits every row of the table. `wrap` makes a document from a value of the row; in lists, the value is the first item.
void for_each_row(Fields fields, const std::string& path, const Wrap& wrap, const Visit& visit) {
  for (const Field& field : fields) {
    const std::string at = path.empty() ? std::string(field.name) : fmt::format("{}.{}", path, field.name);
    const Wrap wrap_field = [&](const Json& value) { return wrap(JsonObject{{field.name, value}}); };
    const Wrap wrap_item = [&](const Json& value) { return field.is_list ? wrap_field(JsonArray{value}) : wrap_field(value); };
    visit(field, at, wrap_field);
    if (field.members) for_each_row(field.members(), field.is_list ? at + "[0]" : at, wrap_item, visit);
  }
}

bool has_error_at(const Findings& findings, const std::string& path) {
  return std::ranges::any_of(findings.all(), [&](const Finding& finding) {
    return finding.severity == Severity::error && finding.field == path && finding.message.starts_with("must be ");
  });
}

TEST(ReadInstallConfig, ChecksTheKindOfEveryField) {
  const Wrap whole = [](const Json& value) { return value; };
  int rows = 0;
  for_each_row(install_config_fields(), "", whole, [&](const Field& field, const std::string& path, const Wrap& wrap) {
    const auto findings_of = [&](const Json& value) {
      const Findings findings = check_install_config(emit_json(wrap(value), JsonStyle::compact), "c");
      EXPECT_EQ(findings.to_text().find("s3cret"), std::string::npos) << path;
      return findings;
    };
    ++rows;
    if (field.is_list) {
      EXPECT_TRUE(has_error_at(findings_of(7), path)) << path;
    } else if (field.kind == Kind::text) {
      EXPECT_TRUE(has_error_at(findings_of(JsonArray{"s3cret"}), path)) << path;
    } else if (field.kind != Kind::any) {
      EXPECT_TRUE(has_error_at(findings_of("maybe"), path)) << path;
    }
    EXPECT_TRUE(field.allowed.empty() || has_error_at(findings_of("nonsense"), path)) << path;
    if (field.is_secret) findings_of("s3cret");
  });
  EXPECT_GT(rows, 400);
}

TEST(ReadInstallConfig, UnknownFieldsAreWarningsOrErrors) {
  const std::string_view added = "controlPlane: {replicaz: 3}\nplatforms: {}\nqqq: 1\n";
  EXPECT_EQ(findings_with(added),
            "c:6:16: warning: controlPlane.replicaz: unknown field, no effect (did you mean 'replicas'?)\n"
            "c:7:1: warning: platforms: unknown field, no effect (did you mean 'platform'?)\n"
            "c:8:1: warning: qqq: unknown field, no effect\n");
  EXPECT_EQ(findings_with(added, true),
            "c:6:16: error: controlPlane.replicaz: unknown field (did you mean 'replicas'?)\n"
            "c:7:1: error: platforms: unknown field (did you mean 'platform'?)\n"
            "c:8:1: error: qqq: unknown field\n");
  EXPECT_FALSE(load_install_config(fmt::format("{}{}", base, added), "c", {.strict = true}).ok());
}

TEST(ReadInstallConfig, DeprecatedFieldsAreWarnings) {
  EXPECT_EQ(findings_with("networking: {machineCIDR: 10.0.0.0/16}\n"),
            "c:6:14: warning: networking.machineCIDR: deprecated field (use machineNetwork)\n");
}

TEST(ReadInstallConfig, SyntaxErrorsHaveAPlace) {
  const Findings findings = check_install_config("a: 1\na: 2\nb: [\n", "c");
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings.all()) {
    EXPECT_EQ(finding.place.file, "c");
    EXPECT_GT(finding.place.line, 0) << to_string(finding);
    EXPECT_EQ(finding.message.find("c:"), std::string::npos) << to_string(finding);
  }
}

}  // namespace
}  // namespace slipway::config
