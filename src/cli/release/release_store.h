// The store of imported releases: one folder for each (provider/local/prepare_release.h), and the name of the default release.
//
//   STORE/NAME/release.json   version and digest; NAME is VERSION-DIGEST, with 12 digits of the digest
//   STORE/NAME/release        the OCI image layout
//   STORE/NAME/payload        what local machines need
//   STORE/default             the name of the release that commands use if no option names one
//   STORE/lock                held by a command that changes the store
//   STORE/import.new          of an import that runs or was killed
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "provider/local/prepare_release.h"
#include "release/release_archive.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::cli {

struct StoredRelease {
  std::string name;
  std::string version;
  std::string digest;
  bool is_default = false;
};

Option store_option();  // --store

// $SLIPWAY_RELEASES, else /var/lib/slipway/releases; absolute.
std::string store_folder();
// --store, else the same.
std::string store_folder(const Arguments& arguments);

// The name of a release in a store. Pure.
std::string stored_name(const release::ArchivedRelease& release);

// All releases of a store, by name. Empty if there is no store. errors: as files; invalid: a release.json is damaged
Result<std::vector<StoredRelease>> list_releases(sys::Files& files, const std::string& store);

// Makes a release the default. errors: not_found: it is not in the store; as files
Result<> set_default_release(sys::Files& files, const std::string& store, const std::string& name);

// Removes a release. If it was the default, the last one by name becomes the default. Clusters keep their copy of it.
// errors: not_found, with the names in the store; as files
Result<> remove_release(sys::Files& files, const std::string& store, const std::string& name);

// The folder of the release that commands use if no option names one: the build that `program` belongs to, otherwise the default
// of the store. The folder need not exist.
//
//   program  absolute path of slipway; PATH/build/cpp/PRESET/bin/slipway is in the build PATH/build
//   errors   not_found: the store has no release, with the command that helps; as files
Result<provider::local::ReleaseFolder> default_release(sys::Files& files, std::string_view program, const std::string& store);

}  // namespace slipway::cli
