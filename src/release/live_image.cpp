#include "release/live_image.h"

#include "base/text.h"
#include "release/cpio.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace slipway::release {

namespace {

constexpr std::string_view config_name = "usr/lib/ignition/user.ign";  // where Ignition looks in the initramfs
constexpr std::size_t initrd_unit = 512;                               // of initrds that follow each other

// ISO 9660, ECMA-119 8.4 and 9.1.
constexpr std::size_t sector = 2048, first_descriptor = 16, root_record = 156;
constexpr std::size_t most_bytes_of_a_folder = 1 << 20;
constexpr unsigned is_folder = 2, has_more_extents = 128;

struct Entry {
  Extent extent{};
  bool is_folder = false;
};

unsigned at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

std::uint64_t number(std::string_view bytes, std::size_t i) {
  return at(bytes, i) | at(bytes, i + 1) << 8 | at(bytes, i + 2) << 16 | std::uint64_t{at(bytes, i + 3)} << 24;
}

Error not_live(std::string_view why) {
  return error(Code::invalid,
               "not a live image of slipway: {} (make one with slipway image create --platform metal --format iso)", why);
}

// A record of a folder, of at least 34 bytes.
Entry entry_of(std::string_view record) {
  return {.extent = {number(record, 2) * sector, number(record, 10)}, .is_folder = (at(record, 25) & is_folder) != 0};
}

Result<std::string> read_exactly(const ReadAt& read, const Extent& extent) {
  std::string bytes = TRY(read(extent.offset, static_cast<std::size_t>(extent.length)));
  if (bytes.size() != extent.length) return not_live("the file is cut off");
  return bytes;
}

// "IGNITION.IMG;1" is the name of ignition.img.
std::string plain_name(std::string_view name) {
  std::string plain = to_lower(name.substr(0, name.find(';')));
  if (plain.ends_with('.')) plain.pop_back();
  return plain;
}

Result<std::optional<Entry>> find_in_folder(const ReadAt& read, const Extent& folder, std::string_view name) {
  constexpr std::size_t smallest = 34;
  if (folder.length > most_bytes_of_a_folder) return not_live("a folder is too large");
  const std::string bytes = TRY(read_exactly(read, folder));
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const std::size_t length = at(rest, 0);
    if (length == 0) {  // records do not cross the end of a sector
      const std::size_t used = bytes.size() - rest.size();
      rest.remove_prefix(std::min(rest.size(), sector - used % sector));
      continue;
    }
    if (length < smallest || length > rest.size() || smallest - 1 + at(rest, 32) > length) return not_live("a folder is broken");
    if (plain_name(rest.substr(33, at(rest, 32))) == name) {
      if ((at(rest, 25) & has_more_extents) != 0) return not_live(fmt::format("{} has several parts", name));
      return std::optional(entry_of(rest));
    }
    rest.remove_prefix(length);
  }
  return std::optional<Entry>();
}

// The files of an image by their paths: "images/vmlinuz".
class Iso {
 public:
  static Result<Iso> open(const ReadAt& read) {
    const std::string descriptor = TRY(read(first_descriptor * sector, sector));
    if (descriptor.size() != sector || descriptor.substr(0, 7) != std::string_view("\x01"
                                                                                   "CD001\x01",
                                                                                   7))
      return not_live("the file is no ISO image");
    return Iso(read, entry_of(std::string_view(descriptor).substr(root_record)).extent);
  }

  Result<std::optional<Extent>> find(std::string_view path) const {
    Entry found{.extent = root_, .is_folder = true};
    for (const std::string_view part : split(path, '/')) {
      if (!found.is_folder) return std::optional<Extent>();
      const std::optional<Entry> next = TRY(find_in_folder(read_, found.extent, part));
      if (!next) return std::optional<Extent>();
      found = *next;
    }
    return std::optional(found.extent);
  }

  Result<Extent> require(std::string_view path) const {
    const std::optional<Extent> found = TRY(find(path));
    if (!found) return not_live(fmt::format("it has no {}", path));
    return *found;
  }

 private:
  Iso(const ReadAt& read, Extent root) : read_(read), root_(root) {}

  const ReadAt& read_;
  Extent root_;
};

Result<Extent> config_area(const Iso& iso) {
  constexpr std::uint64_t largest = 64 << 20;
  const Extent area = TRY(iso.require("images/ignition.img"));
  if (area.length == 0 || area.length > largest) return not_live("its area for a config has a wrong size");
  return area;
}

// Of the line "linux FILE ARGUMENTS" of a configuration of GRUB.
Result<std::string> arguments_in(std::string_view configuration) {
  for (const std::string_view line : split(configuration, '\n')) {
    std::string_view words = trim(line);
    if (!words.starts_with("linux ")) continue;
    words = trim(words.substr(words.find(' ')));
    const std::size_t blank = words.find(' ');
    return std::string(blank == std::string_view::npos ? "" : trim(words.substr(blank)));
  }
  return not_live("grub/grub.cfg starts no kernel");
}

}  // namespace

Result<Extent> find_config_area(const ReadAt& read) { return config_area(TRY(Iso::open(read))); }

Result<LiveImage> read_live_image(const ReadAt& read, std::uint64_t size) {
  constexpr std::uint64_t largest_configuration = 1 << 20;
  const Iso iso = TRY(Iso::open(read));
  LiveImage image{.size = size};
  image.config = TRY(config_area(iso));
  image.kernel = TRY(iso.require("images/vmlinuz"));
  image.initramfs = TRY(iso.require("images/initramfs.img"));
  image.root = TRY(iso.require("images/root.squashfs"));
  const Extent configuration = TRY(iso.require("grub/grub.cfg"));
  if (configuration.length > largest_configuration) return not_live("grub/grub.cfg is too large");
  image.kernel_arguments = TRY(arguments_in(TRY(read_exactly(read, configuration))));
  image.has_disk_image = TRY(iso.find("images/disk.raw.zst")).has_value();
  for (const Extent& part : {image.config, image.kernel, image.initramfs, image.root}) {
    if (part.offset > size || part.length > size - part.offset) return not_live("the file is cut off");
  }
  return image;
}

Result<std::string> config_initrd(std::string_view config) {
  std::string archive = TRY(cpio_header(config_name, 0600, config.size()));
  archive += config;
  archive += cpio_padding(config.size());
  archive += cpio_trailer();
  return archive.append((initrd_unit - archive.size() % initrd_unit) % initrd_unit, '\0');
}

Result<std::string> embed_config(std::string_view config, std::uint64_t length) {
  std::string area = TRY(config_initrd(config));
  if (area.size() > length) {
    return error(Code::too_large, "the config has {} bytes, a live image has room for {} (serve large files, and refer to them)",
                 config.size(), length - std::min<std::uint64_t>(area.size() - config.size(), length));
  }
  area.resize(static_cast<std::size_t>(length), '\0');
  return area;
}

Result<std::string> embedded_config(std::string_view area) {
  std::optional<std::string> found = TRY(find_in_cpio(area, config_name).context("the config area of the live image"));
  return std::move(found).value_or("");
}

}  // namespace slipway::release
