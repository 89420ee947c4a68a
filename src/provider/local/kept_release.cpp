#include "provider/local/kept_release.h"

#include "provider/local/registry.h"

#include "base/text.h"
#include "data/data.h"
#include "release/commit_metadata.h"

#include <algorithm>

namespace slipway::provider::local {

namespace {

Result<bool> exists(sys::Files& files, const std::string& path) { return TRY(files.info(path)).has_value(); }

// Copies a file or folder by hard links, atomically. Does nothing if the copy exists.
Result<> copy_by_links(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& from,
                       const std::string& to) {
  if (TRY(exists(files, to))) return Ok{};
  const std::string temporary = to + ".new";
  TRY(files.remove(temporary));
  TRY(sys::run_checked(runner, context, {.argv = {"cp", "--archive", "--link", "-H", "--no-target-directory", from, temporary}}));
  return files.rename(temporary, to);
}

// The digest of the image from which a commit was created, "sha256:...".
Result<std::string> image_of(const sys::Context& context, sys::Runner& runner, const std::string& repository,
                             const std::string& commit) {
  return release::commit_metadata(context, runner, repository, commit, "slipway.image");
}

std::string short_commit(const std::string& commit) { return commit.substr(0, 12); }

}  // namespace

Result<std::string> newest_os(sys::Files& files, const std::string& os_repo) {
  const std::string path = fmt::format("{}/refs/heads/{}", os_repo, release::machine_os_ref);
  const auto text = TRY(files.read_if_exists(path));
  if (!text)
    return error(Code::not_found,
                 "{}: contains no commit of the machine OS (import a release with `slipway release import FILE`, or run `make "
                 "payload` as root)",
                 os_repo);
  std::string commit(trim(*text));
  if (!is_commit(commit)) return error(Code::invalid, "{}: not a commit", path);
  return commit;
}

Result<std::optional<std::string>> os_of_machines(sys::Files& files, const ClusterPaths& cluster) {
  std::optional<MachineRecord> oldest;
  std::optional<std::string> commit;
  if (!TRY(exists(files, cluster.machines()))) return commit;
  for (const std::string& name : TRY(files.list(cluster.machines()))) {
    const MachinePaths paths = cluster.machine(name);
    const auto text = TRY(files.read_if_exists(paths.record())), of_disk = TRY(files.read_if_exists(paths.commit()));
    if (!text || !of_disk || !is_commit(trim(*of_disk))) continue;
    const MachineRecord record = TRY(parse_machine_record(*text, paths.record()));
    if (oldest && oldest->number < record.number) continue;
    oldest = record;
    commit = std::string(trim(*of_disk));
  }
  return commit;
}

Result<bool> has_os(sys::Files& files, const ClusterPaths& cluster, const std::string& os_repo, const std::string& commit) {
  if (TRY(exists(files, cluster.os() + "/" + commit))) return true;
  return exists(files, fmt::format("{}/objects/{}/{}.commit", os_repo, commit.substr(0, 2), commit.substr(2)));
}

Result<bool> registry_has(sys::Files& files, const std::string& storage, std::string_view digest) {
  const std::size_t colon = digest.find(':');
  if (colon == std::string_view::npos || digest.size() < colon + 3) return false;
  const std::string_view algorithm = digest.substr(0, colon), number = digest.substr(colon + 1);
  return exists(files, fmt::format("{}/docker/registry/v2/blobs/{}/{}/{}/data", storage, algorithm, number.substr(0, 2), number));
}

Result<> check_release(sys::Files& files, const Images& images, const std::string& release) {
  const std::size_t at = release.find('@');
  const bool is_own = release.starts_with(std::string(release_host) + "/") && at != std::string::npos;
  if (!is_own || images.registry.empty() || TRY(registry_has(files, images.registry, release.substr(at + 1)))) return Ok{};
  return error(Code::conflict,
               "release {}: not among the images in {} (run `make payload` to build both, or use --images with the folder of "
               "this release)",
               release.substr(at + 1), images.registry);
}

std::vector<std::string> preloaded_digests(std::string_view record) {
  std::vector<std::string> digests;
  for (const std::string_view line : split(record, '\n')) {
    if (const std::size_t blank = line.find(' '); blank != std::string_view::npos) digests.emplace_back(line.substr(0, blank));
  }
  return digests;
}

Result<ClusterConfig> with_os_record(const sys::Context& context, sys::Files& files, const ClusterPaths& cluster,
                                     ClusterConfig config) {
  if (!config.os_commit.empty()) return config;
  const std::optional<std::string> of_machines = TRY(os_of_machines(files, cluster));
  config.os_commit = of_machines ? *of_machines : TRY(newest_os(files, config.os_repo));
  TRY(files.write(cluster.config(), to_text(config), 0600));
  context.log.info("cluster {}: new machines get the machine OS {}{}", config.name, short_commit(config.os_commit),
                   of_machines ? ", like its existing machines" : "");
  return config;
}

Result<> keep_os(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                 const ClusterPaths& cluster) {
  const std::string system = cluster.os() + "/" + config.os_commit;
  if (TRY(exists(files, system))) return Ok{};
  if (!TRY(has_os(files, cluster, config.os_repo, config.os_commit))) {
    return error(Code::not_found,
                 "cluster {}: created with machine OS {}, which is no longer in {} (build that version again, or destroy the "
                 "cluster and create it again)",
                 config.name, short_commit(config.os_commit), config.os_repo);
  }
  const std::string& storage = config.images.registry;
  if (!storage.empty()) {
    const std::string image = TRY(image_of(context, runner, config.os_repo, config.os_commit));
    if (!TRY(registry_has(files, storage, image))) {
      return error(Code::conflict,
                   "machine OS {} in {}: belongs to image {}, which is not among the images in {} (run `make payload`)",
                   short_commit(config.os_commit), config.os_repo, image, storage);
    }
  }
  const sys::Output output =
      TRY(runner.run(context, {.argv = {"/bin/sh", "-c", std::string(data::content(data::provider(), "install-os")), "install-os",
                                        config.os_repo, std::string(release::machine_os_ref), std::string(os_name), cluster.os(),
                                        config.os_commit}}));
  if (output.status == 0) return Ok{};
  return error(Code::unavailable, "installing the machine OS from {}: status {}: {}", config.os_repo, output.status,
               trim(output.err));
}

Result<> keep_registry(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                       const ClusterPaths& cluster) {
  if (config.images.registry.empty()) return Ok{};
  if (!TRY(exists(files, cluster.registry()))) TRY(check_release(files, config.images, config.release));
  TRY(copy_by_links(context, files, runner, config.images.registry, cluster.registry()).context("copying the registry's images"));
  return copy_by_links(context, files, runner, config.images.registry_program, cluster.registry_program())
      .context("copying the registry");
}

Result<> keep_images(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                     const ClusterPaths& cluster) {
  const std::string& preload = config.images.preload;
  if (preload.empty() || TRY(exists(files, cluster.images()))) return Ok{};
  const auto record = TRY(files.read_if_exists(preload + ".images"));
  bool is_of_cluster = record && TRY(exists(files, preload + "/state"));
  for (const std::string& digest : preloaded_digests(record.value_or(""))) {
    if (config.images.registry.empty()) break;  // there is no registry to compare with
    is_of_cluster = is_of_cluster && TRY(registry_has(files, cluster.registry(), digest));
  }
  if (!is_of_cluster) {
    context.log.warn(
        "images in {}: not the ones that cluster {} was created with; new machines pull images from the registry of the cluster",
        preload, config.name);
    return Ok{};
  }
  return copy_by_links(context, files, runner, preload, cluster.images()).context("copying the images of machines");
}

}  // namespace slipway::provider::local
