#include "service/images.h"

#include "base/digest.h"
#include "service/access.h"
#include "service/fields.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace slipway::service {
namespace {

const BaseImage::Content base = {.path = "/live.iso",
                                 .image = {.size = 100'000,
                                           .config = {40'960, 4096},
                                           .kernel = {50'000, 10},
                                           .initramfs = {60'000, 512},
                                           .root = {70'000, 1001},
                                           .kernel_arguments = "slipway.live a=b"},
                                 .version = "1"};

std::uint64_t length_of(const std::vector<net::BodyPart>& parts) {
  std::uint64_t length = 0;
  for (const net::BodyPart& part : parts) length += part.length();
  return length;
}

TEST(Images, HaveTheConfigInThePlaceOfTheArea) {
  const auto parts = iso_parts(base, "{}").value();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(length_of(parts), base.image.size);
  EXPECT_EQ(parts[0].file.length, base.image.config.offset);
  EXPECT_EQ(release::embedded_config(*parts[1].text).value(), "{}");
  EXPECT_EQ(parts[2].file.offset, 45'056u);
  EXPECT_EQ(iso_parts(base, std::string(4096, 'x')).error().code(), Code::too_large);
  EXPECT_NE(entity_tag(base, parts), entity_tag(base, iso_parts(base, "{ }").value()));
  BaseImage::Content other = base;
  other.version = "2";
  EXPECT_NE(entity_tag(base, parts), entity_tag(other, parts));
}

TEST(Images, SayWhatHostsWouldLack) {
  EXPECT_NE(missing_of_image(nullptr).find("give it with --live-image FILE"), std::string::npos);
  release::LiveImage image = base.image;
  EXPECT_NE(missing_of_image(&image).find("has no disk image"), std::string::npos);
  EXPECT_NE(missing_of_image(&image).find("--with-disk-image"), std::string::npos);
  image.has_disk_image = true;
  EXPECT_EQ(missing_of_image(&image), "");
}

TEST(Images, BootFromANetwork) {
  EXPECT_EQ(length_of(rootfs_parts(base).value()) % 512, 0u) << "another initrd may follow";
  const auto initrd = initrd_parts(base, "{}").value();
  EXPECT_EQ(initrd[0].file.offset, base.image.initramfs.offset);
  EXPECT_EQ(release::embedded_config(*initrd[1].text).value(), "{}");
  EXPECT_EQ(ipxe_script("https://s", "e", "image_token=t", base.image),
            "#!ipxe\n"
            "kernel https://s/boot-artifacts/kernel initrd=initrd initrd=rootfs slipway.live a=b\n"
            "initrd --name initrd https://s/images/e/pxe-initrd?image_token=t\n"
            "initrd --name rootfs https://s/boot-artifacts/rootfs\n"
            "boot\n");
}

TEST(Images, TheTokenOfTheAgentFollowsFromTheTokenOfTheImage) {
  const std::string token = agent_token_of("a");
  EXPECT_EQ(token, agent_token_of("a"));
  EXPECT_NE(token, agent_token_of("b"));
  EXPECT_TRUE(is_uuid(token.substr(0, 36)));
  EXPECT_EQ(token.size(), 36u + 1 + 64);
}

TEST(Images, OnlyTheirTokensAreTakenInUrls) {
  World world;
  const WallTime now = WallTime{} + std::chrono::hours(1);
  const auto add = [&](const std::string& token, TokenKind kind) {
    world.tokens[token.substr(0, 36)] = std::make_shared<const TokenRecord>(TokenRecord{
        .id = token.substr(0, 36), .digest = sha256_hex(token), .kind = kind, .infra_env = "e", .expires = now + Seconds(1)});
  };
  const std::string image = std::string(36, 'a') + ".x", admin = std::string(36, 'b') + ".x";
  add(image, TokenKind::image);
  add(admin, TokenKind::admin);
  EXPECT_EQ(caller_of_url(world, image, now)->infra_env, "e");
  EXPECT_EQ(caller_of_url(world, admin, now).error().code(), Code::denied);
  EXPECT_EQ(caller_of_url(world, image, now + Seconds(2)).error().code(), Code::denied);
  const Caller caller = caller_of_url(world, image, now).value();
  EXPECT_TRUE(check_access(world, caller, {.image = true}, {.infra_env = "e"}).ok());
  EXPECT_EQ(check_access(world, caller, {.image = true}, {.infra_env = "f"}).error().code(), Code::not_found);
  EXPECT_EQ(check_access(world, caller, {.user = true, .agent = true}, {.infra_env = "e"}).error().code(), Code::denied);
}

TEST(Images, AServiceWithoutALiveImageSaysSo) {
  const auto content = BaseImage("").content();
  EXPECT_EQ(content.error().code(), Code::not_found);
  EXPECT_NE(content.error().message().find("--live-image"), std::string::npos);
}

}  // namespace
}  // namespace slipway::service
