#include "net/seeded_stream.h"

#include "net/openssl.h"
#include "net/x509.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/runner.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::net {
namespace {

const Secret seed(std::string(32, 's'));

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// The output of `printf 0 | openssl mac -digest SHA256 -macopt hexkey:... HMAC` for the seed and the name. It must never change:
// existing clusters depend on their seeds.
TEST(SeededStream, IsTheSameForEver) {
  SeededStream stream(seed, "a");
  EXPECT_EQ(hex(stream.bytes(40).value()), "a55a2b16997c74d38ceaf9d36e48d8ab4f5d90aefe4d9c22f2fd08662d420b1e6fbd388cdfafd069");
}

TEST(SeededStream, IsTheSameInPieces) {
  SeededStream whole(seed, "a"), pieces(seed, "a");
  std::string text;
  for (const std::size_t count : {0, 1, 31, 32, 33, 100}) text += pieces.bytes(count).value();
  EXPECT_EQ(text, whole.bytes(text.size()).value());
}

TEST(SeededStream, IsAnotherWithAnotherNameOrSeed) {
  SeededStream one(seed, "a"), other_name(seed, "b"), other_seed(Secret(std::string(32, 't')), "a");
  const std::string bytes = one.bytes(32).value();
  EXPECT_NE(other_name.bytes(32).value(), bytes);
  EXPECT_NE(other_seed.bytes(32).value(), bytes);
}

Secret drawn(KeyType type, std::string_view name) {
  SeededStream stream(seed, name);
  return make_key(type, &stream).value();
}

TEST(SeededKeys, AreTheSameForTheSameNumbers) {
  for (const KeyType type : {KeyType::p256, KeyType::rsa2048}) {
    EXPECT_EQ(drawn(type, "a"), drawn(type, "a"));
    EXPECT_NE(drawn(type, "a"), drawn(type, "b"));
  }
}

TEST(SeededKeys, MakeTheSameCertificates) {
  for (const KeyType type : {KeyType::p256, KeyType::rsa2048}) {
    const auto make = [&](std::string_view name) {
      SeededStream own(seed, name), others(seed, "leaf");
      const CertificateSpec authority{.subject = {.common_name = "ca"},
                                      .is_ca = true,
                                      .valid_for = std::chrono::hours(1),
                                      .key = drawn(type, "ca"),
                                      .random = &own};
      const Certificate ca = make_certificate(authority, nullptr).value();
      const CertificateSpec leaf{.subject = {.common_name = "leaf"}, .valid_for = std::chrono::hours(1), .random = &others};
      const Certificate made = make_certificate(leaf, &ca).value();
      EXPECT_TRUE(is_signed_by(ca.pem, ca.pem).value());
      EXPECT_TRUE(is_signed_by(made.pem, ca.pem).value());
      return ca.pem + made.pem;
    };
    EXPECT_EQ(make("a"), make("a"));
    EXPECT_NE(make("a"), make("b"));  // another serial
  }
}

// RFC 6979 A.2.5 and A.2.6, with SHA-256.
TEST(SeededSignature, IsTheOneOfTheRfc) {
  struct Row {
    const char* curve;
    const char* secret;
    const char* text;
    const char* signature;  // r and s
  };
  const Row rows[] = {
      {SN_X9_62_prime256v1, "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721", "sample",
       "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
       "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"},
      {SN_X9_62_prime256v1, "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721", "test",
       "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
       "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"},
      {SN_secp384r1, "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D896D5724E4C70A825F872C9EA60D2EDF5", "sample",
       "21b13d1e013c7fa1392d03c5f99af8b30c570c6f98d4ea8e354b63a21d3daa33bde1e888e63355d92fa2b3c36d8fb2cd"
       "f3aa443fb107745bf4bd77cb3891674632068a10ca67e3d45db2266fa7d1feebefdc63eccd1ac42ec0cb8668a4fa0ab0"},
  };
  for (const Row& row : rows) {
    BIGNUM* read = nullptr;
    ASSERT_NE(BN_hex2bn(&read, row.secret), 0);
    const Number scalar(read);
    const Parameters parameters(OSSL_PARAM_BLD_new());
    OSSL_PARAM_BLD_push_utf8_string(parameters.get(), OSSL_PKEY_PARAM_GROUP_NAME, row.curve, 0);
    OSSL_PARAM_BLD_push_BN(parameters.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar.get());
    const Key key = build_key("EC", parameters);
    ASSERT_TRUE(key);
    const std::string der = sign_deterministically(key.get(), row.text).value();
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    const Handle<ECDSA_SIG, ECDSA_SIG_free> signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
    const std::size_t size = std::string_view(row.signature).size() / 4;
    std::string numbers(2 * size, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(numbers.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), bytes, static_cast<int>(size));
    BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), bytes + size, static_cast<int>(size));
    EXPECT_EQ(hex(numbers), row.signature) << row.curve << " " << row.text;
  }
}

// Checks slipway's own arithmetic with the openssl program.
TEST(SeededKeys, AreGoodKeys) {
  testing_support::RealTimeContext context;
  sys::RealRunner runner;
  sys::RealFiles files;
  const sys::TempDir folder = sys::TempDir::make("seeded").value();
  for (const auto& [type, words] : {std::pair{KeyType::p256, "Key is valid"}, {KeyType::rsa2048, "Key is valid"}}) {
    for (const std::string name : {"a", "b", "c"}) {
      const std::string path = folder.path() + "/key";
      ASSERT_TRUE(files.write(path, drawn(type, name).reveal(), 0600).ok());
      const auto said = runner.run(context.context(),
                                   {.argv = {"openssl", "pkey", "-in", path, "-check", "-text", "-noout"}, .limit = Seconds(60)});
      ASSERT_TRUE(said.ok());
      EXPECT_EQ(said->status, 0) << said->err;
      EXPECT_NE((said->out + said->err).find(words), std::string::npos) << said->out;
      if (type == KeyType::rsa2048) {
        EXPECT_NE(said->out.find("(2048 bit, 2 primes)"), std::string::npos) << said->out;
      }
    }
  }
}

}  // namespace
}  // namespace slipway::net
