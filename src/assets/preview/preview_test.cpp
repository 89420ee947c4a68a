#include "assets/preview/preview.h"

#include "assets/preview/known_secrets.h"
#include "assets/preview/masked.h"
#include "assets/preview/unified_diff.h"
#include "assets/store.h"
#include "base/digest.h"
#include "base/text.h"
#include "support/memory_files.h"
#include "support/sample_assets.h"
#include "support/test_context.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

namespace slipway::assets {
namespace {

TEST(KnownSecrets, AreThoseOfDocumentsInDocuments) {
  const Json config = {{"pullSecret", R"({"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}})"},
                       {"proxy", {{"httpProxy", "http://me:p%40ss%2Fword@proxy:3128"}, {"noProxy", "a,b"}}},
                       {"sshKey", "ssh-ed25519 AAAA me"},
                       {"credentialsMode", "Manual"}};
  const Json state = {
      {"installConfig", emit_json(config, JsonStyle::pretty)},
      {"kubeadmin", {{"password", "word-of-admin"}, {"hash", "$2a$10$x"}}},
      {"tls", {{"root-ca", {{"certificate", "public"}, {"key", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n"}}}}},
      {"userFiles",
       {{"manifests/a.yaml",
         "kind: Secret\ndata: {any: aHVzaC1odXNo}\nstringData: {other: as-text}\n---\nkind: Pod\ntoken: a-name\n"}}}};
  std::set<std::string> seen;
  for (const Secret& each : secrets_in(state)) seen.insert(each.reveal());
  for (const char* wanted : {"cHVsbDpzZWNyZXQ=", "pull:secret", "secret", "p%40ss%2Fword", "p@ss/word", "word-of-admin",
                             "$2a$10$x", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n", "aHVzaC1odXNo", "hush-hush", "as-text"})
    EXPECT_TRUE(seen.contains(wanted)) << wanted;
  for (const char* open : {"public", "a,b", "ssh-ed25519 AAAA me", "Manual", "a-name", "Pod"})
    EXPECT_FALSE(seen.contains(open)) << open;
}

TEST(Masker, ShowsNoSecrets) {
  struct Case {
    std::string_view path;
    std::string_view content;
    std::string_view shown;
  };
  const std::string long_base64 = std::string(100, 'A');
  const Case cases[] = {
      {"a.yaml", "kind: Secret\ndata: {any: aHVzaA==}\nstringData: {other: hush, empty: ''}\n",
       "kind: Secret\ndata:\n  any: '*** #1'\nstringData:\n  other: '*** #2'\n  empty: \"\"\n"},
      {"a.yaml", "kind: List\nitems:\n- kind: Secret\n  data: {any: hush}\n",
       "kind: List\nitems:\n- kind: Secret\n  data:\n    any: '*** #1'\n"},
      {"a.yaml", "# hush\na: 1 # hush\n", "a: 1\n"},
      {"a.yaml", "a: hush\n---\npassword: hush\n---\npin: {token: 17}\n",
       "a: hush\n---\npassword: '*** #1'\n---\npin:\n  token: '*** #2'\n"},
      {"install-config.yaml",
       "pullSecret: '{\"auths\":{}}'\nsshKey: ssh-ed25519 AAAA me\nproxy: {httpProxy: 'http://me:hush@proxy:3128'}\n",
       "pullSecret: '*** #1'\nsshKey: ssh-ed25519 AAAA me\nproxy:\n  httpProxy: http://***@proxy:3128\n"},
      {"a.yaml", "credentialsSecret: {name: vsphere-cloud-credentials}\nsecretName: mine\ncredentialsMode: Manual\n",
       "credentialsSecret:\n  name: vsphere-cloud-credentials\nsecretName: mine\ncredentialsMode: Manual\n"},
      {"a.yaml", "data:\n  config: |\n    name: a\n    password: hush\n",
       "data:\n  config: |\n    name: a\n    password: '*** #1'\n"},
      {"a.yaml", "data:\n  script: |\n    #!/bin/sh\n    export MY_TOKEN=hush\n    curl http://me:hush@host/\n",
       "data:\n  script: |\n    #!/bin/sh\n    export MY_TOKEN= *** #1\n    curl http://***@host/\n"},
      {"a.yaml", "data:\n  text: |\n    -----BEGIN EC PRIVATE KEY-----\n    hush\n    -----END EC PRIVATE KEY-----\n",
       "data:\n  text: '*** #1'\n"},
      {"auth/kubeconfig", "users: [{user: {client-key-data: aHVzaA==, token: hush}}]\n",
       "users:\n- user:\n    client-key-data: '*** #1'\n    token: '*** #2'\n"},
      {"master.ign",
       R"({"ignition":{"config":{"merge":[{"httpHeaders":[{"name":"Authorization","value":"hush"},{"name":"X","value":"Bearer hush"}]}]}},)"
       R"("storage":{"files":[{"path":"/a","contents":{"source":"data:;base64,aHVzaA=="}},{"path":"/b","contents":{"source":"data:,"}}]}})",
       "ignition:\n  config:\n    merge:\n    - httpHeaders:\n      - name: Authorization\n        value: '*** #1'\n      - "
       "name: X\n        value: "
       "'*** #2'\nstorage:\n  files:\n  - path: /a\n    contents:\n      source: '(data URL, 21 characters, #3)'\n  - path: /b\n "
       "   contents:\n      "
       "source: data:,\n"},
      {"auth/kubeadmin-password", "hush", "*** #1\n"},
      {"tls/journal-gatewayd.key", "hush", "*** #1\n"},
      {"tls/journal-gatewayd.crt", "-----BEGIN CERTIFICATE-----\nMIIB\n", "-----BEGIN CERTIFICATE-----\nMIIB\n"},
      {"broken.yaml", "a: [hush\n", "*** #1\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(Masker().text(c.path, c.content), c.shown) << c.content;
  EXPECT_EQ(Masker().text("a.yaml", "caBundle: " + long_base64 + "\n"), "caBundle: '(base64, 100 characters, #1)'\n");
}

TEST(Masker, TheSameSecretHasTheSameNumber) {
  Masker masker;
  const std::string first = masker.text("a.yaml", "password: one\n");
  EXPECT_EQ(masker.text("b.yaml", "token: one\n"), "token: '*** #1'\n");
  EXPECT_NE(masker.text("a.yaml", "password: two\n"), first);
}

TEST(UnifiedDiff, IsThatOfDiff) {
  EXPECT_EQ(unified_diff("a", "1\n2\n", "b", "1\n2\n"), "");
  EXPECT_EQ(unified_diff("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ b\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n");
  EXPECT_EQ(unified_diff("/dev/null", "", "b", "1\n2\n"), "--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+1\n+2\n");
  EXPECT_EQ(unified_diff("a", "1\n", "b", ""), "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-1\n");
}

// Applies a difference like `patch`.
std::string patched(const std::string& before, const std::string& difference) {
  const std::vector<std::string_view> old = split(before, '\n');
  std::string made;
  std::size_t at = 0;  // index in the lines of `before`
  const std::vector<std::string_view> lines = split(difference, '\n');
  for (std::size_t i = 2; i + 1 < lines.size(); ++i) {
    const std::string line(lines[i]);
    if (line.starts_with("@@ -")) {
      const std::size_t first = std::strtoul(line.c_str() + 4, nullptr, 10);
      const std::size_t comma = line.find(',');
      const bool is_insertion = comma < line.find('+') && line.substr(comma, 3) == ",0 ";
      for (const std::size_t begin = is_insertion ? first : first - 1; at < begin; ++at) made.append(old[at]).append("\n");
    } else {
      if (line[0] != '+') {
        EXPECT_EQ(line.substr(1), old[at++]);
      }
      if (line[0] != '-') made.append(line.substr(1)).append("\n");
    }
  }
  for (; at + 1 < old.size(); ++at) made.append(old[at]).append("\n");
  return made;
}

RC_GTEST_PROP(UnifiedDiff, LeadsFromOneTextToTheOther, ()) {
  const auto text = [] {
    std::string made;
    for (const char c : *rc::gen::container<std::string>(rc::gen::inRange('a', 'e'))) made.append(1, c).append("\n");
    return made;
  };
  const std::string before = text(), after = text();
  const std::string difference = unified_diff("a", before, "b", after);
  RC_ASSERT(difference.empty() == (before == after));
  if (!difference.empty()) {
    RC_ASSERT(patched(before, difference) == after);
  }
}

class PreviewTest : public testing::Test {
 protected:
  PreviewTest() { put("install-config.yaml", testing_support::sample_install_config); }

  void put(const std::string& path, std::string_view content) { EXPECT_TRUE(files.write("/d/" + path, content, 0600).ok()); }
  void create(Target target) {
    testing_support::SeededRandom random(1);
    const Folder folder = open_folder(files, "/d").value();
    const auto made = create_target(context.context(), files, random, folder, environment, {.target = target});
    ASSERT_TRUE(made.ok()) << made.error().message();
  }
  Plan plan(Target target) {
    testing_support::SeededRandom random(1);
    return plan_target({.target = target}, open_folder(files, "/d").value(), environment, random).value();
  }
  std::string difference(const Plan& plan) { return diff_text(open_folder(files, "/d")->files, plan); }

  testing_support::MemoryFiles files;
  testing_support::TestContext context;
  Environment environment = testing_support::sample_environment();
};

TEST_F(PreviewTest, SaysWhatHappensToEachFileAndWhy) {
  create(Target::manifests);
  put("manifests/mine.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n");
  const Plan seen = plan(Target::ignition_configs);
  const std::string text = plan_text(Target::ignition_configs, seen);
  EXPECT_TRUE(text.starts_with("create ignition-configs would:\n  add      ")) << text;
  for (const std::string_view line : {"  add      bootstrap.ign  ", "  consume  manifests/mine.yaml  "}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_NE(text.find("  used for the Ignition configs\n"), std::string::npos) << text;
  const Json json = plan_json(Target::ignition_configs, seen);
  EXPECT_EQ(find_string(json, {"target"}), "ignition-configs");
  EXPECT_EQ(find_array(json, {"changes"}).size(), seen.changes.size());
  create(Target::ignition_configs);
  EXPECT_EQ(plan_text(Target::ignition_configs, plan(Target::ignition_configs)),
            "create ignition-configs would change nothing.\n");
}

TEST_F(PreviewTest, ShowsChangesOfContentsWithoutSecrets) {
  create(Target::manifests);
  environment.release_version = "0.2.0";
  const std::string text = difference(plan(Target::manifests));
  EXPECT_NE(text.find("--- openshift/openshift-install-manifests.yaml\n+++ openshift/openshift-install-manifests.yaml\n@@ -"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("-  version: \"0.1.0\"\n+  version: \"0.2.0\"\n"), std::string::npos) << text;

  // All targets of a new cluster.
  ASSERT_TRUE(files.remove("/d/.openshift_install_state.json").ok());
  ASSERT_TRUE(files.remove("/d/manifests").ok());
  ASSERT_TRUE(files.remove("/d/openshift").ok());
  for (const Target target : {Target::manifests, Target::ignition_configs, Target::cluster}) {
    const Plan seen = plan(target);
    const std::string all = difference(seen);
    EXPECT_NE(all.find("+++ "), std::string::npos);
    const State& end = *seen.end;
    std::vector<std::string> secrets = {end.password.plain.reveal(), end.password.hash, end.token.text.reveal(),
                                        "cHVsbDpzZWNyZXQ="};
    for (const auto& [name, certificate] : end.tls) {
      if (!certificate.key.empty()) secrets.push_back(certificate.key.reveal().substr(40, 60));
    }
    for (const std::string& secret : secrets) {
      EXPECT_EQ(all.find(secret), std::string::npos) << to_string(target);
      EXPECT_EQ(all.find(base64_encode(secret).substr(0, 24)), std::string::npos) << to_string(target);
    }
    EXPECT_EQ(all.find("PRIVATE KEY"), std::string::npos);
  }
}

}  // namespace
}  // namespace slipway::assets
