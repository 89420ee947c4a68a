#include "bootstrap/copies.h"

namespace slipway::bootstrap {

namespace {

using sys::FileInfo;
using sys::FileKind;
using sys::Files;

Result<> copy_file(Files& files, const std::string& from, const std::string& to, sys::Mode mode, bool is_shared) {
  const std::string content = TRY(files.read(from));
  if (const std::optional<FileInfo> there = TRY(files.info(to)); there && there->kind == FileKind::file) {
    const bool same = TRY(files.read(to)) == content;
    if (same && there->mode == mode) return Ok{};
    if (!same && is_shared) {
      return error(Code::conflict, "{}: already exists, and {} has the same name but other content (rename your manifest)", to,
                   from);
    }
  }
  return files.write(to, content, mode);
}

Result<> copy_tree(Files& files, const std::string& from, const std::string& to, const FileInfo& info, bool is_shared) {
  if (info.kind != FileKind::directory) return copy_file(files, from, to, info.mode, is_shared);
  TRY(files.make_directories(to, 0755));
  for (const std::string& name : TRY(files.list(from))) {
    if (name.starts_with('.')) continue;
    const std::string inner = from + "/" + name;
    const std::optional<FileInfo> inner_info = TRY(files.info(inner));
    if (!inner_info) return error(Code::not_found, "{}: removed while it was copied", inner);
    TRY(copy_tree(files, inner, to + "/" + name, *inner_info, is_shared));
  }
  return Ok{};
}

}  // namespace

Result<> copy_all(Files& files, const std::string& assets, const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    const std::string from = assets + "/" + copy.from;
    const std::optional<FileInfo> info = TRY(files.info(from));
    if (!info && copy.optional) continue;
    if (!info) return error(Code::not_found, "{}: not found, cannot be copied", from);
    const bool is_shared =
        copy.to == "manifests" || copy.to.starts_with("manifests/") || copy.to.starts_with("bootstrap-manifests");
    TRY(copy_tree(files, from, copy.to.starts_with('/') ? copy.to : assets + "/" + copy.to, *info, is_shared));
  }
  return Ok{};
}

Result<> freeze_folder(Files& files, const std::string& from, const std::string& to) {
  const std::string unfinished = to + ".new";
  TRY(files.remove(unfinished));
  TRY(files.make_directories(unfinished, 0700));
  TRY(copy_tree(files, from, unfinished, FileInfo{.kind = FileKind::directory}, false));
  TRY(files.remove(to));
  return files.rename(unfinished, to);
}

Result<> remove_remains(Files& files, const std::string& folder) {
  if (!TRY(files.info(folder))) return Ok{};
  for (const std::string& name : TRY(files.list(folder))) {
    if (name.starts_with('.')) TRY(files.remove(folder + "/" + name));
  }
  return Ok{};
}

}  // namespace slipway::bootstrap
