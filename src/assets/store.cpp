#include "assets/store.h"

#include "assets/outputs.h"
#include "assets/tls/tls.h"
#include "assets/tls/user_tls.h"
#include "assets/user_files.h"
#include "base/check.h"

#include <algorithm>
#include <array>
#include <span>

namespace slipway::assets {

namespace {

constexpr std::array<std::string_view, 3> manifest_folders = {"manifests", "openshift", "cluster-api"};
constexpr std::array<std::string_view, 5> all_folders = {"manifests", "openshift", "cluster-api", "auth", "tls"};
constexpr std::string_view templates_folder = "templates";
constexpr sys::Mode secret_mode = 0600;
constexpr sys::Mode metadata_mode = 0640;

std::string below(const std::string& directory, std::string_view path) { return fmt::format("{}/{}", directory, path); }

std::string consumed(std::string_view path) { return fmt::format("{}/{}", consumed_folder, path); }

// metadata.json contains logins on some platforms (vsphere).
sys::Mode mode_of_file(std::string_view path, std::string_view content) {
  const bool has_secret = path != metadata_file || content.find(R"("password":)") != std::string_view::npos;
  return has_secret ? secret_mode : metadata_mode;
}

bool is_manifest_name(std::string_view name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"));
}

Result<std::vector<std::string>> list_if_exists(sys::Files& files, const std::string& path) {
  if (!TRY(files.info(path))) return std::vector<std::string>();
  return files.list(path);
}

Result<std::optional<State>> read_state(sys::Files& files, const std::string& directory) {
  const std::optional<std::string> text = TRY(files.read_if_exists(below(directory, state_file)));
  if (!text) return std::optional<State>();
  return std::optional(TRY(parse_state(*text)));
}

// Reads the directory; does not parse the install-config.
Result<Folder> read_files(sys::Files& files, const std::string& directory) {
  Folder found{.path = directory};
  auto read_one = [&](const std::string& path) -> Result<> {
    std::optional<std::string> content = TRY(files.read_if_exists(below(directory, path)));
    if (content) found.files.emplace(path, std::move(*content));
    return Ok{};
  };
  TRY(read_one(std::string(install_config_file)));
  for (const std::string& path : user_tls_files()) TRY(read_one(path));
  for (const OutputFile& output : output_files()) TRY(read_one(std::string(output.path)));
  for (const std::string_view folder : manifest_folders) {
    const std::vector<std::string> names = TRY(list_if_exists(files, below(directory, folder)));
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      if (is_manifest_name(name)) {
        TRY(read_one(path));
      } else {
        found.warnings.push_back(fmt::format("{}: ignored, names of manifests end in .yaml, .yml or .json", path));
      }
    }
  }
  if (TRY(files.info(below(directory, templates_folder)))) {
    found.warnings.push_back(
        fmt::format("{}/: ignored (edit the files that `create manifests` writes instead)", templates_folder));
  }
  found.state = TRY(read_state(files, directory));
  return found;
}

std::string reading(const std::string& directory) { return fmt::format("reading directory {}", directory); }

Result<Folder> read_folder(sys::Files& files, const std::string& directory) {
  return read_files(files, directory).context(reading(directory));
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

Result<> remove_all_empty(sys::Files& files, const std::string& directory) {
  TRY(remove_empty(files, directory, all_folders));
  TRY(remove_empty(files, below(directory, consumed_folder), all_folders));
  return remove_empty(files, directory, std::to_array({consumed_folder}));
}

Result<> move_file(sys::Files& files, const std::string& from, const std::string& to) {
  TRY(files.make_directories(to.substr(0, to.rfind('/')), 0700));
  return files.rename(from, to);
}

bool is_written(const Change& change) { return change.action == Action::add || change.action == Action::change; }

Result<> write(sys::Files& files, const std::string& directory, std::span<const Change> changes) {
  std::vector<sys::NewFile> wanted;
  for (const Change& change : changes) {
    wanted.push_back({below(directory, change.path), change.content, mode_of_file(change.path, change.content)});
  }
  return files.write_each(wanted);
}

// Undoes one change. Also works for a change that was not applied.
Result<> undo(sys::Files& files, const std::string& directory, const Change& change, const Snapshot& before) {
  const std::string path = below(directory, change.path);
  const auto content = before.find(change.path);
  if (content == before.end()) return files.remove(path);
  if (TRY(files.read_if_exists(path)) == content->second) return Ok{};
  if (change.action != Action::consume) return files.write(path, content->second, mode_of_file(change.path, content->second));
  return move_file(files, below(directory, consumed(change.path)), path);
}

// How much of a plan was started.
struct Progress {
  bool state = false;
  std::size_t changes = 0;
};

// Writes the state file first, so that the same command can continue after a kill.
Result<> apply_all(sys::Files& files, const std::string& directory, const Plan& plan, Progress& started) {
  if (plan.begin && !plan.changes.empty()) {
    TRY(write_state(files, directory, *plan.begin));
    started.state = true;
  }
  while (started.changes < plan.changes.size()) {
    const std::span<const Change> left = std::span(plan.changes).subspan(started.changes);
    const auto last = std::ranges::find_if_not(left, is_written);
    const std::span<const Change> written = left.first(static_cast<std::size_t>(last - left.begin()));
    started.changes += std::max<std::size_t>(written.size(), 1);
    if (!written.empty()) {
      TRY(write(files, directory, written));
    } else if (left[0].action == Action::consume) {
      TRY(move_file(files, below(directory, left[0].path), below(directory, consumed(left[0].path))));
    } else {
      TRY(files.remove(below(directory, left[0].path)));
    }
  }
  if (std::ranges::any_of(plan.changes, is_manifest_path, &Change::path)) TRY(remove_empty(files, directory, manifest_folders));
  return plan.end ? write_state(files, directory, *plan.end) : Result<>(Ok{});
}

Result<> undo_all(sys::Files& files, const Folder& folder, const Plan& plan, const Progress& started) {
  // Remove added files first: on a full disk this makes room for restoring the other files.
  const std::span<const Change> made(plan.changes.data(), started.changes);
  for (const bool added : {true, false}) {
    for (auto change = made.rbegin(); change != made.rend(); ++change) {
      if ((change->action == Action::add) == added) TRY(undo(files, folder.path, *change, folder.files));
    }
  }
  TRY(remove_all_empty(files, folder.path));
  if (!started.state) return Ok{};
  return folder.state ? write_state(files, folder.path, *folder.state) : files.remove(below(folder.path, state_file));
}

Result<> apply_or_undo(sys::Files& files, const Folder& folder, const Plan& plan) {
  Progress started;
  const Result<> applied = apply_all(files, folder.path, plan, started);
  if (applied.ok()) return Ok{};
  const Result<> undone = undo_all(files, folder, plan, started);
  return error(applied.error().code(), "{}; {}", applied.error().message(),
               undone.ok() ? "all changes were undone" : "written files are kept (run the same command to continue)");
}

Result<Plan> plan_and_apply(const sys::Context& context, sys::Files& files, sys::Random& random, const Folder& folder,
                            const Environment& environment, const Request& request) {
  Result<Plan> plan = plan_target(request, folder, environment, random);
  if (!plan.ok()) {
    context.log.info("nothing was written to {}", folder.path);
    return plan;
  }
  for (const std::string& warning : plan->warnings) context.log.warn("{}", warning);
  const bool changes_nothing = plan->changes.empty() && (!plan->end || folder.state == plan->end);
  if (!changes_nothing) {
    TRY(apply_or_undo(files, folder, plan.value()).context(fmt::format("writing {}", to_string(request.target))));
  }
  return plan;
}

}  // namespace

Result<config::InstallConfig> read_config(sys::Files& files, const std::string& directory, const config::LoadOptions& options) {
  Snapshot found;
  const std::string path = below(directory, install_config_file);
  std::optional<std::string> text = TRY(files.read_if_exists(path).context(reading(directory)));
  if (text) found.emplace(install_config_file, *std::move(text));
  const std::optional<State> state = TRY(read_state(files, directory).context(reading(directory)));
  return TRY(config_of(found, state, options)).config;
}

Result<Folder> open_folder(sys::Files& files, const std::string& directory, const config::LoadOptions& options) {
  Folder folder = TRY(read_folder(files, directory));
  folder.config = TRY(config_of(folder.files, folder.state, options));
  return folder;
}

Result<TargetResult> create_target(const sys::Context& context, sys::Files& files, sys::Random& random, const Folder& folder,
                                   const Environment& environment, const Request& request) {
  const Plan plan = TRY(plan_and_apply(context, files, random, folder, environment, request));
  TargetResult made;
  for (const std::string& each : plan.folders) made.folders.push_back(each.empty() ? folder.path : below(folder.path, each));
  if (plan.assets) made.usable_until = first_expiry(plan.assets->tls);
  return made;
}

Result<Assets> load_or_make(const sys::Context& context, sys::Files& files, sys::Random& random, const Folder& folder,
                            const Environment& environment, bool consumes_install_config) {
  const Request request{.target = Target::cluster, .consumes_install_config = consumes_install_config};
  Plan plan = TRY(plan_and_apply(context, files, random, folder, environment, request));
  CHECK(plan.assets.has_value());
  return *std::move(plan.assets);
}

Result<std::optional<Expiry>> usable_until(sys::Files& files, const std::string& directory) {
  const std::optional<State> state = TRY(read_state(files, directory).context(reading(directory)));
  return state ? first_expiry(state->tls) : std::nullopt;
}

Result<std::optional<Secret>> private_ssh_key(sys::Files& files, const std::string& directory) {
  const std::optional<State> state = TRY(read_state(files, directory).context(reading(directory)));
  if (!state) return std::optional<Secret>();
  const auto pair = state->tls.find("bootstrap-ssh");
  return pair == state->tls.end() ? std::optional<Secret>() : std::optional(pair->second.key);
}

Result<std::optional<std::string>> public_host_key(sys::Files& files, const std::string& directory) {
  const std::optional<State> state = TRY(read_state(files, directory).context(reading(directory)));
  if (!state) return std::optional<std::string>();
  std::optional<HostKey> key = TRY(bootstrap_host_key(state->tls));
  return key ? std::optional(std::move(key->public_line)) : std::nullopt;
}

Result<> forget(sys::Files& files, const std::string& directory) {
  const Folder found = TRY(read_folder(files, directory));
  for (const auto& [path, content] : found.files) {
    const bool is_input = path == install_config_file || std::ranges::find(user_tls_files(), path) != user_tls_files().end();
    const bool is_generated = !is_manifest_path(path) || (found.state && is_ours(found.state->written, path, content));
    if (!is_input && path != metadata_file && is_generated) TRY(files.remove(below(directory, path)));
  }
  for (const OutputFile& output : output_files()) TRY(files.remove(below(directory, consumed(output.path))));
  TRY(files.remove(below(directory, known_hosts_file)));
  for (const std::string_view folder : manifest_folders) {
    const std::vector<std::string> names = TRY(list_if_exists(files, below(directory, consumed(folder))));
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      const bool is_users = found.state && found.state->user.files.contains(path);
      if (!is_users) TRY(files.remove(below(directory, consumed(path))));
    }
  }
  TRY(remove_all_empty(files, directory));
  TRY(files.remove(below(directory, state_file)));
  return files.remove(below(directory, metadata_file));
}

}  // namespace slipway::assets
