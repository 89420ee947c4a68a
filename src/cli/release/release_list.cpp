#include "cli/output_option.h"
#include "cli/release/release_commands.h"
#include "cli/release/release_store.h"
#include "sys/lock.h"

#include "base/json.h"

namespace slipway::cli {

namespace {

Result<> list(const Environment& environment, const Arguments& arguments) {
  const std::string store = store_folder(arguments);
  const std::vector<StoredRelease> releases = TRY(list_releases(environment.files, store));
  if (arguments["--output"] == "json") {
    JsonArray rows;
    for (const StoredRelease& release : releases) {
      rows.push_back({{"name", release.name},
                      {"version", release.version},
                      {"digest", release.digest},
                      {"folder", fmt::format("{}/{}/release", store, release.name)},
                      {"isDefault", release.is_default}});
    }
    environment.print(emit_json(rows, JsonStyle::pretty));
    return Ok{};
  }
  std::string text = fmt::format("{:<32} {:<8} {}\n", "NAME", "DEFAULT", "FOLDER");
  for (const StoredRelease& release : releases) {
    text += fmt::format("{:<32} {:<8} {}/{}/release\n", release.name, release.is_default ? "yes" : "", store, release.name);
  }
  environment.print(text);
  return Ok{};
}

Result<> remove(const Environment& environment, const Arguments& arguments) {
  const std::string store = store_folder(arguments);
  if (!TRY(environment.files.info(store))) return error(Code::not_found, "store {}: not found", store);
  const sys::FileLock lock = TRY(sys::FileLock::acquire(store + "/lock", fmt::format("store {}", store)));
  return remove_release(environment.files, store, arguments["NAME"]);
}

}  // namespace

Command release_list_command() {
  return {.words = "release list",
          .summary = "List the releases that were imported on this host",
          .options = {output_option(), store_option()},
          .run = list};
}

Command release_remove_command() {
  return {
      .words = "release remove",
      .summary = "Remove an imported release; clusters keep what they use of it",
      .positionals = {{.name = "NAME", .value = "NAME", .help = "name of the release, as in `release list`", .required = true}},
      .options = {store_option()},
      .run = remove};
}

}  // namespace slipway::cli
