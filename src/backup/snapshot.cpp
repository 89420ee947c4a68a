#include "backup/snapshot.h"

#include "base/digest.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace slipway::backup {

namespace {

// Layout of bbolt's files, little-endian (bbolt: internal/common/page.go, meta.go, bucket.go).
constexpr std::size_t page_header = 16, element_size = 16, bucket_header = 16, meta_size = 64;
constexpr std::uint16_t branch_page = 0x01, leaf_page = 0x02, meta_page = 0x04;
constexpr std::uint32_t bucket_entry = 0x01, magic = 0xED0CDAED, version = 2;
constexpr std::uint64_t smallest_page = 512, largest_page = 1 << 20;
constexpr int most_levels = 64;

constexpr std::size_t hash_size = 32, piece_size = 1 << 20;
constexpr std::string_view keys_bucket = "key";  // of etcd; its keys begin with the revision, 8 bytes big-endian

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[offset + i]));
  return value;
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes.substr(0, 8)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// FNV-1a, 64 bits.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

Error damaged(std::string_view what) { return error(Code::invalid, "not a complete database of etcd: {}", what); }

class Database {
 public:
  Database(std::ifstream& file, std::uint64_t size) : file_(file), size_(size) {}

  Result<SnapshotStatus> walk() {
    const std::uint64_t root = TRY(find_root());
    TRY(walk_page(root, 0, true, false));
    return status_;
  }

 private:
  Result<std::string> read(std::uint64_t offset, std::uint64_t size) {
    if (offset > size_ || size > size_ - offset) return damaged("a page is behind its end");
    std::string bytes(size, '\0');
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(bytes.data(), static_cast<std::streamsize>(size));
    if (!file_) return error(Code::unavailable, "the snapshot cannot be read");
    return bytes;
  }

  struct Meta {
    std::uint64_t page_size, root, transaction;
  };

  Result<std::optional<Meta>> read_meta(std::uint64_t offset) {
    if (size_ < page_header + meta_size || offset > size_ - page_header - meta_size) return std::optional<Meta>();
    const std::string page = TRY(read(offset, page_header + meta_size));
    const std::string_view meta = std::string_view(page).substr(page_header);
    const bool is_meta = (number_at<std::uint16_t>(page, 8) & meta_page) != 0 && number_at<std::uint32_t>(meta, 0) == magic &&
                         number_at<std::uint32_t>(meta, 4) == version &&
                         number_at<std::uint64_t>(meta, 56) == checksum(meta.substr(0, 56));
    const Meta found{number_at<std::uint32_t>(meta, 8), number_at<std::uint64_t>(meta, 16), number_at<std::uint64_t>(meta, 48)};
    const bool is_fine = is_meta && found.page_size >= smallest_page && found.page_size <= largest_page;
    return is_fine ? std::optional(found) : std::nullopt;
  }

  // The newer one of the two valid metas.
  Result<std::uint64_t> find_root() {
    std::optional<Meta> newest;
    for (std::uint64_t offset = 0; offset <= largest_page; offset = offset == 0 ? smallest_page : offset * 2) {
      const std::optional<Meta> meta = TRY(read_meta(offset));
      const bool is_at_its_place = meta && (offset == 0 || offset == meta->page_size);
      if (is_at_its_place && (!newest || meta->transaction > newest->transaction)) newest = meta;
    }
    if (!newest) return damaged("no valid meta page");
    page_size_ = newest->page_size;
    pages_left_ = size_ / page_size_;
    return newest->root;
  }

  Result<> walk_page(std::uint64_t id, int level, bool is_root_bucket, bool has_revisions) {
    if (level > most_levels || pages_left_ == 0 || id >= size_ / page_size_) return damaged("its pages form no tree");
    --pages_left_;
    const std::string first = TRY(read(id * page_size_, page_size_));
    const std::uint64_t overflow = number_at<std::uint32_t>(first, 12);
    if (overflow == 0) return walk_elements(first, level, is_root_bucket, has_revisions);
    const std::string whole = TRY(read(id * page_size_, (overflow + 1) * page_size_));
    return walk_elements(whole, level, is_root_bucket, has_revisions);
  }

  Result<> walk_elements(std::string_view page, int level, bool is_root_bucket, bool has_revisions) {
    const std::uint16_t flags = number_at<std::uint16_t>(page, 8), count = number_at<std::uint16_t>(page, 10);
    if ((flags & (branch_page | leaf_page)) == 0) return damaged("a page is neither branch nor leaf");
    if (page_header + count * element_size > page.size()) return damaged("a page has too many elements");
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = page_header + i * element_size;
      if ((flags & branch_page) != 0) {
        TRY(walk_page(number_at<std::uint64_t>(page, at + 8), level + 1, is_root_bucket, has_revisions));
        continue;
      }
      const std::uint64_t start = at + number_at<std::uint32_t>(page, at + 4), key_size = number_at<std::uint32_t>(page, at + 8),
                          value_size = number_at<std::uint32_t>(page, at + 12);
      if (start + key_size + value_size > page.size()) return damaged("an entry is behind the end of its page");
      const std::string_view key = page.substr(start, key_size), value = page.substr(start + key_size, value_size);
      if ((number_at<std::uint32_t>(page, at) & bucket_entry) != 0) {
        TRY(walk_bucket(value, level, is_root_bucket && key == keys_bucket));
      } else if (!is_root_bucket) {
        ++status_.keys;
        if (has_revisions && key.size() >= 8) status_.revision = std::max(status_.revision, big_endian(key));
      }
    }
    return Ok{};
  }

  Result<> walk_bucket(std::string_view value, int level, bool has_revisions) {
    if (value.size() < bucket_header) return damaged("a bucket is too small");
    const std::uint64_t root = number_at<std::uint64_t>(value, 0);
    if (root != 0) return walk_page(root, level + 1, false, has_revisions);
    // A small bucket is in its entry.
    if (level > most_levels || value.size() < bucket_header + page_header) return damaged("a bucket is too small");
    return walk_elements(value.substr(bucket_header), level + 1, false, has_revisions);
  }

  std::ifstream& file_;
  std::uint64_t size_;
  std::uint64_t page_size_ = 0;
  std::uint64_t pages_left_ = 0;  // so that a cycle ends
  SnapshotStatus status_;
};

Result<> check_hash(std::ifstream& file, std::uint64_t size) {
  Sha256 hash;
  std::string piece(piece_size, '\0');
  for (std::uint64_t left = size; left > 0;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(left, piece.size());
    if (!file.read(piece.data(), static_cast<std::streamsize>(wanted)))
      return error(Code::unavailable, "the snapshot cannot be read");
    hash.update(std::string_view(piece).substr(0, wanted));
    left -= wanted;
  }
  std::array<char, hash_size> stored{};
  if (!file.read(stored.data(), stored.size())) return error(Code::unavailable, "the snapshot cannot be read");
  if (hash.finish_hex() == hex({stored.data(), stored.size()})) return Ok{};
  return error(Code::invalid, "the content does not have the hash at its end");
}

}  // namespace

Result<SnapshotStatus> read_snapshot(const std::string& path) {
  std::error_code code;
  const std::uint64_t size = std::filesystem::file_size(path, code);
  if (code) return error(Code::not_found, "{}: {}", path, code.message());
  if (size % smallest_page != hash_size) return error(Code::invalid, "{}: not a snapshot with a hash at its end", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(Code::denied, "{}: {}", path, std::strerror(errno));
  TRY(check_hash(file, size - hash_size).context(path));
  SnapshotStatus status = TRY(Database(file, size - hash_size).walk().context(path));
  status.size = size;
  return status;
}

}  // namespace slipway::backup
