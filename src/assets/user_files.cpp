#include "assets/user_files.h"

#include "base/digest.h"

namespace slipway::assets {

namespace {

bool has_files_below(const Snapshot& folder, std::string_view prefix) {
  const auto first = folder.lower_bound(prefix);
  return first != folder.end() && first->first.starts_with(prefix);
}

}  // namespace

bool is_ours(const Written& written, const std::string& path, std::string_view content) {
  const auto found = written.find(path);
  return found != written.end() && found->second.contains(sha256_hex(content));
}

bool consumes(Target target, std::string_view path) {
  const bool is_behind = target != Target::install_config && target != Target::manifests;
  return is_for_machines(path) ? is_behind : is_manifest_path(path) && target == Target::cluster;
}

Snapshot with_user_files(Snapshot generated, const UserFiles& user) {
  for (const auto& [path, content] : user.files) {
    if (content) {
      generated.insert_or_assign(path, *content);
    } else {
      generated.erase(path);
    }
  }
  return generated;
}

UserFiles find_user_files(const Snapshot& folder, const std::optional<State>& state, const Snapshot& generated) {
  UserFiles user = state ? state->user : UserFiles{};
  const Written written = state ? state->written : Written{};
  for (const auto& [path, content] : folder) {
    if (!is_manifest_path(path)) continue;
    const auto same = generated.find(path);
    if (is_ours(written, path, content) || (same != generated.end() && same->second == content)) {
      user.files.erase(path);
    } else {
      user.files[path] = content;
    }
  }
  // A missing file counts as removed by the user if the last target completed, so that the file existed, and if its folder still
  // has files. If the whole folder is missing, its files do not count as removed.
  if (!state || !state->complete) return user;
  for (const std::string_view prefix : {"manifests/", "openshift/", "cluster-api/"}) {
    if (consumes(state->target, prefix) || !has_files_below(folder, prefix)) continue;
    auto mark_removed = [&](const std::string& path) {
      if (!path.starts_with(prefix) || folder.contains(path)) return;
      if (generated.contains(path)) {
        user.files[path] = std::nullopt;
      } else {
        user.files.erase(path);
      }
    };
    for (const auto& [path, digests] : state->written) mark_removed(path);
    for (const auto& [path, content] : state->user.files) {
      if (content) mark_removed(path);
    }
  }
  return user;
}

}  // namespace slipway::assets
