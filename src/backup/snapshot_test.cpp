#include "backup/snapshot.h"

#include "base/digest.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::backup {
namespace {

// A small database: two meta pages, a root bucket with bucket "key" on a branch and two leaves, and an inline bucket "meta".
constexpr std::size_t page_size = 512;

template <class T>
void put(std::string& page, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) page[at + i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

std::string page(std::uint64_t id, std::uint16_t flags, std::uint16_t count) {
  std::string made(page_size, '\0');
  put(made, 0, id);
  put(made, 8, flags);
  put(made, 10, count);
  return made;
}

std::string meta(std::uint64_t id, std::uint64_t transaction, std::uint64_t root) {
  std::string made = page(id, 0x04, 0);
  put<std::uint32_t>(made, 16, 0xED0CDAED);
  put<std::uint32_t>(made, 20, 2);
  put<std::uint32_t>(made, 24, page_size);
  put<std::uint64_t>(made, 32, root);
  put<std::uint64_t>(made, 64, transaction);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 16; i < 72; ++i) hash = (hash ^ static_cast<unsigned char>(made[i])) * 0x100000001b3;
  put(made, 72, hash);
  return made;
}

struct Entry {
  std::string key, value;
  std::uint32_t flags = 0;
};

std::string leaf(std::uint64_t id, const std::vector<Entry>& entries, std::size_t size = page_size) {
  std::string made = page(id, 0x02, static_cast<std::uint16_t>(entries.size()));
  made.resize(size);
  std::size_t data = 16 + 16 * entries.size();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t at = 16 + 16 * i;
    put(made, at, entries[i].flags);
    put<std::uint32_t>(made, at + 4, static_cast<std::uint32_t>(data - at));
    put<std::uint32_t>(made, at + 8, static_cast<std::uint32_t>(entries[i].key.size()));
    put<std::uint32_t>(made, at + 12, static_cast<std::uint32_t>(entries[i].value.size()));
    const std::string text = entries[i].key + entries[i].value;
    made.replace(data, text.size(), text);
    data += text.size();
  }
  return made;
}

std::string branch(std::uint64_t id, const std::vector<std::uint64_t>& children) {
  std::string made = page(id, 0x01, static_cast<std::uint16_t>(children.size()));
  for (std::size_t i = 0; i < children.size(); ++i) put(made, 16 + 16 * i + 8, children[i]);
  return made;
}

std::string revision(std::uint64_t main) {
  std::string key(17, '\0');
  for (std::size_t i = 0; i < 8; ++i) key[7 - i] = static_cast<char>(main >> (8 * i));
  key[8] = '_';
  return key;
}

std::string bucket(std::uint64_t root) {
  std::string value(16, '\0');
  put(value, 0, root);
  return value;
}

std::string database(std::uint64_t newest_root = 2) {
  const std::string small = bucket(0) + leaf(0, {{"a", "1"}, {"b", "2"}}, 64);
  return meta(0, 7, newest_root) + meta(1, 6, 99) + leaf(2, {{"key", bucket(3), 1}, {"meta", small, 1}}) + branch(3, {4, 5}) +
         leaf(4, {{revision(2), "x"}, {revision(3), "y"}}) + leaf(5, {{revision(300), "z"}});
}

std::string with_hash(const std::string& content) {
  const std::string hex = sha256_hex(content);
  std::string made = content;
  for (std::size_t i = 0; i < hex.size(); i += 2) made += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return made;
}

struct SnapshotTest : testing::Test {
  Result<SnapshotStatus> read(const std::string& content) {
    EXPECT_TRUE(files.write(path, content, 0600).ok());
    return read_snapshot(path);
  }
  std::string problem(const std::string& content) {
    const Result<SnapshotStatus> status = read(content);
    return status.ok() ? "" : status.error().message();
  }

  sys::RealFiles files;
  sys::TempDir folder = sys::TempDir::make("snapshot-test").value();
  std::string path = folder.path() + "/snapshot.db";
};

TEST_F(SnapshotTest, RevisionAndKeysAreRead) {
  const std::string content = with_hash(database());
  const Result<SnapshotStatus> status = read(content);
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_EQ(status.value(), (SnapshotStatus{.size = content.size(), .revision = 300, .keys = 5}));
}

TEST_F(SnapshotTest, DamageIsFound) {
  std::string changed = with_hash(database());
  changed[page_size * 4 + 100] ^= 1;
  const std::string no_meta = std::string(2 * page_size, '\0') + database().substr(2 * page_size);
  std::string cycle = database();
  cycle.replace(3 * page_size, page_size, branch(3, {3, 3}));
  std::string behind = database();
  put<std::uint32_t>(behind, 4 * page_size + 16 + 8, 100'000);
  std::string crowded = database();
  put<std::uint16_t>(crowded, 4 * page_size + 10, 5000);
  struct Case {
    std::string content;
    const char* problem;
  };
  const std::vector<Case> cases = {{"", "not a snapshot"},
                                   {database(), "not a snapshot with a hash at its end"},
                                   {changed, "the content does not have the hash at its end"},
                                   {with_hash(no_meta), "no valid meta page"},
                                   {with_hash(database(99)), "its pages form no tree"},
                                   {with_hash(database(0)), "a page is neither branch nor leaf"},
                                   {with_hash(cycle), "its pages form no tree"},
                                   {with_hash(behind), "an entry is behind the end of its page"},
                                   {with_hash(crowded), "a page has too many elements"}};
  for (const Case& c : cases) EXPECT_NE(problem(c.content).find(c.problem), std::string::npos) << problem(c.content);
  EXPECT_EQ(read_snapshot(folder.path() + "/none").error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::backup
