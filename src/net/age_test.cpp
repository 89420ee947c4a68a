#include "net/age.h"

#include "support/seeded_random.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::net {
namespace {

// Keys that age-keygen made for these tests.
constexpr const char* public_key = "age1s9marweutrjcagu829q9htzn5ml5fltqz0e065wyrr0tcu85tuuqe5t6r9";
constexpr const char* other_public_key = "age1ucy896dnc5jqja4fk9w3pchtt4hr8htv4cp0s9jq48mypznq2pxstp2l78";
const Secret private_key("# created: today\nAGE-SECRET-KEY-15V77XJC4VQUKHND3RYF6RQL7ALK7QEP5K66LKPH846LN20ZUR3SQMLGNKT\n");
const Secret other_private_key("AGE-SECRET-KEY-1PH7AD2HCQ4GVN6MP50Q52L3WQ3QWXWEK8K36A2QKTUYHTG50A95QUAPVWU");

class AgeTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  Result<> encrypt(const std::string& content, const std::vector<std::string>& recipients) {
    TRY(files.write(path("plain"), content, 0600));
    return encrypt_file(files, random, path("plain"), path("sealed"), recipients);
  }
  Result<std::string> decrypt(const Secret& identities) {
    TRY(decrypt_file(files, path("sealed"), path("opened"), identities));
    return files.read(path("opened"));
  }

  sys::RealFiles files;
  testing_support::SeededRandom random{1};
  sys::TempDir folder = sys::TempDir::make("age-test").value();
};

TEST_F(AgeTest, ContentOfAnySizeComesBack) {
  for (const std::size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 131'072u, 3'000'000u}) {
    const std::string content = random.bytes(size).value();
    ASSERT_TRUE(encrypt(content, {public_key, other_public_key}).ok());
    for (const Secret* key : {&private_key, &other_private_key}) {
      const Result<std::string> opened = decrypt(*key);
      ASSERT_TRUE(opened.ok()) << size << ": " << opened.error().message();
      EXPECT_TRUE(opened.value() == content) << size;
    }
    EXPECT_EQ(files.info(path("sealed")).value()->mode, 0600u);
    EXPECT_EQ(files.info(path("opened")).value()->mode, 0600u);
  }
}

TEST_F(AgeTest, ADamagedFileIsRefusedAndNothingIsLeft) {
  ASSERT_TRUE(encrypt(std::string(200'000, 'x'), {public_key}).ok());
  const std::string whole = files.read(path("sealed")).value();
  const std::size_t body = whole.find("\n--- ") + 1;
  struct Case {
    const char* what;
    std::string content;
    Code code;
  };
  const auto changed = [&](std::size_t at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 1);
    return other;
  };
  const std::vector<Case> cases = {
      {"a changed byte", changed(whole.size() - 100'000), Code::invalid},
      {"a changed end", changed(whole.size() - 1), Code::invalid},
      {"a changed header", changed(body + 6), Code::invalid},
      {"cut off", whole.substr(0, whole.size() - 1), Code::invalid},
      {"cut off between two chunks", whole.substr(0, whole.find('\n', body) + 1 + 16 + 65'552), Code::invalid},
      {"only a header", whole.substr(0, body), Code::invalid},
      {"more behind its end", whole + "x", Code::invalid},
      {"another file", "no header", Code::invalid},
      {"empty", "", Code::invalid},
  };
  for (const Case& c : cases) {
    ASSERT_TRUE(files.write(path("sealed"), c.content, 0600).ok());
    const Result<std::string> opened = decrypt(private_key);
    ASSERT_FALSE(opened.ok()) << c.what;
    EXPECT_EQ(opened.error().code(), c.code) << c.what << ": " << opened.error().message();
    EXPECT_FALSE(files.info(path("opened")).value()) << c.what;
  }
}

TEST_F(AgeTest, OtherKeysAreRefusedByName) {
  ASSERT_TRUE(encrypt("text", {public_key}).ok());
  EXPECT_EQ(decrypt(other_private_key).error().code(), Code::denied);
  EXPECT_EQ(decrypt(Secret("# nothing\n")).error().code(), Code::invalid);
  EXPECT_EQ(decrypt(Secret(public_key)).error().code(), Code::invalid);
  std::string misspelled = public_key;
  misspelled[10] = misspelled[10] == 'q' ? 'p' : 'q';
  for (const std::string& key :
       {misspelled, std::string("age1"), std::string("ssh-ed25519 AAAA"), std::string(public_key) + "q"}) {
    const Result<> checked = check_age_recipient(key);
    ASSERT_FALSE(checked.ok()) << key;
    EXPECT_NE(checked.error().message().find("age-keygen"), std::string::npos);
    EXPECT_FALSE(encrypt("text", {key}).ok()) << key;
  }
  EXPECT_TRUE(check_age_recipient(public_key).ok());
  EXPECT_FALSE(encrypt("text", {}).ok());
}

}  // namespace
}  // namespace slipway::net
