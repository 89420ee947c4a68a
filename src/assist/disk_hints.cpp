#include "assist/disk_hints.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace slipway::assist {

namespace {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;  // as Ironic counts, which defines these hints

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct TextHint {
  std::string_view name;
  bool (*matches)(const Disk& disk, std::string_view wanted);
};

constexpr std::array text_hints = {
    TextHint{"deviceName",
             [](const Disk& disk, std::string_view wanted) {
               return disk.path == wanted || disk.by_path == wanted || disk.by_id == wanted || disk.id == wanted;
             }},
    TextHint{"hctl", [](const Disk& disk, std::string_view wanted) { return disk.hctl == wanted; }},
    TextHint{"model", [](const Disk& disk, std::string_view wanted) { return contains(disk.model, wanted); }},
    TextHint{"vendor", [](const Disk& disk, std::string_view wanted) { return contains(disk.vendor, wanted); }},
    TextHint{"serialNumber", [](const Disk& disk, std::string_view wanted) { return disk.serial == wanted; }},
    // The extension of the vendor follows.
    TextHint{"wwn", [](const Disk& disk, std::string_view wanted) { return disk.wwn.starts_with(wanted); }},
};

bool matches(const Disk& disk, const Json& hints) {
  for (const TextHint& hint : text_hints) {
    const std::string wanted = text_of(hints, {hint.name});
    if (!wanted.empty() && !hint.matches(disk, wanted)) return false;
  }
  const int gigabytes = integer_of(hints, {"minSizeGigabytes"});
  if (gigabytes > 0 && disk.size_bytes / gigabyte < static_cast<std::uint64_t>(gigabytes)) return false;
  const Json* rotational = find(hints, {"rotational"});
  return !rotational || !rotational->is_bool() || rotational->get_bool() == (disk.drive_type == "HDD");
}

}  // namespace

const Disk* find_hinted_disk(const Inventory& inventory, const Requirements& needed, const Json& hints) {
  const std::vector<const Disk*> disks = installable_disks(inventory, needed);
  const auto found = std::ranges::find_if(disks, [&](const Disk* disk) { return matches(*disk, hints); });
  return found == disks.end() ? nullptr : *found;
}

}  // namespace slipway::assist
