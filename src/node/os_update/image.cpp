#include "node/os_update/image.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "machineconfig/update_plan.h"
#include "release/blob_store.h"
#include "release/commit_metadata.h"
#include "release/layer_tree.h"
#include "release/manifest.h"
#include "release/release.h"

#include <algorithm>
#include <utility>

namespace slipway::node {

namespace {

constexpr const char* repository = "/ostree/repo";
// ostree removes what is older than a day from its folder for temporary files.
const std::string work_folder = std::string(repository) + "/tmp/slipway-os";
const std::string blobs = work_folder + "/blobs", tree = work_folder + "/tree";
constexpr std::string_view image_key = "slipway.image", layers_key = "slipway.layers", version_key = "version";
// Of a commit with extensions: the digest of their image, and their names. The label of the image has the same name.
constexpr std::string_view extensions_image_key = "slipway.extensions-image", extensions_key = "slipway.extensions";
// Of a commit: the packages of an extension (os/extensions/build), and dpkg's database.
constexpr std::string_view packages_folder = "/usr/share/slipway/extensions/";
constexpr std::string_view package_database = "/usr/lib/sysimage/dpkg/status";
constexpr std::string_view version_label = "org.opencontainers.image.version";
constexpr std::uint64_t largest_config = 4u << 20;

struct OsImage {
  std::vector<release::Descriptor> layers;  // compressed
  std::vector<release::Digest> contents;    // of the layers when unpacked
  std::string version;
  std::vector<std::string> extensions;  // of an image of extensions
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

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
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
  OsImage described{.layers = std::move(manifest.layers), .contents = {}, .version = {}, .extensions = {}};
  for (const Json& item : find_array(config, {"rootfs", "diff_ids"})) {
    described.contents.push_back(TRY(release::Digest::parse(item.is_string() ? std::string_view(item.get_string()) : "")));
  }
  if (described.contents.size() != described.layers.size()) {
    return error(Code::invalid, "it has {} layers, but its config lists {}", described.layers.size(), described.contents.size());
  }
  described.version = find_string(config, {"config", "Labels", version_label}).value_or("");
  described.extensions = words_of(find_string(config, {"config", "Labels", extensions_key}).value_or(""));
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

using Metadata = std::vector<std::pair<std::string_view, std::string>>;

Result<std::string> commit_tree(const Environment& environment, const std::string& ref, const Metadata& described) {
  std::vector<std::string> arguments = {"commit",     "--branch=" + ref,         "--tree=dir=" + tree,
                                        "--bootable", "--no-bindings",           "--parent=none",
                                        "--consume",  "--link-checkout-speedup", "--timestamp=1970-01-01 00:00:00 +0000"};
  for (const auto& [key, value] : described) {
    if (key == version_key) arguments.push_back("--subject=machine-os " + value);
    arguments.push_back(fmt::format("--add-metadata-string={}={}", key, value));
  }
  return std::string(trim(TRY(ostree(environment, std::move(arguments)))));
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
  return commit_tree(environment, "slipway/os/" + image.digest->hex(),
                     {{image_key, image.digest->text()},
                      {layers_key, join(texts_of(described.contents), " ")},
                      {version_key, described.version}});
}

Result<std::string> import(const Environment& environment, release::ImageSource& source, const release::Reference& image) {
  const std::vector<KnownImage> known = TRY(known_images(environment));
  if (const KnownImage* same = find_image(known, image.digest->text())) return same->commit;
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

std::string name_of(std::string_view extension) {
  return extension == machineconfig::realtime_extension ? "kernelType realtime" : fmt::format("extension {}", extension);
}

Result<> record_packages(const Environment& environment, const std::string& extension) {
  const std::string file = tree + std::string(package_database);
  const auto packages = TRY(environment.files.read_if_exists(fmt::format("{}{}{}", tree, packages_folder, extension)));
  const auto database = TRY(environment.files.read_if_exists(file));
  if (!packages || !database) return Ok{};
  return environment.files.write(file, add_packages(*database, *packages), 0644);
}

Result<> build_extended(const Environment& environment, const KnownImage& base, const Extensions& extensions,
                        const std::vector<release::LayerFile>& layers) {
  TRY(begin_tree(environment, &base));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    TRY(release::apply_layer(environment.context, layers[i], tree).context(name_of(extensions.names[i])));
    TRY(record_packages(environment, extensions.names[i]));
  }
  TRY(finish_tree(environment));
  const std::string names = join(extensions.names, " "), version = TRY(metadata(environment, base.commit, version_key));
  TRY(commit_tree(
      environment, "slipway/extended/" + sha256_hex(fmt::format("{} {} {}", base.digest, extensions.image, names)),
      {{image_key, base.digest}, {extensions_image_key, extensions.image}, {extensions_key, names}, {version_key, version}}));
  return Ok{};
}

Result<> extend(const Environment& environment, release::ImageSource& source, const std::string& base_digest,
                const release::Reference& image, const Extensions& extensions) {
  const std::vector<KnownImage> known = TRY(known_images(environment));
  if (find_image(known, base_digest, extensions)) return Ok{};
  const KnownImage* base = find_image(known, base_digest);
  if (!base) return error(Code::not_found, "the OS image {} is not on this machine", base_digest);
  const OsImage described = TRY(describe(environment, source, image));
  if (described.extensions.empty() || described.extensions.size() != described.layers.size()) {
    return error(Code::invalid, "it is no image of extensions: it has {} layers, and its label {} has {} names",
                 described.layers.size(), extensions_key, described.extensions.size());
  }
  std::vector<release::LayerFile> layers;
  for (const std::size_t index : TRY(find_extensions(described.extensions, extensions.names))) {
    const std::string name = name_of(described.extensions[index]);
    environment.context.log.info("{}: {}", name, human_size(described.layers[index].size));
    std::string file = TRY(release::fetch_blob(environment.context, source, image, described.layers[index], blobs).context(name));
    layers.push_back({.path = std::move(file), .diff_id = described.contents[index]});
  }
  const Result<> built = build_extended(environment, *base, extensions, layers);
  // After a failure, too; the layers stay, for the next attempt.
  TRY(environment.files.remove(built.ok() ? work_folder : tree));
  return built;
}

// Paragraphs of dpkg's database by their packages, in order.
std::vector<std::pair<std::string, std::string>> paragraphs_of(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> paragraphs;
  std::string package, architecture, paragraph;
  const auto end = [&] {
    if (!paragraph.empty()) paragraphs.emplace_back(package + ":" + architecture, std::exchange(paragraph, {}));
    package.clear(), architecture.clear();
  };
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) {
      end();
      continue;
    }
    if (line.starts_with("Package: ")) package = line;
    if (line.starts_with("Architecture: ")) architecture = line;
    paragraph += fmt::format("{}\n", line);
  }
  end();
  return paragraphs;
}

}  // namespace

Result<release::Reference> image_by_digest(std::string_view field, const std::string& image) {
  release::Reference reference = TRY(release::parse_reference(image).context(field));
  if (!reference.digest) return error(Code::invalid, "{} {} has no digest", field, image);
  return reference;
}

Result<std::string> image_digest(const Environment& environment, const std::string& commit) {
  return metadata(environment, commit, image_key);
}

Result<Extensions> extensions_of(const Images& images) {
  if (images.extensions.empty()) return Extensions{};
  const release::Reference image = TRY(image_by_digest(extensions_image_field, images.extensions));
  return Extensions{.image = image.digest->text(), .names = images.wanted_extensions};
}

Result<Extensions> extensions_of(const Environment& environment, const std::string& commit) {
  Extensions extensions;
  extensions.names = words_of(TRY(metadata(environment, commit, extensions_key)));
  if (!extensions.names.empty()) extensions.image = TRY(metadata(environment, commit, extensions_image_key));
  return extensions;
}

Result<std::vector<KnownImage>> known_images(const Environment& environment) {
  std::vector<KnownImage> images;
  const std::string refs = TRY(ostree(environment, {"refs"}));
  for (const std::string_view line : split(trim(refs), '\n')) {
    const std::string ref(trim(line));
    if (!ref.starts_with("slipway/")) continue;
    KnownImage image{.ref = ref, .commit = {}, .digest = {}, .layers = {}, .extensions = {}};
    image.commit = trim(TRY(ostree(environment, {"rev-parse", ref})));
    image.digest = TRY(image_digest(environment, image.commit));
    image.layers = words_of(TRY(metadata(environment, image.commit, layers_key)));
    image.extensions = TRY(extensions_of(environment, image.commit));
    images.push_back(std::move(image));
  }
  return images;
}

const KnownImage* find_image(const std::vector<KnownImage>& known, const std::string& digest, const Extensions& extensions) {
  const auto found = std::ranges::find_if(
      known, [&](const KnownImage& image) { return image.digest == digest && image.extensions == extensions; });
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

Result<std::vector<std::size_t>> find_extensions(const std::vector<std::string>& of_image,
                                                 const std::vector<std::string>& names) {
  std::vector<std::size_t> found;
  std::vector<std::string> missing, known;
  for (const std::string& name : names) {
    const auto position = std::ranges::find(of_image, name);
    if (position == of_image.end()) missing.push_back(name_of(name));
    found.push_back(static_cast<std::size_t>(position - of_image.begin()));
  }
  if (missing.empty()) return found;
  for (const std::string& name : of_image) known.push_back(name_of(name));
  return error(Code::invalid, "it has no {}; it has: {}", join(missing, ", "), join(known, ", "));
}

Result<> add_extensions(const Environment& environment, release::ImageSource& source, const std::string& base,
                        const release::Reference& image, const std::vector<std::string>& names) {
  if (!image.digest) return error(Code::invalid, "image of extensions {} has no digest", release::to_string(image));
  sys::Span span(environment.context.events, environment.context.clock, "os-extensions", release::to_string(image));
  return span.end(extend(environment, source, base, image, {.image = image.digest->text(), .names = names})
                      .context("image of extensions " + release::to_string(image)));
}

std::string add_packages(std::string_view database, std::string_view packages) {
  auto all = paragraphs_of(database);
  for (auto& added : paragraphs_of(packages)) {
    const auto known = std::ranges::find(all, added.first, &std::pair<std::string, std::string>::first);
    if (known == all.end())
      all.push_back(std::move(added));
    else
      *known = std::move(added);
  }
  std::string text;
  for (const auto& [package, paragraph] : all) text += paragraph + "\n";
  return text;
}

}  // namespace slipway::node
