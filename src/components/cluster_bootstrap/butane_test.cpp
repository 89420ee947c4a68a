#include "components/cluster_bootstrap/butane.h"

#include "ignition/data_url.h"
#include "ignition/gzip.h"
#include "ignition/parse.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_bootstrap {
namespace {

class ButaneTest : public testing::Test {
 protected:
  void put(const std::string& path, std::string_view text, sys::Mode mode) {
    ASSERT_TRUE(files.write("/assets/" + path, text, mode).ok());
  }

  Result<ignition::Config> translate(std::string_view body) {
    return translate_butane(files, "/assets", "variant: fcos\nversion: 1.1.0\n" + std::string(body), "in.fcc");
  }

  // One line per entry, in order: KIND MODE PATH CONTENT.
  std::string described(std::string_view body) {
    const Result<ignition::Config> config = translate(body);
    if (!config.ok()) return config.error().message();
    EXPECT_EQ(config->ignition.version, ignition::Version::v3_1);
    std::string text;
    for (const ignition::Directory& each : config->storage.directories) text += fmt::format("d {:o} {}\n", *each.mode, each.path);
    for (const ignition::File& each : config->storage.files) {
      text += fmt::format("f {:o} {} {}\n", *each.mode, each.path, ignition::decode_data_url(*each.contents.source).value());
    }
    return text;
  }

  testing_support::MemoryFiles files;
};

TEST_F(ButaneTest, PutsFilesAndFoldersIntoTheConfig) {
  put("pod.yaml", "kind: Pod\n", 0644);
  put("run.sh", "#!/bin/sh\n", 0755);
  put("tls/ca.crt", "ca", 0644);
  put("tls/deep/ca.key", "key", 0600);
  put("tls/tool", "x", 0755);
  ASSERT_TRUE(files.make_directories("/assets/tls/empty", 0755).ok());
  EXPECT_EQ(described("storage:\n"
                      "  trees:\n"
                      "  - {local: ./tls/, path: /etc/secrets/}\n"
                      "  files:\n"
                      "  - {path: /etc/pod.yaml, contents: {local: pod.yaml}}\n"
                      "  - {path: /bin/run.sh, mode: 0555, contents: {local: run.sh}}\n"
                      "  - {path: /etc/text, contents: {inline: a b}}\n"),
            "d 700 /etc/secrets\n"
            "d 700 /etc/secrets/deep\n"
            "d 700 /etc/secrets/empty\n"
            "f 600 /etc/pod.yaml kind: Pod\n\n"
            "f 555 /bin/run.sh #!/bin/sh\n\n"
            "f 600 /etc/text a b\n"
            "f 600 /etc/secrets/ca.crt ca\n"
            "f 600 /etc/secrets/deep/ca.key key\n"
            "f 700 /etc/secrets/tool x\n");
}

TEST_F(ButaneTest, PacksWhatBecomesSmaller) {
  const std::string log(100'000, '\0');
  put("etcd/0.wal", log, 0600);
  put("etcd/version", "3", 0600);
  const ignition::Config config = translate("storage: {trees: [{local: etcd, path: /var/lib/etcd}]}").value();
  ASSERT_EQ(config.storage.files.size(), 2u);
  const ignition::Resource& packed = config.storage.files[0].contents;
  EXPECT_EQ(packed.compression, "gzip");
  EXPECT_EQ(ignition::decode_data_url(*packed.source).value(), ignition::gzip(log).value());
  EXPECT_LT(packed.source->size(), 1000u);
  EXPECT_EQ(config.storage.files[1].contents, (ignition::Resource{.source = "data:,3"}));
}

TEST_F(ButaneTest, MergesAnotherConfig) {
  put("original-master.ign", "{}", 0600);
  const ignition::Config config = translate("ignition: {config: {merge: [{local: original-master.ign}]}}").value();
  ASSERT_EQ(config.ignition.config.merge.size(), 1u);
  EXPECT_EQ(ignition::decode_data_url(*config.ignition.config.merge[0].source).value(), "{}");
}

TEST_F(ButaneTest, KnowsTheOtherNamesOfFields) {
  const ignition::Config config = translate(
                                      "ignition: {timeouts: {http_total: 5}}\n"
                                      "passwd: {users: [{name: core, ssh_authorized_keys: [key]}]}\n"
                                      "storage: {disks: [{device: /dev/a, partitions: [{number: 1, size_mib: 7}]}]}\n"
                                      "systemd: {units: [{name: a.service, enabled: true, contents: \"[Unit]\\n\"}]}\n")
                                      .value();
  EXPECT_EQ(config.ignition.timeouts.http_total, 5);
  EXPECT_EQ(config.passwd.users[0].ssh_authorized_keys, ignition::Texts{"key"});
  EXPECT_EQ(config.storage.disks[0].partitions[0].size_mib, 7);
  EXPECT_EQ(config.systemd.units[0].contents, "[Unit]\n");
}

// The entry sets the mode, the tree the contents.
TEST_F(ButaneTest, AFileMayHaveItsModeBesideTheTree) {
  put("bin/run.sh", "x", 0600);
  EXPECT_EQ(described("storage: {trees: [{local: bin, path: /opt}], files: [{path: /opt/run.sh, mode: 0555}]}"),
            "d 700 /opt\nf 555 /opt/run.sh x\n");
}

TEST_F(ButaneTest, NamesAllThatIsWrong) {
  put("tls/ca.key", "SECRET", 0600);
  EXPECT_EQ(described("storage:\n"
                      "  trees:\n"
                      "  - {local: tls, path: /etc/tls}\n"
                      "  - {local: tls/ca.key, path: /x}\n"
                      "  - {local: ../tls, path: /y}\n"
                      "  - {path: /z}\n"
                      "  files:\n"
                      "  - {path: /etc/tls/ca.key, contents: {inline: x}}\n"
                      "  - {path: /none, contents: {local: none}}\n"
                      "  - {path: /both, contents: {local: tls/ca.key, inline: x}}\n"
                      "  - {path: /kind, contents: {inline: 7}}\n"
                      "  - {path: /word, modus: 0600}\n"),
            "in.fcc:5:5: error: storage.trees[0]: /etc/tls/ca.key is already in the config\n"
            "in.fcc:6:5: error: storage.trees[1]: /assets/tls/ca.key is not a folder\n"
            "in.fcc:7:5: error: storage.trees[2]: points outside of the asset directory\n"
            "in.fcc:8:5: error: storage.trees[3]: must have local, the folder to copy\n"
            "in.fcc:11:30: error: storage.files[1].contents.local: reading /assets/none: No such file or directory\n"
            "in.fcc:12:19: error: storage.files[2].contents: has more than one of source, local and inline\n"
            "in.fcc:13:30: error: storage.files[3].contents.inline: must be a string, got a number\n"
            "in.fcc:14:19: error: storage.files[4].modus: unknown key, no effect (did you mean 'mode'?)");
}

TEST_F(ButaneTest, TakesOneVariantOnly) {
  EXPECT_EQ(translate_butane(files, "/assets", "variant: openshift\nversion: 4.8.0\n", "in.fcc").error().message(),
            "in.fcc:1:1: error: variant: must be 'fcos'\nin.fcc:2:1: error: version: must be '1.1.0'");
  EXPECT_EQ(translate("storage: {files: [{path: relative, contents: {inline: x}}]}").error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::components::cluster_bootstrap
