#include "components/cluster_bootstrap/temporary_pods.h"

#include "components/cluster_bootstrap/owned_files.h"
#include "components/render/manifest_files.h"

#include <algorithm>

namespace slipway::components::cluster_bootstrap {

namespace {

Result<OwnedFiles> read_record(sys::Files& files, const std::string& path) {
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (!text) return OwnedFiles();
  return parse_owned(*text, path);
}

// By the file name that the render command uses.
bool serves_api(std::string_view name) { return name.starts_with("kube-apiserver"); }

}  // namespace

Result<> TemporaryPods::place() {
  const std::string source = options_.asset_dir + "/bootstrap-manifests";
  std::vector<FileContent> wanted;
  std::map<std::string, std::string> present;
  for (const std::string& name : TRY(files_below(files_, source))) {
    const std::string path = options_.pod_manifest_path + "/" + name;
    std::string content = TRY(files_.read(source + "/" + name));
    if (const std::optional<std::string> existing = TRY(files_.read_if_exists(path))) present[path] = *existing;
    wanted.push_back({path, std::move(content)});
  }
  OwnedFiles owned = TRY(read_record(files_, record_path()));
  const FilesPlan plan = TRY(plan_files(wanted, std::move(owned), present));
  TRY(place_secrets());
  TRY(files_.write(record_path(), emit_owned(plan.owned), 0600));
  for (const FileContent& file : plan.write) TRY(files_.write(file.path, file.content, 0600));
  log_.info("{} static pods in {}, {} of them new", wanted.size(), options_.pod_manifest_path, plan.write.size());
  return Ok{};
}

Result<> TemporaryPods::place_secrets() {
  const std::string source = options_.asset_dir + "/tls";
  const std::string target = options_.secrets_path();
  TRY(files_.make_directories(target, 0700));
  std::vector<std::string> names = TRY(files_below(files_, source));
  for (const std::string& name : names) {
    const std::string content = TRY(files_.read(source + "/" + name));
    const std::optional<std::string> existing = TRY(files_.read_if_exists(target + "/" + name));
    if (existing != content) TRY(files_.write(target + "/" + name, content, 0600));
  }
  names.push_back("kubeconfig");
  const std::string kubeconfig = TRY(files_.read(options_.asset_dir + "/auth/kubeconfig-loopback"));
  TRY(files_.write(target + "/kubeconfig", kubeconfig, 0600));
  for (const std::string& name : TRY(files_below(files_, target))) {
    if (std::ranges::find(names, name) == names.end()) TRY(files_.remove(target + "/" + name));
  }
  return Ok{};
}

// Files that were changed by another program are no longer owned.
Result<> TemporaryPods::remove_pods(const std::function<bool(std::string_view)>& is_meant) {
  for (const auto& [path, digests] : TRY(read_record(files_, record_path()))) {
    if (!is_meant(std::string_view(path).substr(path.rfind('/') + 1))) continue;
    const std::optional<std::string> existing = TRY(files_.read_if_exists(path));
    if (!existing) continue;
    if (!is_owned({{path, digests}}, path, *existing)) {
      log_.warn("{} was changed, so it and its pod are not removed", path);
      continue;
    }
    TRY(files_.remove(path));
  }
  return Ok{};
}

Result<> TemporaryPods::remove_controllers() {
  return remove_pods([](std::string_view name) { return !serves_api(name); });
}

Result<> TemporaryPods::remove_all() {
  // Pods first, because they use the secrets.
  TRY(remove_pods([](std::string_view) { return true; }));
  TRY(files_.remove(options_.secrets_path()));
  return files_.remove(record_path());
}

}  // namespace slipway::components::cluster_bootstrap
