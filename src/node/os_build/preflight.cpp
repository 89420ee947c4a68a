#include "node/os_build/preflight.h"

#include "base/number.h"
#include "base/text.h"

#include <map>

namespace slipway::node {

namespace {

constexpr std::uint64_t gib = 1u << 30;
constexpr std::uint64_t unpacked = 3;  // bytes of a layer on disk for each compressed byte

}  // namespace

// The base image, and the same again for layers of the Containerfile and the layers of the build before.
std::uint64_t storage_needs(std::uint64_t base_bytes) { return 2 * unpacked * base_bytes + gib; }

// The layout of this build, while that of the build before exists.
std::uint64_t output_needs(std::uint64_t base_bytes) { return 2 * base_bytes + gib; }

Result<> check_space(const std::vector<FreeSpace>& places) {
  struct FileSystem {
    std::vector<std::string> users;
    std::uint64_t bytes = 0, needed = 0;
  };
  std::map<std::string, FileSystem> file_systems;
  for (const FreeSpace& place : places) {
    FileSystem& shared = file_systems[place.file_system];
    shared.users.push_back(fmt::format("{} in {}", place.what, place.path));
    shared.bytes = place.bytes;
    shared.needed += place.needed;
  }
  std::vector<std::string> missing;
  for (const auto& [name, each] : file_systems) {
    if (each.bytes >= each.needed) continue;
    missing.push_back(fmt::format("file system {} has {} free, and the build needs {} ({})", name, human_size(each.bytes),
                                  human_size(each.needed), join(each.users, ", ")));
  }
  if (missing.empty()) return Ok{};
  return error(Code::conflict, "{} (enlarge the disk, or remove images with `podman image prune --all`)", join(missing, "; "));
}

Result<> check_memory(std::string_view text) {
  constexpr std::string_view key = "MemAvailable:";
  const std::size_t at = text.find(key);
  std::string_view rest = at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
  rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::optional<std::uint64_t> kib = take_number<std::uint64_t>(rest);
  if (!kib) return error(Code::internal, "/proc/meminfo has no MemAvailable");
  if (*kib * 1024 >= memory_needs) return Ok{};
  return error(Code::conflict, "the machine has {} of memory free, and the build needs {} (give the machine more memory)",
               human_size(*kib * 1024), human_size(memory_needs));
}

Result<std::pair<std::uint64_t, std::string>> parse_free_space(std::string_view text) {
  const std::vector<std::string_view> lines = split(trim(text), '\n');
  std::string_view row = trim(lines.back());
  const std::optional<std::uint64_t> bytes = take_number<std::uint64_t>(row);
  const std::string_view target = trim(row);
  if (lines.size() < 2 || !bytes || target.empty()) return error(Code::internal, "df printed '{}'", to_utf8(text));
  return std::pair(*bytes, std::string(target));
}

Result<> check_logins(const machineconfig::OsBuild& build, const Secret& push_logins, const std::string& name) {
  if (machineconfig::has_login(push_logins, build.repository)) return Ok{};
  return error(Code::denied, "{} has no login for {}, to which the image is pushed (correct renderedImagePushSecret)", name,
               build.repository);
}

}  // namespace slipway::node
