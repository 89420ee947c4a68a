#include "assets/store.h"

#include "assets/plan.h"
#include "assets/user_files.h"
#include "base/check.h"

#include <algorithm>
#include <array>
#include <span>

namespace slipway::assets {

namespace {

constexpr std::string_view config_file = "install-config.yaml";
constexpr std::string_view user_key = "tls/bound-service-account-signing-key.key";
constexpr std::string_view metadata_file = "metadata.json";
constexpr auto single_files = std::to_array<std::string_view>({
    config_file,
    user_key,
    metadata_file,
    "bootstrap.ign",
    "master.ign",
    "worker.ign",
    "auth/kubeadmin-password",
    "auth/kubeconfig",
    "tls/journal-gatewayd.crt",
    "tls/journal-gatewayd.key",
});
constexpr std::array<std::string_view, 2> manifest_folders = {"manifests", "openshift"};
constexpr std::array<std::string_view, 4> all_folders = {"manifests", "openshift", "auth", "tls"};
constexpr sys::Mode secret_mode = 0600;
constexpr sys::Mode metadata_mode = 0640;

std::string below(const std::string& directory, std::string_view path) { return fmt::format("{}/{}", directory, path); }

bool is_manifest_name(std::string_view name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"));
}

struct Found {
  Snapshot folder;
  std::optional<State> state;
  std::vector<std::string> unused;
};

Result<Found> look(sys::Files& files, const std::string& directory) {
  Found found;
  auto take = [&](const std::string& path) -> Result<> {
    std::optional<std::string> content = TRY(files.read_if_exists(below(directory, path)));
    if (content) found.folder.emplace(path, std::move(*content));
    return Ok{};
  };
  for (const std::string_view path : single_files) TRY(take(std::string(path)));
  for (const std::string_view folder : manifest_folders) {
    if (!TRY(files.info(below(directory, folder)))) continue;
    const std::vector<std::string> names = TRY(files.list(below(directory, folder)));
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      if (is_manifest_name(name)) {
        TRY(take(path));
      } else {
        found.unused.push_back(path);
      }
    }
  }
  const std::optional<std::string> text = TRY(files.read_if_exists(below(directory, state_file)));
  if (text) found.state = TRY(parse_state(*text));
  return found;
}

Result<> write_state(sys::Files& files, const std::string& directory, const State& state) {
  return files.write(below(directory, state_file), state_text(state), secret_mode);
}

Result<> remove_empty(sys::Files& files, const std::string& directory, std::span<const std::string_view> folders) {
  for (const std::string_view folder : folders) {
    const std::string path = below(directory, folder);
    if (!TRY(files.info(path))) continue;
    const std::vector<std::string> names = TRY(files.list(path));
    if (names.empty()) TRY(files.remove(path));
  }
  return Ok{};
}

// The state goes first, so that a kill at any moment leaves what the same command continues from.
Result<> apply(sys::Files& files, const std::string& directory, const Plan& plan) {
  if (!plan.writes.empty() || !plan.removes.empty()) TRY(write_state(files, directory, plan.begin));
  for (const AssetFile& file : plan.writes) {
    TRY(files.write(below(directory, file.path), file.content, file.path == metadata_file ? metadata_mode : secret_mode));
  }
  for (const std::string& path : plan.removes) TRY(files.remove(below(directory, path)));
  if (std::ranges::any_of(plan.removes, is_manifest_path)) TRY(remove_empty(files, directory, manifest_folders));
  return write_state(files, directory, plan.end);
}

Result<std::optional<Assets>> make(Target target, const sys::Context& context, sys::Files& files, sys::Random& random,
                                   const std::string& directory, const Environment& environment) {
  const Found found = TRY(look(files, directory).context(fmt::format("reading the folder {}", directory)));
  for (const std::string& path : found.unused) {
    context.log.warn("{} is not used: manifests end in .yaml, .yml or .json", path);
  }
  Plan plan = TRY(plan_target(target, found.folder, found.state, environment, random));
  for (const std::string& warning : plan.warnings) context.log.warn("{}", warning);
  const bool changes_nothing = plan.writes.empty() && plan.removes.empty() && found.state == plan.end;
  if (!changes_nothing) TRY(apply(files, directory, plan).context(fmt::format("writing the target {}", to_string(target))));
  return std::move(plan.assets);
}

}  // namespace

Result<config::InstallConfig> read_config(sys::Files& files, const std::string& directory) {
  const Found found = TRY(look(files, directory).context(fmt::format("reading the folder {}", directory)));
  return TRY(config_of(found.folder, found.state)).config;
}

Result<> create_manifests(const sys::Context& context, sys::Files& files, sys::Random& random, const std::string& directory,
                          const Environment& environment) {
  TRY(make(Target::manifests, context, files, random, directory, environment));
  return Ok{};
}

Result<> create_ignition_configs(const sys::Context& context, sys::Files& files, sys::Random& random,
                                 const std::string& directory, const Environment& environment) {
  TRY(make(Target::ignition_configs, context, files, random, directory, environment));
  return Ok{};
}

Result<> forget(sys::Files& files, const std::string& directory) {
  const Found found = TRY(look(files, directory).context(fmt::format("reading the folder {}", directory)));
  for (const auto& [path, content] : found.folder) {
    const bool is_ours_now = is_manifest_path(path) && found.state && is_ours(found.state->written, path, content);
    const bool is_output = !is_manifest_path(path) && path != user_key && path != config_file && path != metadata_file;
    if (is_ours_now || is_output) TRY(files.remove(below(directory, path)));
  }
  TRY(remove_empty(files, directory, all_folders));
  TRY(files.remove(below(directory, state_file)));
  return files.remove(below(directory, metadata_file));
}

Result<Assets> load_or_make(const sys::Context& context, sys::Files& files, sys::Random& random, const std::string& directory,
                            const Environment& environment) {
  std::optional<Assets> assets = TRY(make(Target::cluster, context, files, random, directory, environment));
  CHECK(assets.has_value());
  return std::move(*assets);
}

}  // namespace slipway::assets
