#include "components/static_pod_installer/disk.h"

#include <optional>
#include <vector>

namespace slipway::components::static_pod_installer {

namespace {

Result<bool> is_current(sys::Files& files, const std::string& path, std::string_view content, sys::Mode mode) {
  const std::optional<sys::FileInfo> info = TRY(files.info(path));
  if (!info || info->kind != sys::FileKind::file || info->mode != mode || info->size != content.size()) return false;
  return TRY(files.read(path)) == content;
}

Result<bool> is_current(sys::Files& files, const std::string& path, const std::vector<File>& wanted, sys::Mode mode) {
  const std::optional<sys::FileInfo> info = TRY(files.info(path));
  if (!info || info->kind != sys::FileKind::directory || info->mode != mode) return false;
  const std::vector<std::string> names = TRY(files.list(path));
  if (names.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != wanted[i].name) return false;
    if (!TRY(is_current(files, path + "/" + names[i], wanted[i].content, wanted[i].mode))) return false;
  }
  return true;
}

// `path` is absolute and not the root.
std::string parent_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }
std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Result<> write_folder(sys::Files& files, const std::string& path, const std::vector<File>& wanted, sys::Mode mode) {
  // Object names never begin with a dot. A killed run may have left an old key there.
  const std::string new_path = fmt::format("{}/.{}.new", parent_of(path), name_of(path));
  TRY(files.remove(new_path));
  if (TRY(is_current(files, path, wanted, mode))) return Ok{};
  TRY(files.make_directories(parent_of(path), 0755));
  TRY(files.make_directories(new_path, mode));
  for (const File& file : wanted) TRY(files.write(new_path + "/" + file.name, file.content, file.mode));
  if (!TRY(files.info(path))) return files.rename(new_path, path);
  TRY(files.exchange(new_path, path));
  return files.remove(new_path);
}

Result<bool> write_file(sys::Files& files, const std::string& path, std::string_view content, sys::Mode mode) {
  if (TRY(is_current(files, path, content, mode))) return false;
  TRY(files.make_directories(parent_of(path), 0755));
  TRY(files.write(path, content, mode));
  return true;
}

Result<> write_folders(sys::Files& files, const Place& place, const std::vector<ObjectFolder>& folders) {
  for (const ObjectFolder& folder : folders) {
    const std::vector<File> wanted = TRY(files_of(folder));
    TRY(write_folder(files, place.root + folder.path, wanted, mode_of(folder)));
  }
  return Ok{};
}

Result<> remove_outdated(sys::Files& files, const Place& place, const Operand& operand, const std::vector<int>& kept) {
  const std::string folder = fmt::format("{}{}", place.root, static_pod_resources);
  const std::vector<std::string> names = TRY(files.list(folder));
  for (const std::string& name : outdated(operand, names, kept)) TRY(files.remove(folder + "/" + name));
  return Ok{};
}

}  // namespace

Result<bool> write_layout(sys::Files& files, const Place& place, const Operand& operand, const Layout& layout) {
  TRY(write_folders(files, place, layout.certificates));
  for (const std::string& path : layout.removed) TRY(files.remove(place.root + path));
  if (!layout.missing.empty() || !layout.pod) return false;

  const std::string pod = TRY(pod_text(*layout.pod, layout.revision, place.node));
  TRY(write_folders(files, place, layout.parts));
  const std::string name = operand.pod_config() + ".yaml";
  const std::string folder = revision_folder(operand, layout.revision);
  TRY(write_file(files, fmt::format("{}{}/{}/{}", place.root, static_pod_resources, folder, name), pod, 0600));
  const bool is_changed = TRY(write_file(files, fmt::format("{}{}/{}", place.root, static_pod_manifests, name), pod, 0600));
  TRY(remove_outdated(files, place, operand, layout.kept));
  return is_changed;
}

}  // namespace slipway::components::static_pod_installer
