#include "base/json.h"
#include "cli/local_options.h"
#include "cli/release/release_commands.h"
#include "cli/release/release_store.h"
#include "provider/local/disk.h"
#include "sys/lock.h"

namespace slipway::cli {

namespace {

// Unpacks and prepares the release in a folder that is not yet one of the store.
Result<release::ArchivedRelease> unpack(const Environment& environment, const Arguments& arguments,
                                        const provider::local::ReleaseFolder& folder) {
  release::ArchivedRelease release =
      TRY(release::import_release(environment.context, environment.files, arguments["FILE"], folder.layout()));
  const std::string& expected = arguments["--digest"];
  if (expected.empty() || expected == release.digest.text()) return release;
  return error(Code::invalid, "{}: contains release {}, not {}", arguments["FILE"], release.digest.text(), expected);
}

Result<> prepare(const Environment& environment, const Arguments& arguments, const provider::local::ReleaseFolder& folder,
                 const release::ArchivedRelease& release) {
  if (arguments.has("--images-only")) return Ok{};
  return provider::local::prepare_release(environment.context, environment.files, environment.runner, TRY(helper_folder()),
                                          folder, release.version);
}

// The folder appears in the store as a whole, or replaces the one that is there.
Result<> put_into_store(const Environment& environment, const provider::local::ReleaseFolder& fresh, const std::string& place,
                        bool exists, const release::ArchivedRelease& release) {
  sys::Files& files = environment.files;
  const Json record = {{"version", release.version}, {"digest", release.digest.text()}};
  TRY(files.write(fresh.path + "/release.json", emit_json(record, JsonStyle::pretty), 0644));
  TRY(sys::run_checked(environment.runner, environment.context, {.argv = {"sync", "--file-system", fresh.path}}));
  if (exists) {
    TRY(files.exchange(fresh.path, place));
    return provider::local::remove_tree(files, fresh.path);
  }
  TRY(provider::local::remove_tree(files, place));  // its removal was killed
  return files.rename(fresh.path, place);
}

Result<> import(const Environment& environment, const Arguments& arguments) {
  const std::string store = store_folder(arguments);
  sys::Files& files = environment.files;
  TRY(files.make_directories(store, 0755));
  const sys::FileLock lock = TRY(sys::FileLock::acquire(store + "/lock", fmt::format("store {}", store)));
  const provider::local::ReleaseFolder fresh{store + "/import.new"};
  TRY(provider::local::remove_tree(files, fresh.path));
  const auto discard = [&](Error failure) {
    (void)provider::local::remove_tree(files, fresh.path).ok();
    return failure;
  };
  const Result<release::ArchivedRelease> release = unpack(environment, arguments, fresh);
  if (!release.ok()) return discard(release.error());
  const std::string name = stored_name(release.value()), place = fmt::format("{}/{}", store, name);
  const bool exists = TRY(files.info(place + "/release.json")).has_value();
  // An import with --images-only has no such folder.
  const bool is_prepared = exists && TRY(files.info(provider::local::ReleaseFolder{place}.payload()));
  const bool is_complete = exists && (is_prepared || arguments.has("--images-only"));
  if (is_complete) {
    TRY(provider::local::remove_tree(files, fresh.path));
  } else {
    if (const Result<> prepared = prepare(environment, arguments, fresh, release.value()); !prepared.ok())
      return discard(prepared.error());
    TRY(put_into_store(environment, fresh, place, exists, release.value()));
  }
  TRY(set_default_release(files, store, name));
  environment.print(fmt::format("Release: {}\nDigest:  {}\nFolder:  {}{}\n", release->version, release->digest.text(), place,
                                is_complete ? " (existed already)" : ""));
  return Ok{};
}

}  // namespace

Command release_import_command() {
  return {
      .words = "release import",
      .summary = "Add a release from a file, and make it the default of this host",
      .positionals = {{.name = "FILE", .value = "FILE", .help = "a file of `slipway release export`", .required = true}},
      .options =
          {{.name = "--digest", .value = "sha256:DIGEST", .help = "the expected digest of the release; another one is an error"},
           {.name = "--images-only", .value = "", .help = "do not prepare the release for local machines; this needs no root"},
           store_option()},
      .run = import,
      .when_interrupted = "nothing was added; run the same command again"};
}

}  // namespace slipway::cli
