#include "release/layer_tree.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"
#include "release/blob_file.h"
#include "release/libarchive.h"
#include "release/tree_writer.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace slipway::release {

namespace {

constexpr std::size_t piece_size = 256 << 10;
constexpr std::string_view whiteout = ".wh.";
constexpr std::string_view aufs = ".wh..wh.";
constexpr std::string_view opaque = ".wh..wh..opq";

// The bytes of an archive without compression, hashed while they are read.
class Unpacked {
 public:
  static Result<Unpacked> open(const std::string& path) {
    TRY(BlobReader::open(path));  // for its error: that of the archive has no path
    Unpacked unpacked;
    archive* a = unpacked.archive_.get();
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_format_raw(a);
    archive_read_support_format_empty(a);
    archive_entry* entry = nullptr;
    if (failed(archive_read_open_filename(a, path.c_str(), piece_size))) return unpacked.failure();
    const int status = archive_read_next_header(a, &entry);
    unpacked.is_empty_ = status == ARCHIVE_EOF;
    if (failed(status) && !unpacked.is_empty_) return unpacked.failure();
    return unpacked;
  }

  // The next piece; empty at the end.
  Result<std::string_view> read() {
    if (is_empty_) return std::string_view();
    const la_ssize_t size = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
    if (size < 0) return failure();
    const std::string_view piece = std::string_view(buffer_).substr(0, static_cast<std::size_t>(size));
    hash_.update(piece);
    return piece;
  }

  // Call once: reads what is left.
  Result<Digest> finish() {
    for (;;) {
      const std::string_view piece = TRY(read());
      if (piece.empty()) return Digest::from_hex(hash_.finish_hex());
    }
  }

 private:
  Unpacked() : archive_(archive_read_new()), buffer_(piece_size, '\0') { CHECK(archive_ != nullptr); }
  Error failure() const { return error(Code::invalid, "{}", message_of(archive_.get())); }

  ArchiveReader archive_;
  Sha256 hash_;
  std::string buffer_;
  bool is_empty_ = false;
};

la_ssize_t read_piece(archive* a, void* unpacked, const void** piece) {
  const Result<std::string_view> next = static_cast<Unpacked*>(unpacked)->read();
  if (!next.ok()) return archive_set_error(a, 0, "%s", next.error().message().c_str()), ARCHIVE_FATAL;
  *piece = next->data();
  return static_cast<la_ssize_t>(next->size());
}

Error refusal(std::string_view name, std::string_view reason) { return error(Code::invalid, "{}: {}", to_utf8(name), reason); }

// "./a//b/" is "a/b".
Result<std::string> path_of(std::string_view name) {
  std::string path;
  if (name.empty()) return refusal("''", "is not a name");
  for (const std::string_view part : split(name, '/')) {
    if (part == "..") return refusal(name, "'..' is not allowed in names");
    if (part.empty() || part == ".") continue;
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

// What an entry does to the tree.
enum class Action { put, remove, empty, nothing };
struct Change {
  Action action = Action::nothing;
  std::string path;
};

Result<Change> change_of(std::string_view entry_name) {
  const std::string path = TRY(path_of(entry_name));
  const std::string folder = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  const std::vector<std::string_view> parts = split(path, '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    const std::string_view part = parts[i];
    if (!part.starts_with(whiteout)) continue;
    if (is_last && part == opaque) return Change{Action::empty, folder};
    if (part.starts_with(aufs)) return Change{Action::nothing, path};
    if (!is_last) return refusal(entry_name, "a whiteout is not a directory");
    const std::string_view name = part.substr(whiteout.size());
    if (name.empty() || name == "." || name == "..") return refusal(entry_name, "is a whiteout of nothing");
    return Change{Action::remove, (folder.empty() ? "" : folder + "/") + std::string(name)};
  }
  return Change{Action::put, path};
}

class Layer {
 public:
  Layer(const sys::Context& context, const LayerFile& layer, Unpacked& unpacked, TreeWriter& tree)
      : context_(context), layer_(layer), archive_(archive_read_new()), tree_(tree) {
    CHECK(archive_ != nullptr);
    archive_read_support_format_tar(archive_.get());
    archive_read_open(archive_.get(), &unpacked, nullptr, read_piece, nullptr);  // an error is that of the first entry
  }

  Result<> apply() {
    for (;;) {
      TRY(check_stop());
      archive_entry* entry = nullptr;
      const int status = archive_read_next_header(archive_.get(), &entry);
      if (status == ARCHIVE_EOF) return Ok{};
      if (failed(status)) return failure();
      TRY(apply_entry(entry));
    }
  }

 private:
  Error failure() const { return error(Code::invalid, "{}", message_of(archive_.get())); }

  Result<> check_stop() const {
    if (!context_.stop.stop_requested()) return Ok{};
    return error(Code::cancelled, "stopped");
  }

  Result<> apply_entry(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    Change change = TRY(change_of(name != nullptr ? name : ""));
    const bool is_device = archive_entry_hardlink(entry) == nullptr && archive_entry_filetype(entry) == AE_IFCHR;
    if (change.action == Action::put && is_device && archive_entry_rdevmajor(entry) == 0 && archive_entry_rdevminor(entry) == 0)
      change.action = Action::remove;
    if (change.action == Action::nothing || (layer_.wanted && !layer_.wanted(change.path))) return Ok{};
    if (change.action == Action::empty) return tree_.empty_old(change.path);
    if (change.action == Action::put) return put(entry, change.path);
    if (change.path.empty()) return refusal(".", "the root of a tree must be a directory");
    return tree_.remove_old(change.path);
  }

  Result<> put(archive_entry* entry, const std::string& path) {
    if (const char* target = archive_entry_hardlink(entry)) {
      const std::string target_path = TRY(path_of(target).context(to_utf8(path)));
      return tree_.put_hard_link(path, target_path);
    }
    const TreeAttributes attributes = TRY(attributes_of(entry, path));
    switch (archive_entry_filetype(entry)) {
      case AE_IFREG:
        return tree_.put_file(path, attributes, static_cast<std::uint64_t>(archive_entry_size(entry)),
                              [&](const TreeWriter::Write& write) { return copy_content(write); });
      case AE_IFDIR: return tree_.put_directory(path, attributes);
      case AE_IFLNK: {
        const char* target = archive_entry_symlink(entry);
        return tree_.put_symbolic_link(path, target != nullptr ? target : "", attributes);
      }
      case AE_IFCHR:
      case AE_IFBLK: return refusal(path, "is a device, which an OSTree commit cannot hold");
      case AE_IFIFO: return refusal(path, "is a fifo, which an OSTree commit cannot hold");
      case AE_IFSOCK: return refusal(path, "is a socket, which an OSTree commit cannot hold");
      default: return refusal(path, "is an entry of an unknown kind");
    }
  }

  static Result<TreeAttributes> attributes_of(archive_entry* entry, const std::string& path) {
    constexpr la_int64_t largest = std::numeric_limits<std::uint32_t>::max() - 1;  // the next one means "unchanged" to chown
    const la_int64_t owner = archive_entry_uid(entry), group = archive_entry_gid(entry);
    if (owner < 0 || owner > largest || group < 0 || group > largest)
      return refusal(path, fmt::format("has an impossible owner, {}:{}", owner, group));
    TreeAttributes attributes{.owner = static_cast<std::uint32_t>(owner),
                              .group = static_cast<std::uint32_t>(group),
                              .mode = archive_entry_perm(entry)};
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    archive_entry_xattr_reset(entry);
    while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
      if (name != nullptr) attributes.xattrs[name] = std::string(static_cast<const char*>(value), size);
    }
    return attributes;
  }

  Result<> copy_content(const TreeWriter::Write& write) {
    const void* piece = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    for (;;) {
      TRY(check_stop());
      const int status = archive_read_data_block(archive_.get(), &piece, &size, &offset);
      if (status == ARCHIVE_EOF) return Ok{};
      if (failed(status)) return failure();
      TRY(write(static_cast<std::uint64_t>(offset), {static_cast<const char*>(piece), size}));
    }
  }

  const sys::Context& context_;
  const LayerFile& layer_;
  ArchiveReader archive_;
  TreeWriter& tree_;
};

Result<> apply(const sys::Context& context, const LayerFile& layer, const std::string& tree) {
  TreeWriter writer = TRY(TreeWriter::open(tree));
  Unpacked unpacked = TRY(Unpacked::open(layer.path));
  TRY(Layer(context, layer, unpacked, writer).apply());
  const Digest digest = TRY(unpacked.finish());
  if (!layer.diff_id || digest == *layer.diff_id) return Ok{};
  return error(Code::invalid, "digest mismatch: the unpacked content has {}, expected {}", digest.text(), layer.diff_id->text());
}

}  // namespace

Result<> apply_layer(const sys::Context& context, const LayerFile& layer, const std::string& tree) {
  return apply(context, layer, tree).context("layer " + layer.path);
}

}  // namespace slipway::release
