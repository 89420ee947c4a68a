#include "diagnosis/redact.h"

#include "base/characters.h"
#include "base/digest.h"
#include "base/json.h"
#include "ignition/data_url.h"
#include "ignition/gzip.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace slipway::diagnosis {
namespace {

constexpr std::string_view password = R"(p@ss/w"o\rd &%)";
constexpr std::string_view token = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

std::string key() {
  return "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01\n"
         "oAoGCCqGSM49AwEHoUQDQgAEabcdefghijklmnopqr==\n-----END EC PRIVATE KEY-----\n";
}

std::string percent(std::string_view text) {
  return ignition::encode_data_url(text, ignition::DataEncoding::percent).substr(std::string_view("data:,").size());
}

std::string json(std::string_view text) { return emit_json(Json(text), JsonStyle::compact); }

std::string doubled(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

std::string systemd(std::string_view text) {
  std::string result;
  for (const char c : text)
    result += is_letter_or_digit(c) ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return result;
}

std::string wrapped(std::string_view text) {
  const std::string encoded = base64_encode(text);
  std::string result;
  for (std::size_t at = 0; at < encoded.size(); at += 64) result += "    " + encoded.substr(at, 64) + "\n";
  return result;
}

using Encode = std::function<std::string(std::string_view)>;
const std::map<std::string, Encode> encodings = {
    {"plain", [](std::string_view text) { return std::string(text); }},
    {"percent", percent},
    {"JSON", json},
    {"systemd, %%", doubled},
    {"systemd, \\x", systemd},
    {"base64", base64_encode},
    {"base64, one byte before", [](std::string_view text) { return base64_encode("a" + std::string(text) + "bc"); }},
    {"base64, two bytes before", [](std::string_view text) { return base64_encode("ab" + std::string(text) + "c"); }},
    {"base64 in lines", [](std::string_view text) { return "\n" + wrapped("many words before it: " + std::string(text)); }},
    {"base64 in lines, words behind it",
     [](std::string_view text) {
       const std::string lines = wrapped("many words before it, so that there are two lines: " + std::string(text));
       return "\n" + lines.substr(0, lines.size() - 1) + " .";
     }},
    {"base64 of gzip", [](std::string_view text) { return base64_encode(ignition::gzip(text).value()); }},
};

Redactor redactor() { return Redactor({Secret(std::string(password)), Secret(std::string(token)), Secret(key())}); }

TEST(Redactor, RemovesKnownValuesInEveryEncodingAndInNestedEncodings) {
  const Redactor all = redactor();
  for (const std::string_view secret : {password, token}) {
    for (const auto& [outer, encode_outer] : encodings) {
      for (const auto& [inner, encode_inner] : encodings) {
        const std::string hidden = encode_outer(encode_inner(secret));
        const std::string seen = all.redact("before " + hidden + " after");
        EXPECT_EQ(seen.find(hidden), std::string::npos) << inner << " in " << outer << ": " << seen;
        EXPECT_NE(seen.find("***"), std::string::npos) << inner << " in " << outer << ": " << seen;
        EXPECT_TRUE(seen.starts_with("before ") && seen.ends_with(" after")) << inner << " in " << outer << ": " << seen;
      }
    }
  }
}

TEST(Redactor, RemovesUnknownSecretsByTheirForm) {
  const Redactor none({});
  const std::string web_token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJlLW9mLWl0";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"a\n" + key() + "b", "a\n***\nb"},
      {"http://user:secret@proxy:3128/", "http://***@proxy:3128/"},
      {"ssh://core@host", "ssh://core@host"},
      {"token " + web_token + ".", "token ***."},
      {"Authorization: Bearer 0123456789abcdef0123", "Authorization: Bearer ***"},
      {"bearer tokens are refused", "bearer tokens are refused"},
      {R"({"auths":{"r":{"auth":"dTpw"}}})", R"({"auths":{"r":{"auth":"***"}}})"},
      {"auth: expired", "auth: expired"},
      {"    client-key-data: LS0t\n", "    client-key-data: ***\n"},
      {R"("passwordHash": "$6$abc")", R"("passwordHash": "***")"},
      {"kubeadmin $2a$10$abcdefghijklmnopqrstuv0123456789", "kubeadmin ***"},
      {R"({"source":"data:text/plain;base64,aGVsbG8=","mode":420})", R"({"source":"data:text/plain;base64,***","mode":420})"},
      {R"({"source":"data:,"})", R"({"source":"data:,"})"},
      {"metadata:,x", "metadata:,x"},
  };
  for (const auto& [text, wanted] : rows) EXPECT_EQ(none.redact(text), wanted);
  for (const auto& [name, encode] : encodings) {
    EXPECT_EQ(none.redact("x " + encode("a: " + key())).find(encode("a: " + key())), std::string::npos) << name;
  }
}

TEST(Redactor, FindsSingleLinesOfAKnownKey) {
  EXPECT_EQ(redactor().redact("x[1]: MHcCAQEEIAabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01\n"), "x[1]: ***\n");
}

TEST(Redactor, LeavesEverythingElse) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += fmt::format("Nov 24 12:00:{:02} master-0 kubelet[{}]: /var/lib/kubelet/pods/5ba3{:04x}/volumes \"100%\" \\ = {}\n",
                        i % 60, i, i, base64_encode(std::string(40, static_cast<char>('a' + i % 26))));
  EXPECT_EQ(redactor().redact(text), text);
  const std::string packed = ignition::gzip(text).value();
  EXPECT_EQ(redactor().redact(packed), packed);
}

TEST(Redactor, SearchesGzipAndOmitsBrokenGzip) {
  const std::string packed = ignition::gzip(fmt::format("one {} two", token)).value();
  EXPECT_EQ(ignition::gunzip(redactor().redact(packed), 1000).value(), "one *** two");
  EXPECT_EQ(ignition::gunzip(redactor().redact(packed + packed), 1000).value(), "one *** twoone *** two");
  EXPECT_TRUE(redactor().redact(packed.substr(0, packed.size() - 9)).starts_with("(omitted, "));
  EXPECT_TRUE(redactor().redact(ignition::gzip(packed).value()).starts_with("(omitted, "));
  EXPECT_EQ(redactor().redact("x " + base64_encode(packed.substr(0, packed.size() - 9))), "x ***");
}

TEST(Redactor, DoesNotLookForShortValues) { EXPECT_EQ(Redactor({Secret("short")}).redact("a short text"), "a short text"); }

}  // namespace
}  // namespace slipway::diagnosis
