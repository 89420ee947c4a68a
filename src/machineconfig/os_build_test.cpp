#include "machineconfig/os_build.h"

#include "ignition/data_url.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipway::machineconfig {
namespace {

const std::string base = "registry.slipway.invalid/slipway/release@sha256:" + std::string(64, 'b');

ignition::File file(const std::string& path, const std::string& text, int mode = 0644) {
  ignition::File made;
  made.path = path;
  made.mode = mode;
  made.contents.source = ignition::encode_data_url(text);
  return made;
}

struct Sample {
  OsConfig config{.pool = "master",
                  .push_spec = "registry.example.com/team/os:latest",
                  .push_secret = "push",
                  .containerfile = "FROM configs AS final\nRUN true"};
  MachineConfig rendered{.name = "rendered-master-1"};
  ControllerConfig controller{.version = "1", .os_image = base};

  Sample() {
    rendered.config.storage.files = {file("/etc/motd", "hello"), file("/etc/kubernetes/secret", "geheim", 0600),
                                     file("/var/lib/kubelet/config.json", "logins"), file("/usr/local/bin/tool", "x", 0755),
                                     file("/etc/mine/key", "geheim")};
    ignition::Directory folder;
    folder.path = "/etc/mine";
    folder.mode = 0700;
    rendered.config.storage.directories = {folder};
    ignition::Unit unit;
    unit.name = "mine.service";
    unit.contents = "[Service]\n";
    rendered.config.systemd.units = {unit};
  }
  std::string name() const { return plan_os_build(config, rendered, controller).value().name; }
};

TEST(OsBuild, HasTheFilesThatEverybodyMayRead) {
  Sample sample;
  sample.controller.additional_trust_bundle = "AUTHORITY";
  const OsBuild build = plan_os_build(sample.config, sample.rendered, sample.controller).value();
  std::string paths;
  const std::vector<BuildFile> files = build_files(build, sample.rendered, sample.controller).value();
  for (const BuildFile& each : files) paths += each.path + " ";
  EXPECT_EQ(paths, "root/etc/motd root/etc/systemd/system/mine.service Containerfile authorities/cluster.crt ");
  EXPECT_EQ(build.push_spec(), "registry.example.com/team/os:" + build.name);
  EXPECT_EQ(build.registry, "registry.example.com");
  EXPECT_EQ(parse_os_build(to_json(build), "a").value(), build);
}

TEST(OsBuild, TheTextOfTheUserComesLast) {
  Sample sample;
  const std::string labels =
      "LABEL machineconfig=\"rendered-master-1\" machineconfigpool=\"master\" baseOSContainerImage=\"" + base + "\"\n";
  EXPECT_EQ(plan_os_build(sample.config, sample.rendered, sample.controller).value().containerfile,
            "FROM " + base + " AS configs\nCOPY root/ /\n" + labels + "FROM configs AS final\nRUN true\n");
  sample.config.containerfile.clear();
  EXPECT_EQ(plan_os_build(sample.config, sample.rendered, sample.controller).value().containerfile,
            "FROM " + base + " AS configs\nCOPY root/ /\n" + labels + "FROM configs AS final\n");
  sample.controller.additional_trust_bundle = "AUTHORITY";
  EXPECT_NE(
      plan_os_build(sample.config, sample.rendered, sample.controller).value().containerfile.find("/run/authorities/cluster.crt"),
      std::string::npos);
}

TEST(OsBuild, LinesThatMustComeFirstDo) {
  Sample sample;
  sample.config.containerfile = "ARG A=1\nFROM registry.example.com/tools:${A} AS tools\nFROM configs AS final\n";
  const OsBuild build = plan_os_build(sample.config, sample.rendered, sample.controller).value();
  EXPECT_TRUE(build.containerfile.starts_with("ARG A=1\nFROM " + base + " AS configs\nCOPY root/ /\nLABEL "))
      << build.containerfile;
  EXPECT_TRUE(build.containerfile.ends_with("\n" + sample.config.containerfile));
  EXPECT_EQ(first_line_of_user(build), 5);
  sample.rendered.config = {};
  EXPECT_EQ(plan_os_build(sample.config, sample.rendered, sample.controller).value().containerfile.find("COPY"),
            std::string::npos);
}

TEST(OsBuild, TheNameDependsOnWhatIsInTheImage) {
  const std::string name = Sample().name();
  EXPECT_EQ(name.size(), std::string("master-").size() + 32);
  struct Row {
    const char* what;
    void (*change)(Sample&);
    bool is_same;
  };
  const std::vector<Row> rows = {
      {"nothing", [](Sample&) {}, true},
      {"the name of the config", [](Sample& s) { s.rendered.name = "rendered-master-2"; }, true},
      {"kernel arguments", [](Sample& s) { s.rendered.kernel_arguments = {"a"}; }, true},
      {"a secret file", [](Sample& s) { s.rendered.config.storage.files[1] = file("/etc/kubernetes/secret", "other", 0600); },
       true},
      {"a file of the machine", [](Sample& s) { s.rendered.config.storage.files[2] = file("/var/lib/kubelet/config.json", "x"); },
       true},
      {"the tag", [](Sample& s) { s.config.push_spec = "registry.example.com/team/os:other"; }, true},
      {"a file", [](Sample& s) { s.rendered.config.storage.files[0] = file("/etc/motd", "other"); }, false},
      {"the mode of a file", [](Sample& s) { s.rendered.config.storage.files[0].mode = 0755; }, false},
      {"the text", [](Sample& s) { s.config.containerfile += "\n"; }, false},
      {"the repository", [](Sample& s) { s.config.push_spec = "registry.example.com/team/other:latest"; }, false},
      {"the base image", [](Sample& s) { s.controller.os_image = "r.e/os@sha256:" + std::string(64, 'c'); }, false},
      {"an image of the config", [](Sample& s) { s.rendered.os_image_url = "r.e/os@sha256:" + std::string(64, 'c'); }, false},
      {"the kernel", [](Sample& s) { s.rendered.kernel_type = "realtime"; }, false},
      {"an extension", [](Sample& s) { s.rendered.extensions = {"usbguard"}; }, false},
      {"the authorities", [](Sample& s) { s.controller.additional_trust_bundle = "AUTHORITY"; }, false},
  };
  for (const Row& row : rows) {
    Sample sample;
    row.change(sample);
    EXPECT_EQ(sample.name() == name, row.is_same) << row.what;
  }
}

TEST(OsBuild, NeedsABaseByDigest) {
  Sample sample;
  sample.controller.os_image = "registry.example.com/os:latest";
  EXPECT_EQ(
      plan_os_build(sample.config, sample.rendered, sample.controller).error().message(),
      "pool master: its operating system 'registry.example.com/os:latest' has no digest, so no image can be built on it (set "
      "osImageURL by digest)");
}

TEST(OsImage, IsReadAsItIsWritten) {
  const Sample sample;
  const OsImage image{.build = plan_os_build(sample.config, sample.rendered, sample.controller).value(),
                      .digest = "sha256:" + std::string(64, 'd'),
                      .started = WallTime(Milliseconds(1000)),
                      .ended = WallTime(Milliseconds(61'000)),
                      .bytes = 5'000'000'000,
                      .is_pushed = true};
  EXPECT_EQ(parse_os_image(to_json(image), "a").value(), image);
  EXPECT_EQ(image.image(), "registry.example.com/team/os@" + image.digest);
  EXPECT_FALSE(parse_os_image(Json(JsonObject()), "a").ok());
  const OsImageSource source{image.image(), "api-int.demo.example.com:22623", "PEM", "slipway", Secret("geheim")};
  EXPECT_EQ(parse_os_image_source(emit_json(to_json(source), JsonStyle::compact), "a").value(), source);
  EXPECT_EQ(parse_os_image_source("{geheim", "a").error().message().find("geheim"), std::string::npos);
}

}  // namespace
}  // namespace slipway::machineconfig
