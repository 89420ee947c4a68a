#include "assets/split_config.h"

#include "assets/pointer.h"
#include "base/digest.h"
#include "ignition/data_url.h"
#include "ignition/make.h"
#include "ignition/parse.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace slipway::assets {
namespace {

// Random enough that gzip cannot make it small.
ignition::Config config_of(std::size_t bytes) {
  ignition::Config config{.ignition = {.version = ignition::Version::v3_2}};
  std::string content;
  for (int i = 0; content.size() < bytes; ++i) content += sha256_hex(std::to_string(i));
  ignition::put(config, ignition::make_file("/large", content.substr(0, bytes), 0600));
  return config;
}

std::string unpacked(std::string_view packed) {
  z_stream stream{};
  std::string input(packed), output(1 << 20, '\0');
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  output.resize(stream.total_out);
  inflateEnd(&stream);
  return output;
}

const RemoteConfig remote = {.url = "https://storage.example.com/bootstrap.ign"};

TEST(SplitConfig, LeavesWhatFitsAsItIs) {
  const ignition::Config config = config_of(100);
  const SplitConfig split = split_config(config, *user_data_limit("aws"), remote).value();
  EXPECT_EQ(split.user_data, ignition_text(config));
  EXPECT_EQ(split.remote, std::nullopt);
  const std::size_t size = ignition_text(config).size();
  EXPECT_EQ(split_config(config, {"x", UserDataForm::plain, size}, remote).value().remote, std::nullopt);
  EXPECT_NE(split_config(config_of(2000), {"x", UserDataForm::plain, size}, remote).value().remote, std::nullopt);
}

TEST(SplitConfig, LeadsToTheWholeOne) {
  const ignition::Config config = config_of(20000);
  RemoteConfig where = remote;
  where.certificate_authority = "-----BEGIN CERTIFICATE-----\n";
  where.headers = {{.name = "X-Auth-Token", .value = "token"}};
  where.proxy = {.https_proxy = "http://proxy:3128", .no_proxy = {"example.org"}};
  const SplitConfig split = split_config(config, *user_data_limit("aws"), where).value();
  EXPECT_EQ(split.remote, ignition_text(config));
  const ignition::Config small = ignition::parse_text(split.user_data, "user data").value().config;
  EXPECT_EQ(small.ignition.config.replace.source, where.url);
  EXPECT_EQ(small.ignition.config.replace.http_headers, where.headers);
  EXPECT_EQ(small.ignition.config.replace.verification.hash, "sha256-" + sha256_hex(*split.remote));
  EXPECT_EQ(small.ignition.config.replace.compression, std::nullopt);
  EXPECT_EQ(small.ignition.proxy, where.proxy);
  ASSERT_EQ(small.ignition.security.tls.certificate_authorities.size(), 1u);
  EXPECT_EQ(ignition::decode_data_url(*small.ignition.security.tls.certificate_authorities[0].source).value(),
            where.certificate_authority);
  EXPECT_TRUE(small.storage.files.empty());
}

TEST(SplitConfig, CountsInTheFormOfThePlatform) {
  // 49149 bytes are 65532 in base64 (providers 2.0).
  const UserDataLimit openstack = *user_data_limit("openstack");
  const std::size_t frame = ignition_text(config_of(0)).size();
  const SplitConfig fits = split_config(config_of(49149 - frame), openstack, remote).value();
  EXPECT_EQ(fits.user_data.size(), 65532u);
  EXPECT_EQ(fits.remote, std::nullopt);
  EXPECT_NE(split_config(config_of(49149 - frame + 4), openstack, remote).value().remote, std::nullopt);
  const ignition::Config config = config_of(1000);
  EXPECT_EQ(unpacked(base64_decode(split_config(config, *user_data_limit("vsphere"), remote).value().user_data).value()),
            ignition_text(config));
}

TEST(SplitConfig, CompressesWhatIsFetchedWhereItIsAsked) {
  RemoteConfig where = remote;
  where.is_compressed = true;
  const ignition::Config config = config_of(20000);
  const SplitConfig split = split_config(config, *user_data_limit("aws"), where).value();
  EXPECT_EQ(unpacked(*split.remote), ignition_text(config));
  EXPECT_EQ(*split.remote, *split_config(config, *user_data_limit("aws"), where).value().remote);
  const ignition::Config small = ignition::parse_text(split.user_data, "user data").value().config;
  EXPECT_EQ(small.ignition.config.replace.compression, "gzip");
  EXPECT_EQ(small.ignition.config.replace.verification.hash, "sha256-" + sha256_hex(ignition_text(config)));
}

TEST(SplitConfig, RefusesWhatCannotWork) {
  EXPECT_EQ(split_config(config_of(20000), *user_data_limit("aws"), {.url = "nowhere"}).error().code(), Code::invalid);
  RemoteConfig where = remote;
  where.certificate_authority = std::string(20000, 'x');
  const auto split = split_config(config_of(20000), *user_data_limit("aws"), where);
  ASSERT_FALSE(split.ok());
  EXPECT_NE(split.error().message().find("platform aws hands at most 16000 bytes"), std::string::npos) << split.error().message();
}

TEST(UserDataLimit, NobodyElseHasOne) {
  for (const std::string_view platform : {"none", "external", "baremetal", "local", "ovirt"}) {
    EXPECT_EQ(user_data_limit(platform).has_value(), false) << platform;
  }
}

}  // namespace
}  // namespace slipway::assets
