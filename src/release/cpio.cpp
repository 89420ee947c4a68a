#include "release/cpio.h"

#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace slipway::release {

namespace {

constexpr std::string_view magic = "070701", trailer = "TRAILER!!!";
constexpr std::size_t header_size = 110, field_size = 8;
constexpr std::size_t size_field = 6, name_size_field = 11;  // numbers of fields after the magic
constexpr unsigned regular_file = 0100000;

std::size_t padding_of(std::uint64_t size) { return static_cast<std::size_t>((4 - size % 4) % 4); }

std::string header(std::string_view name, unsigned mode, std::uint64_t size) {
  // Number of the file, mode, links, owner, group, time, size, four numbers of devices, size of the name, checksum.
  std::string text = fmt::format("{}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}", magic, 0,
                                 mode, 1, 0, 0, 0, size, 0, 0, 0, 0, name.size() + 1, 0);
  text += name;
  text += '\0';
  return text.append(padding_of(text.size()), '\0');
}

// A field of a header.
std::optional<std::uint64_t> number(std::string_view archive, std::size_t field) {
  return parse_number<std::uint64_t>(archive.substr(magic.size() + field * field_size, field_size), 16);
}

}  // namespace

Result<std::string> cpio_header(std::string_view name, unsigned permissions, std::uint64_t size) {
  if (size > std::numeric_limits<std::uint32_t>::max())
    return error(Code::too_large, "{}: has {} bytes, an archive for the kernel can have less than 4 GiB", name, size);
  return header(name, regular_file | permissions, size);
}

std::string cpio_padding(std::uint64_t size) { return std::string(padding_of(size), '\0'); }

std::string cpio_trailer() { return header(trailer, 0, 0); }

Result<std::optional<std::string>> find_in_cpio(std::string_view archive, std::string_view name) {
  const Error cut_off = error(Code::invalid, "the cpio archive is cut off");
  std::size_t at = 0;
  while (archive.substr(at).starts_with(magic)) {
    const std::string_view rest = archive.substr(at);
    if (rest.size() < header_size) return cut_off;
    const auto size = number(rest, size_field), name_size = number(rest, name_size_field);
    if (!size || !name_size || *name_size == 0 || *name_size > rest.size() - header_size) return cut_off;
    const std::string_view found = rest.substr(header_size, static_cast<std::size_t>(*name_size) - 1);
    std::size_t begin = header_size + static_cast<std::size_t>(*name_size);
    begin += padding_of(begin);
    if (begin > rest.size() || *size > rest.size() - begin) return cut_off;
    if (found == trailer) break;
    if (found == name) return std::optional(std::string(rest.substr(begin, static_cast<std::size_t>(*size))));
    at += begin + static_cast<std::size_t>(*size) + padding_of(*size);
    if (at > archive.size()) return cut_off;
  }
  return std::optional<std::string>();
}

}  // namespace slipway::release
