#include "release/ova.h"

#include "release/libarchive.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace slipway::release {
namespace {

class OvaTest : public testing::Test {
 protected:
  OvaTest() { std::filesystem::create_directories(folder); }
  ~OvaTest() override { std::filesystem::remove_all(folder); }

  void write(const std::vector<std::pair<std::string, std::string>>& files) {
    archive* writer = archive_write_new();
    archive_write_set_format_ustar(writer);
    archive_write_open_filename(writer, path.c_str());
    for (const auto& [name, content] : files) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, name.c_str());
      archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      archive_write_header(writer, entry);
      archive_write_data(writer, content.data(), content.size());
      archive_entry_free(entry);
    }
    archive_write_free(writer);
  }

  const std::string folder = testing::TempDir() + "ova-" + std::to_string(::getpid());
  const std::string path = folder + "/machine.ova";
};

TEST_F(OvaTest, ReadsDescriptorManifestAndDisks) {
  const std::string disk(200'000, 'x');
  write({{"machine.ovf", "<Envelope/>"}, {"machine.mf", "SHA256(disk.vmdk)= AB12\n"}, {"disk.vmdk", disk}});
  const Result<Ova> ova = read_ova(path);
  ASSERT_TRUE(ova.ok()) << ova.error().message();
  EXPECT_EQ(ova->descriptor, "<Envelope/>");
  ASSERT_EQ(ova->files.size(), 1u);
  EXPECT_EQ(ova->files[0].name, "disk.vmdk");
  EXPECT_EQ(ova->files[0].size, disk.size());
  const std::vector<OvaDigest> digests = parse_ova_manifest(ova->manifest);
  ASSERT_EQ(digests.size(), 1u);
  EXPECT_EQ(digests[0].file + digests[0].algorithm + digests[0].digest, "disk.vmdksha256ab12");
  Result<OvaStream> stream = OvaStream::open(path, "disk.vmdk");
  ASSERT_TRUE(stream.ok());
  std::string content;
  for (char buffer[7000];;) {
    const std::size_t got = stream->read(buffer, sizeof buffer).value();
    if (got == 0) break;
    content.append(buffer, got);
  }
  EXPECT_EQ(content, disk);
  EXPECT_EQ(OvaStream::open(path, "other.vmdk").error().code(), Code::not_found);
}

TEST_F(OvaTest, RefusesOtherFiles) {
  write({{"disk.vmdk", "x"}});
  EXPECT_EQ(read_ova(path).error().code(), Code::invalid);
  std::ofstream(path) << "not an archive";
  EXPECT_EQ(read_ova(path).error().code(), Code::invalid);
  EXPECT_EQ(read_ova(folder + "/none").error().code(), Code::invalid);
}

TEST_F(OvaTest, LeavesOutOtherLinesOfTheManifest) {
  EXPECT_TRUE(parse_ova_manifest("").empty());
  EXPECT_TRUE(parse_ova_manifest("text\n)=(\nSHA1 a = b\n").empty());
}

}  // namespace
}  // namespace slipway::release
