#include "cli/release/release_store.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/local_options.h"
#include "provider/local/disk.h"
#include "sys/environment_variable.h"

#include <algorithm>
#include <filesystem>

namespace slipway::cli {

namespace {

constexpr const char* default_store = "/var/lib/slipway/releases";

std::string default_file(const std::string& store) { return store + "/default"; }

// The build folder of a program in it: "/src/build" for "/src/build/cpp/release/bin/slipway"; empty for other programs.
std::string build_of(std::string_view program) {
  const std::filesystem::path folder = std::filesystem::path(program).parent_path(), presets = folder.parent_path().parent_path();
  return folder.filename() == "bin" && presets.filename() == "cpp" ? presets.parent_path().string() : "";
}

std::string not_in_store(const std::string& store, const std::string& name, const std::vector<StoredRelease>& releases) {
  std::vector<std::string> names;
  for (const StoredRelease& release : releases) names.push_back(release.name);
  return fmt::format("release {}: not found in {} (releases: {})", name, store, names.empty() ? "none" : join(names, ", "));
}

}  // namespace

Option store_option() {
  return {.name = "--store",
          .value = "DIR",
          .help = fmt::format("folder of imported releases (default $SLIPWAY_RELEASES, else {})", default_store)};
}

std::string store_folder(const Arguments& arguments) {
  return arguments.has("--store") ? absolute(arguments["--store"]) : store_folder();
}

std::string store_folder() { return absolute(sys::environment_variable("SLIPWAY_RELEASES", default_store)); }

std::string stored_name(const release::ArchivedRelease& release) {
  return fmt::format("{}-{}", release.version, release.digest.hex().substr(0, 12));
}

Result<std::vector<StoredRelease>> list_releases(sys::Files& files, const std::string& store) {
  std::vector<StoredRelease> releases;
  if (!TRY(files.info(store))) return releases;
  const std::string chosen(trim(TRY(files.read_if_exists(default_file(store))).value_or("")));
  for (const std::string& name : TRY(files.list(store))) {
    const std::string path = fmt::format("{}/{}/release.json", store, name);
    const std::optional<sys::FileInfo> info = TRY(files.info(fmt::format("{}/{}", store, name)));
    if (!info || info->kind != sys::FileKind::directory) continue;  // the lock, the default
    const std::optional<std::string> text = TRY(files.read_if_exists(path));
    if (!text) continue;  // an unfinished import
    const Json record = TRY(parse_json(*text, path));
    const std::string version = TRY(require_string(record, {"version"}).context(path));
    const std::string digest = TRY(require_string(record, {"digest"}).context(path));
    releases.push_back({.name = name, .version = version, .digest = digest, .is_default = name == chosen});
  }
  return releases;
}

Result<> set_default_release(sys::Files& files, const std::string& store, const std::string& name) {
  const std::vector<StoredRelease> releases = TRY(list_releases(files, store));
  if (std::ranges::find(releases, name, &StoredRelease::name) == releases.end())
    return error(Code::not_found, "{}", not_in_store(store, name, releases));
  return files.write(default_file(store), name + "\n", 0644);
}

Result<> remove_release(sys::Files& files, const std::string& store, const std::string& name) {
  std::vector<StoredRelease> releases = TRY(list_releases(files, store));
  const auto found = std::ranges::find(releases, name, &StoredRelease::name);
  if (found == releases.end()) return error(Code::not_found, "{}", not_in_store(store, name, releases));
  const bool was_default = found->is_default;
  releases.erase(found);
  if (was_default) {
    TRY(releases.empty() ? files.remove(default_file(store))
                         : files.write(default_file(store), releases.back().name + "\n", 0644));
  }
  // Without release.json it is no release any more, so a kill leaves nothing that a command would use.
  const std::string folder = fmt::format("{}/{}", store, name);
  TRY(files.rename(folder + "/release.json", folder + "/removed.json"));
  return provider::local::remove_tree(files, folder);
}

Result<provider::local::ReleaseFolder> default_release(sys::Files& files, std::string_view program, const std::string& store) {
  if (std::string build = build_of(program); !build.empty()) return provider::local::ReleaseFolder{std::move(build)};
  const std::string name(trim(TRY(files.read_if_exists(default_file(store))).value_or("")));
  if (!name.empty()) return provider::local::ReleaseFolder{fmt::format("{}/{}", store, name)};
  return error(Code::not_found,
               "{}: contains no release (import one with `slipway release import FILE`, or name one with --release)", store);
}

}  // namespace slipway::cli
