#include "provider/local/preload.h"

#include <vector>

namespace slipway::provider::local {

namespace {

// QUIRK(local-machines 4): bolt databases are written in place; with one inode, machines would write into each other's.
// Each lies in the folder of its plugin; a file of this kind further down belongs to an image.
Result<std::vector<std::string>> databases(sys::Files& files, const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& plugin : TRY(files.list(folder))) {
    const auto info = TRY(files.info(folder + "/" + plugin));
    if (!info || info->kind != sys::FileKind::directory) continue;
    for (const std::string& name : TRY(files.list(folder + "/" + plugin))) {
      if (name.ends_with(".db")) found.push_back(plugin + "/" + name);
    }
  }
  return found;
}

}  // namespace

Result<> preload_images(const sys::Context& context, sys::Runner& runner, sys::Files& files, const std::string& template_folder,
                        const std::string& var_folder) {
  const std::string target = var_folder + "/lib/containerd";
  if (TRY(files.info(target)) && !TRY(files.list(target)).empty()) {
    return error(Code::conflict, "{} has content already, its images stay as they are", target);
  }
  TRY(files.make_directories(var_folder + "/lib", 0755));
  TRY(sys::run_checked(runner, context, {.argv = {"cp", "--archive", "--link", template_folder + "/.", target}}));
  for (const std::string& database : TRY(databases(files, template_folder))) {
    TRY(sys::run_checked(
        runner, context,
        {.argv = {"cp", "--archive", "--remove-destination", template_folder + "/" + database, target + "/" + database}}));
  }
  return Ok{};
}

}  // namespace slipway::provider::local
