#include "node/os_update/image.h"

#include "base/json.h"
#include "base/text.h"
#include "release/blob_store.h"
#include "release/commit_metadata.h"
#include "release/layer_tree.h"
#include "release/manifest.h"
#include "release/release.h"

#include <algorithm>

namespace slipway::node {

namespace {

constexpr const char* repository = "/ostree/repo";
// ostree removes what is older than a day from its folder for temporary files.
const std::string work_folder = std::string(repository) + "/tmp/slipway-os";
const std::string blobs = work_folder + "/blobs", tree = work_folder + "/tree";
constexpr std::string_view image_key = "slipway.image", layers_key = "slipway.layers";
constexpr std::string_view version_label = "org.opencontainers.image.version";
constexpr std::uint64_t largest_config = 4u << 20;

struct OsImage {
  std::vector<release::Descriptor> layers;  // compressed
  std::vector<release::Digest> contents;    // of the layers when unpacked
  std::string version;
};

Result<std::string> run(const Environment& environment, std::vector<std::string> argv) {
  return sys::run_checked(environment.runner, environment.context, {.argv = std::move(argv)});
}

Result<std::string> ostree(const Environment& environment, std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"ostree", fmt::format("--repo={}", repository)};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run(environment, std::move(argv));
}

// "" if the commit has no such key.
Result<std::string> metadata(const Environment& environment, const std::string& commit, std::string_view key) {
  Result<std::string> value =
      release::commit_metadata(environment.context, environment.runner, repository, commit, std::string(key));
  if (!value.ok() && value.error().code() == Code::cancelled) return value;
  return value.ok() ? value : Result<std::string>("");
}

std::vector<std::string> texts_of(const std::vector<release::Digest>& digests) {
  std::vector<std::string> texts;
  for (const release::Digest& digest : digests) texts.push_back(digest.text());
  return texts;
}

Result<OsImage> describe(const Environment& environment, release::ImageSource& source, const release::Reference& image) {
  release::RawManifest top = TRY(source.manifest(environment.context, image));
  const release::RawManifest raw = TRY(release::manifest_for_this_machine(environment.context, source, image, std::move(top)));
  release::ImageManifest manifest = TRY(release::parse_image_manifest(raw));
  const std::string text = TRY(release::blob_text(environment.context, source, image, manifest.config, largest_config));
  const Json config = TRY(parse_json(text, "its config"));
  const std::string_view architecture = find_string(config, {"architecture"}).value_or("");
  if (architecture != release::machine_architecture())
    return error(Code::invalid, "it is for {}, and this machine is {}", architecture, release::machine_architecture());
  OsImage described{.layers = std::move(manifest.layers), .contents = {}, .version = {}};
  for (const Json& item : find_array(config, {"rootfs", "diff_ids"})) {
    described.contents.push_back(TRY(release::Digest::parse(item.is_string() ? std::string_view(item.get_string()) : "")));
  }
  if (described.contents.size() != described.layers.size()) {
    return error(Code::invalid, "it has {} layers, but its config lists {}", described.layers.size(), described.contents.size());
  }
  described.version = find_string(config, {"config", "Labels", version_label}).value_or("");
  return described;
}

// Starts the tree with the files of a commit, as links to its objects, where they are in an image.
Result<> begin_tree(const Environment& environment, const KnownImage* base) {
  TRY(environment.files.remove(tree));
  TRY(environment.files.make_directories(work_folder, 0700));
  if (!base) return environment.files.make_directories(tree, 0755);
  TRY(ostree(environment, {"checkout", "--require-hardlinks", "--force-copy-zerosized", base->commit, tree}));
  return environment.files.rename(tree + "/usr/etc", tree + "/etc");
}

Result<> check_tree(const Environment& environment) {
  for (const char* needed : {"/etc", "/usr/lib/os-release", "/usr/lib/systemd/systemd", "/usr/lib/modules"}) {
    if (!TRY(environment.files.info(tree + needed))) {
      return error(Code::invalid, "it is no machine OS, because it has no {} (build it FROM the machine-os image of the release)",
                   needed);
    }
  }
  if (TRY(environment.files.info(tree + "/sysroot/ostree/repo"))) {
    return error(Code::invalid, "it has an OSTree repository, which only rpm-ostree and bootc can import");
  }
  return Ok{};
}

Result<> finish_tree(const Environment& environment) {
  TRY(check_tree(environment));
  TRY(environment.files.remove(tree + "/usr/etc"));
  TRY(environment.files.rename(tree + "/etc", tree + "/usr/etc"));
  TRY(environment.files.remove(tree + "/var"));
  return environment.files.make_directories(tree + "/var", 0755);
}

Result<std::string> commit_tree(const Environment& environment, const release::Digest& digest, const OsImage& described) {
  const std::string commit =
      TRY(ostree(environment, {"commit", "--branch=slipway/os/" + digest.hex(), "--tree=dir=" + tree, "--bootable",
                               "--no-bindings", "--parent=none", "--consume", "--link-checkout-speedup",
                               "--timestamp=1970-01-01 00:00:00 +0000", "--subject=machine-os " + described.version,
                               fmt::format("--add-metadata-string={}={}", image_key, digest.text()),
                               fmt::format("--add-metadata-string={}={}", layers_key, join(texts_of(described.contents), " ")),
                               "--add-metadata-string=version=" + described.version}));
  return std::string(trim(commit));
}

// files: the layers that the base does not have
Result<std::string> build_commit(const Environment& environment, const release::Reference& image, const OsImage& described,
                                 const KnownImage* base, const std::vector<std::string>& files) {
  const std::size_t first = described.layers.size() - files.size();
  TRY(begin_tree(environment, base));
  for (std::size_t i = 0; i < files.size(); ++i) {
    TRY(release::apply_layer(environment.context, {.path = files[i], .diff_id = described.contents[first + i]}, tree)
            .context(fmt::format("layer {} ({})", first + i + 1, described.layers[first + i].digest.text())));
  }
  TRY(finish_tree(environment));
  return commit_tree(environment, *image.digest, described);
}

Result<std::string> import(const Environment& environment, release::ImageSource& source, const release::Reference& image) {
  const std::vector<KnownImage> known = TRY(known_images(environment));
  if (const KnownImage* same = find_image(known, *image.digest)) return same->commit;
  const OsImage described = TRY(describe(environment, source, image));
  const KnownImage* base = find_base(known, texts_of(described.contents));
  const std::size_t first = base ? base->layers.size() : 0;
  std::vector<std::string> files;
  for (std::size_t i = first; i < described.layers.size(); ++i) {
    environment.context.log.info("layer {} of {}: {}", i + 1, described.layers.size(), human_size(described.layers[i].size));
    files.push_back(TRY(release::fetch_blob(environment.context, source, image, described.layers[i], blobs)));
  }
  Result<std::string> commit = build_commit(environment, image, described, base, files);
  // After a failure, too; the layers stay, for the next attempt.
  TRY(environment.files.remove(commit.ok() ? work_folder : tree));
  return commit;
}

}  // namespace

Result<std::string> image_digest(const Environment& environment, const std::string& commit) {
  return metadata(environment, commit, image_key);
}

Result<std::vector<KnownImage>> known_images(const Environment& environment) {
  std::vector<KnownImage> images;
  const std::string refs = TRY(ostree(environment, {"refs"}));
  for (const std::string_view line : split(trim(refs), '\n')) {
    const std::string ref(trim(line));
    if (!ref.starts_with("slipway/")) continue;
    KnownImage image{.ref = ref, .commit = {}, .digest = {}, .layers = {}};
    image.commit = trim(TRY(ostree(environment, {"rev-parse", ref})));
    image.digest = TRY(image_digest(environment, image.commit));
    const std::string layers = TRY(metadata(environment, image.commit, layers_key));
    for (const std::string_view layer : split(layers, ' ')) {
      if (!layer.empty()) image.layers.emplace_back(layer);
    }
    images.push_back(std::move(image));
  }
  return images;
}

const KnownImage* find_image(const std::vector<KnownImage>& known, const release::Digest& digest) {
  const auto found = std::ranges::find(known, digest.text(), &KnownImage::digest);
  return found == known.end() ? nullptr : &*found;
}

const KnownImage* find_base(const std::vector<KnownImage>& known, const std::vector<std::string>& layers) {
  const KnownImage* best = nullptr;
  for (const KnownImage& image : known) {
    const bool is_base = !image.layers.empty() && image.layers.size() <= layers.size() &&
                         std::equal(image.layers.begin(), image.layers.end(), layers.begin());
    if (is_base && (!best || image.layers.size() > best->layers.size())) best = &image;
  }
  return best;
}

Result<std::string> import_image(const Environment& environment, release::ImageSource& source, const release::Reference& image) {
  if (!image.digest) return error(Code::invalid, "OS image {} has no digest", release::to_string(image));
  sys::Span span(environment.context.events, environment.context.clock, "os-image", release::to_string(image));
  return span.end(import(environment, source, image).context("OS image " + release::to_string(image)));
}

}  // namespace slipway::node
