#include "release/ova.h"

#include "base/text.h"
#include "release/libarchive.h"

#include <algorithm>

namespace slipway::release {

namespace {

constexpr std::uint64_t largest_text = 1u << 20;
constexpr std::size_t block = 1u << 16;

Result<ArchiveReader> open_archive(const std::string& path) {
  ArchiveReader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  if (failed(archive_read_open_filename(reader.get(), path.c_str(), block))) {
    return error(Code::invalid, "{}: is not an OVA: {}", path, message_of(reader.get()));
  }
  return reader;
}

// The next entry; null at the end.
Result<archive_entry*> next_entry(archive* reader, const std::string& path) {
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(reader, &entry);
  if (status == ARCHIVE_EOF) return static_cast<archive_entry*>(nullptr);
  if (failed(status)) return error(Code::invalid, "{}: is not an OVA: {}", path, message_of(reader));
  return entry;
}

std::string name_of(archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  return name != nullptr ? to_utf8(name) : "";
}

Result<std::string> text_of(archive* reader, archive_entry* entry, const std::string& path) {
  const auto size = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
  const std::string name = name_of(entry);
  if (size > largest_text) return error(Code::invalid, "{}: {} has {}", path, name, human_size(size));
  std::string text(size, '\0');
  const la_ssize_t got = archive_read_data(reader, text.data(), text.size());
  if (got < 0) return error(Code::invalid, "{}: {}: {}", path, name, message_of(reader));
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace

Result<Ova> read_ova(const std::string& path) {
  const ArchiveReader reader = TRY(open_archive(path));
  Ova found;
  while (archive_entry* entry = TRY(next_entry(reader.get(), path))) {
    const std::string name = name_of(entry);
    if (name.ends_with(".ovf")) {
      found.descriptor = TRY(text_of(reader.get(), entry, path));
    } else if (name.ends_with(".mf")) {
      found.manifest = TRY(text_of(reader.get(), entry, path));
    } else if (!name.ends_with(".cert")) {
      found.files.push_back({name, static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0))});
    }
  }
  if (found.descriptor.empty()) return error(Code::invalid, "{}: is not an OVA: it has no file .ovf", path);
  return found;
}

std::vector<OvaDigest> parse_ova_manifest(std::string_view text) {
  std::vector<OvaDigest> digests;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t open = line.find('('), close = line.rfind(')'), equals = line.rfind('=');
    if (open == std::string_view::npos || close == std::string_view::npos || equals == std::string_view::npos) continue;
    if (close < open || equals < close) continue;
    digests.push_back({std::string(line.substr(open + 1, close - open - 1)), to_lower(trim(line.substr(0, open))),
                       to_lower(trim(line.substr(equals + 1)))});
  }
  return digests;
}

struct OvaStream::State {
  std::string path;
  ArchiveReader reader;
};

OvaStream::OvaStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
OvaStream::OvaStream(OvaStream&&) noexcept = default;
OvaStream& OvaStream::operator=(OvaStream&&) noexcept = default;
OvaStream::~OvaStream() = default;

Result<OvaStream> OvaStream::open(const std::string& path, const std::string& name) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->reader = TRY(open_archive(path));
  while (archive_entry* entry = TRY(next_entry(state->reader.get(), path))) {
    if (name_of(entry) == name) return OvaStream(std::move(state));
  }
  return error(Code::not_found, "{}: has no file {}", path, name);
}

Result<std::size_t> OvaStream::read(char* buffer, std::size_t size) {
  const la_ssize_t got = archive_read_data(state_->reader.get(), buffer, size);
  if (got < 0) return error(Code::invalid, "{}: {}", state_->path, message_of(state_->reader.get()));
  return static_cast<std::size_t>(got);
}

}  // namespace slipway::release
