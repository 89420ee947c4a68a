#include "node/os_build/build.h"

#include "base/flags.h"
#include "base/json.h"
#include "base/text.h"
#include "machineconfig/os_build_files.h"
#include "machineconfig/os_build_limits.h"
#include "node/os_build/leftovers.h"
#include "node/os_build/mount_targets.h"
#include "node/os_build/podman.h"
#include "node/os_build/preflight.h"
#include "node/os_build/registries.h"
#include "node/registry_access.h"
#include "release/blob_file.h"
#include "release/oci_layout.h"
#include "release/release.h"
#include "sys/lock.h"
#include "sys/temp_dir.h"
#include "sys/wait_for.h"

#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace slipway::node {

namespace {

using machineconfig::OsBuild;
using machineconfig::OsImage;

namespace limits = machineconfig::os_build_limits;
constexpr sys::Pace pace_of_builds{Milliseconds(10'000), Milliseconds(60'000)};
// A registry may be started again meanwhile: five minutes, in addition to the attempts of each request.
constexpr int attempts_of_registry = 8;
constexpr sys::Pace pace_of_registry{Milliseconds(5'000), Milliseconds(60'000)};
constexpr Milliseconds tool_limit{120'000};  // of commands that build nothing
constexpr std::uint64_t largest_config = 4u << 20;
constexpr const char* system_policy = "/etc/containers/policy.json";
constexpr std::string_view every_image = R"({"default": [{"type": "insecureAcceptAnything"}]})";

// The folder of one build.
struct Places {
  std::string folder, output;

  std::string containerfile() const { return folder + "/Containerfile"; }
  std::string image() const { return output + "/image.json"; }
  std::string log() const { return output + "/build.log"; }
  std::string layout() const { return output + "/oci"; }
  std::string new_layout() const { return output + "/oci.new"; }
};

// podman with its storage and its configuration in a temporary folder.
class Builder {
 public:
  // access: for reading images
  static Result<Builder> make(const Environment& environment, const Places& places, release::RegistryOptions access,
                              std::string logins, std::string_view containerfile, bool has_cache);

  // Fails before anything is built.
  Result<> check(const OsBuild& build);
  Result<> build(const OsBuild& build, const std::string& containerfile);
  Result<> write_layout(const OsBuild& build);
  // Removes the containers that a killed build left in the storage.
  Result<> remove_containers();
  // Removes all images from the storage but the last result of each pool and what these are made of.
  void remove_old_images(const OsBuild& build);

 private:
  Builder(const Environment& environment, Places places, sys::TempDir folder, bool has_cache)
      : environment_(environment),
        places_(std::move(places)),
        folder_(std::move(folder)),
        end_(environment.context.clock.steady() + limits::run),
        has_cache_(has_cache) {}

  Result<> configure(std::string_view containerfile);
  Result<> find_storage();
  Result<FreeSpace> free_space(std::string what, const std::string& path, std::uint64_t needed);
  Result<> read_base(const OsBuild& build);
  Result<sys::Output> podman(std::vector<std::string> argv, Milliseconds limit, std::vector<std::string>* lines = nullptr);
  // Fails with podman's reason. Returns what it prints.
  Result<std::string> must(std::vector<std::string> arguments, std::string_view doing);
  Result<Milliseconds> time_left() const;
  Result<> keep_last_results(const OsBuild& build);

  const Environment& environment_;
  Places places_;
  sys::TempDir folder_;
  SteadyTime end_;
  bool has_cache_;
  release::RegistryOptions access_;
  std::string logins_, policy_, authorities_;
  Podman podman_{.storage = os_build_storage};
  std::string storage_;                   // the folder of podman's storage
  std::vector<std::string> base_layers_;  // digests of the unpacked layers
  std::uint64_t base_size_ = 0;           // of the compressed layers
};

Result<Builder> Builder::make(const Environment& environment, const Places& places, release::RegistryOptions access,
                              std::string logins, std::string_view containerfile, bool has_cache) {
  Builder builder(environment, places, TRY(sys::TempDir::make("os-build")), has_cache);
  builder.access_ = std::move(access);
  builder.logins_ = std::move(logins);
  TRY(builder.configure(containerfile));
  TRY(builder.find_storage());
  return builder;
}

Result<> Builder::configure(std::string_view containerfile) {
  sys::Files& files = environment_.files;
  const std::string conf = fmt::format("unqualified-search-registries = [\"{}\"]\n{}", registry_of_short_names,
                                       registries_conf(access_.endpoints, registries_in(containerfile)));
  TRY(files.write(folder_.path() + "/registries.conf", conf, 0644));
  const std::set<std::string> authorities = authorities_of(access_.endpoints);
  if (!authorities.empty()) authorities_ = folder_.path() + "/authorities";
  int number = 0;
  for (const std::string& pem : authorities) TRY(files.write(fmt::format("{}/{}.crt", authorities_, ++number), pem, 0644));
  if (TRY(files.info(system_policy))) return Ok{};
  policy_ = folder_.path() + "/policy.json";
  return files.write(policy_, every_image, 0644);
}

// Without overlayfs, every layer is a copy of all files.
Result<> Builder::find_storage() {
  const std::vector<std::string> question = {"info", "--format={{.Store.GraphRoot}}"};
  sys::Output output = TRY(podman(podman_command(podman_, question), tool_limit));
  if (output.status != 0) {
    environment_.context.log.warn("podman: {}; trying a storage without overlayfs", trim(output.err));
    podman_.storage += "-vfs";
    podman_.has_vfs = true;
    output = TRY(podman(podman_command(podman_, question), tool_limit));
  }
  if (output.status != 0) return error(Code::internal, "podman has no storage: {}", trim(output.err));
  storage_ = trim(output.out);
  return Ok{};
}

Result<sys::Output> Builder::podman(std::vector<std::string> argv, Milliseconds limit, std::vector<std::string>* lines) {
  sys::Command command{
      .argv = std::move(argv),
      .environment = {"CONTAINERS_REGISTRIES_CONF=" + folder_.path() + "/registries.conf", "PODMAN_IGNORE_CGROUPSV1_WARNING=1"},
      .limit = limit};
  if (lines) {
    command.on_line = [&](sys::Stream, std::string_view line) {
      lines->emplace_back(line);
      environment_.context.log.info("podman: {}", line);
      // The journal has the line, too.
      (void)environment_.files.append(places_.log(), std::string(line) + "\n", 0600).ok();
    };
  }
  return environment_.runner.run(environment_.context, command);
}

Result<Milliseconds> Builder::time_left() const {
  const auto left = std::chrono::duration_cast<Milliseconds>(end_ - environment_.context.clock.steady());
  if (left > Milliseconds(0)) return left;
  // A program of the Containerfile may wait for ever. Another attempt would take as long.
  constexpr auto minutes = std::chrono::duration_cast<std::chrono::minutes>(limits::run);
  return error(Code::invalid, "the build takes longer than {} minutes (move long steps into an image, and copy their result)",
               minutes.count());
}

Result<std::string> Builder::must(std::vector<std::string> arguments, std::string_view doing) {
  sys::Output output = TRY(podman(podman_command(podman_, std::move(arguments)), TRY(time_left())));
  if (output.status == 0) return std::move(output.out);
  std::vector<std::string> lines;
  for (const std::string_view line : split(trim(output.err), '\n')) lines.emplace_back(line);
  const PodmanFailure failure = classify_failure(lines);
  return error(failure.code, "{}: {}", doing, failure.reason);
}

Result<FreeSpace> Builder::free_space(std::string what, const std::string& path, std::uint64_t needed) {
  TRY(environment_.files.make_directories(path, 0755));
  const std::string text =
      TRY(sys::run_checked(environment_.runner, environment_.context,
                           {.argv = {"df", "--block-size=1", "--output=avail,target", path}, .limit = tool_limit}));
  auto [bytes, file_system] = TRY(parse_free_space(text));
  return FreeSpace{
      .what = std::move(what), .path = path, .file_system = std::move(file_system), .bytes = bytes, .needed = needed};
}

// errors: also invalid: for another architecture
Result<> Builder::read_base(const OsBuild& build) {
  const sys::Context& context = environment_.context;
  const release::Reference base = TRY(release::parse_reference(build.base_image));
  release::RegistryClient client(environment_.http, access_);
  release::RawManifest top = TRY(client.manifest(context, base));
  const release::RawManifest raw = TRY(release::manifest_for_this_machine(context, client, base, std::move(top)));
  const release::ImageManifest manifest = TRY(release::parse_image_manifest(raw));
  const std::string text = TRY(release::blob_text(context, client, base, manifest.config, largest_config));
  const Json config = TRY(parse_json(text, "its config"));
  const std::string architecture = text_of(config, {"architecture"});
  if (architecture != release::machine_architecture())
    return error(Code::invalid, "it is for {}, and this machine is {}", architecture, release::machine_architecture());
  base_layers_ = texts_of(config, {"rootfs", "diff_ids"});
  for (const release::Descriptor& layer : manifest.layers) base_size_ += layer.size;
  return Ok{};
}

Result<> Builder::check(const OsBuild& build) {
  TRY(check_memory(TRY(environment_.files.read("/proc/meminfo"))));
  TRY(read_base(build).context("base image " + build.base_image));
  std::vector<FreeSpace> places;
  places.push_back(TRY(free_space("podman's storage", storage_, storage_needs(base_size_))));
  places.push_back(TRY(free_space("the image", places_.output, output_needs(base_size_))));
  return check_space(places);
}

Result<> Builder::remove_containers() {
  const std::string listed = TRY(must({"ps", "--all", "--external", "--quiet"}, "listing what a killed build left"));
  std::vector<std::string> arguments = {"rm", "--force"};
  for (const std::string_view line : split(trim(listed), '\n')) {
    if (!line.empty()) arguments.emplace_back(line);
  }
  if (arguments.size() > 2) TRY(must(std::move(arguments), "removing what a killed build left"));
  return Ok{};
}

Result<> Builder::build(const OsBuild& build, const std::string& containerfile) {
  const std::vector<std::string> argv = build_command(podman_, {.folder = places_.folder,
                                                                .tag = build.push_spec(),
                                                                .logins = logins_,
                                                                .authorities = authorities_,
                                                                .policy = policy_,
                                                                .has_cache = has_cache_});
  int made = 0;
  return sys::retry<Ok>(environment_.context, limits::attempts, pace_of_builds, [&]() -> Result<> {
    std::vector<std::string> lines;
    if (++made > 1) environment_.context.log.warn("attempt {} of {} to build the OS image", made, limits::attempts);
    const Result<sys::Output> output = podman(argv, TRY(time_left()), &lines);
    if (!output.ok() && output.error().code() == Code::timeout) TRY(time_left());
    if (!output.ok()) return output.error();
    if (output->status == 0) return Ok{};
    return explain_failure(classify_failure(lines), containerfile, first_line_of_user(build), lines);
  });
}

Result<> Builder::write_layout(const OsBuild& build) {
  TRY(environment_.files.remove(places_.new_layout()));
  TRY(must(export_arguments(build.push_spec(), places_.new_layout(), build.name, policy_), "writing the image to disk"));
  return remove_mount_targets(environment_.context, environment_.files, places_.new_layout(), base_layers_.size());
}

Result<> Builder::keep_last_results(const OsBuild& build) {
  constexpr std::string_view doing = "removing images of earlier builds";
  constexpr const char* format = "--format={{.ID}} {{.Repository}}:{{.Tag}}";
  // The recipe sets this label.
  const std::vector<std::string> list_results = {"images", "--no-trunc", "--filter=label=machineconfigpool", format};
  std::vector<StoredImage> results = parse_images(TRY(must(list_results, doing)));
  std::vector<std::string> remove = earlier_results(results, build.pool, build.push_spec());
  if (!remove.empty()) {
    remove.insert(remove.begin(), "rmi");
    TRY(must(std::move(remove), doing));
  }
  // Steps that no image has any more.
  TRY(must({"image", "prune", "--force"}, doing));

  results = parse_images(TRY(must(list_results, doing)));
  std::set<std::string, std::less<>> used;
  for (const StoredImage& result : results) {
    const std::string history = TRY(must({"history", "--no-trunc", "--format={{.ID}}", result.id}, doing));
    for (const std::string_view id : split(history, '\n')) used.emplace(trim(id));
    used.insert(result.id);
  }
  std::vector<std::string> unused = {"rmi", "--force"};
  const std::vector<StoredImage> all = parse_images(TRY(must({"images", "--no-trunc", format}, doing)));
  for (const StoredImage& image : all) {
    if (!used.contains(image.id)) unused.push_back(image.id);
  }
  if (unused.size() > 2) TRY(must(std::move(unused), doing));
  return Ok{};
}

void Builder::remove_old_images(const OsBuild& build) {
  const Result<> removed = keep_last_results(build);
  if (!removed.ok()) environment_.context.log.warn("{}", removed.error().message());
}

// ---- the image on disk

// errors: invalid: machines could not import the image (node/os_update/image.h)
Result<OsImage> describe_layout(const Environment& environment, const std::string& folder, OsImage image) {
  const sys::Context& context = environment.context;
  release::OciLayout layout = TRY(release::OciLayout::open(environment.files, folder));
  const release::Reference name = TRY(release::parse_reference(image.build.push_spec()));
  const release::RawManifest raw = TRY(layout.manifest(context, name));
  const release::ImageManifest manifest = TRY(release::parse_image_manifest(raw));
  const std::string text = TRY(release::blob_text(context, layout, name, manifest.config, largest_config));
  const Json config = TRY(parse_json(text, "the config of the image"));
  const std::size_t unpacked = find_array(config, {"rootfs", "diff_ids"}).size();
  if (unpacked != manifest.layers.size()) {
    return error(Code::invalid, "the image has {} layers, but its config lists {}", manifest.layers.size(), unpacked);
  }
  image.digest = raw.digest.text();
  image.bytes = static_cast<long long>(raw.bytes.size() + manifest.config.size);
  for (const release::Descriptor& layer : manifest.layers) image.bytes += static_cast<long long>(layer.size);
  return image;
}

// The result of an earlier call for the same build.
std::optional<OsImage> known_image(const Environment& environment, const Places& places, const OsBuild& build) {
  Result<std::optional<OsImage>> image = machineconfig::read_os_image(environment.files, places.image());
  if (!image.ok() || !image.value() || image.value()->build != build) return std::nullopt;
  const Result<OsImage> on_disk = describe_layout(environment, places.layout(), *image.value());
  if (!on_disk.ok() || on_disk->digest != image.value()->digest) return std::nullopt;
  return std::move(image).value();
}

// ---- push

// Pushes the image of a build.
class Pusher {
 public:
  // access: for reading images; the logins are those for the push
  Pusher(const Environment& environment, release::Reference name, release::RegistryOptions access)
      : environment_(environment), name_(std::move(name)), client_(environment.http, std::move(access)) {}

  // Whether the registry takes blobs, before a build of minutes: pushes two bytes, which no manifest has.
  Result<> check();
  // The manifest is pushed last and read back, so the registry has all of the image then. Blobs that it has are skipped.
  Result<> push(const std::string& folder);

 private:
  const Environment& environment_;
  release::Reference name_;
  release::RegistryClient client_;
};

Result<> Pusher::check() {
  constexpr std::string_view content = "{}";
  const release::Descriptor blob{"application/vnd.oci.empty.v1+json", release::Digest::of(content), content.size()};
  return client_.push_blob(environment_.context, name_, blob, [&]() -> Result<release::RegistryClient::Reader> {
    return release::RegistryClient::Reader([rest = content](char* buffer, std::size_t size) mutable -> Result<std::size_t> {
      const std::size_t taken = rest.copy(buffer, size);
      rest.remove_prefix(taken);
      return taken;
    });
  });
}

Result<> Pusher::push(const std::string& folder) {
  const sys::Context& context = environment_.context;
  release::OciLayout layout = TRY(release::OciLayout::open(environment_.files, folder));
  const release::RawManifest raw = TRY(layout.manifest(context, name_));
  const release::ImageManifest manifest = TRY(release::parse_image_manifest(raw));
  std::vector<release::Descriptor> blobs = manifest.layers;
  blobs.push_back(manifest.config);
  for (const release::Descriptor& blob : blobs) {
    if (TRY(client_.has_blob(context, name_, blob))) continue;
    context.log.info("pushing {}", human_size(blob.size));
    std::optional<release::BlobReader> file;
    TRY(client_.push_blob(context, name_, blob, [&]() -> Result<release::RegistryClient::Reader> {
      file = TRY(release::BlobReader::open(fmt::format("{}/blobs/sha256/{}", folder, blob.digest.hex())));
      return release::RegistryClient::Reader([&](char* buffer, std::size_t size) { return file->read(buffer, size); });
    }));
  }
  if (TRY(client_.has_manifest(context, name_, raw.digest))) return Ok{};
  return client_.push_manifest(context, name_, raw);
}

// ---- all of it

// What a registry may do later.
Result<> patiently(const sys::Context& context, const std::function<Result<>()>& attempt) {
  return sys::retry<Ok>(context, attempts_of_registry, pace_of_registry, attempt);
}

Result<Secret> read_logins(sys::Files& files, const std::string& path) { return Secret(TRY(files.read(path))); }

Result<OsImage> build_image(const Environment& environment, const Places& places, const OsBuild& build, Builder& builder,
                            const std::string& containerfile) {
  OsImage image{.build = build, .started = environment.context.clock.now()};
  TRY(builder.remove_containers());
  TRY(builder.build(build, containerfile));
  TRY(builder.write_layout(build));
  image = TRY(describe_layout(environment, places.new_layout(), std::move(image)));
  image.ended = environment.context.clock.now();
  TRY(environment.files.remove(places.image()));
  TRY(environment.files.remove(places.layout()));
  TRY(environment.files.rename(places.new_layout(), places.layout()));
  TRY(machineconfig::write_os_image(environment.files, places.image(), image));
  builder.remove_old_images(build);
  return image;
}

Result<OsImage> build_and_push(const Environment& environment, const OsBuildOptions& options, const Places& places,
                               const OsBuild& build) {
  sys::Files& files = environment.files;
  release::RegistryOptions access = TRY(registry_access(environment.context, files));
  if (!options.pull_logins.empty()) {
    const Secret text = TRY(read_logins(files, options.pull_logins));
    access.credentials = TRY(release::Credentials::parse(text.reveal(), options.pull_logins));
  }
  release::Credentials push_logins = access.credentials;
  if (!options.push_logins.empty()) {
    const Secret text = TRY(read_logins(files, options.push_logins));
    TRY(check_logins(build, text, options.push_logins));
    push_logins = TRY(release::Credentials::parse(text.reveal(), options.push_logins));
  }
  std::optional<OsImage> image = options.has_cache ? known_image(environment, places, build) : std::nullopt;
  if (image && image->is_pushed) return *image;
  const std::string pushing = "pushing to " + build.repository;
  release::RegistryOptions push_access = access;
  push_access.credentials = std::move(push_logins);
  Pusher pusher(environment, TRY(release::parse_reference(build.push_spec())), std::move(push_access));
  if (!image) {
    TRY(patiently(environment.context, [&] { return pusher.check(); }).context(pushing));
    std::string logins = options.pull_logins;
    if (logins.empty() && TRY(files.info(std::string(kubelet_logins)))) logins = kubelet_logins;
    const std::string containerfile = TRY(files.read(places.containerfile()));
    TRY(files.make_directories(places.folder + "/root", 0755));  // the Containerfile copies it; there may be no files
    TRY(files.remove(places.log()));
    Builder builder = TRY(Builder::make(environment, places, access, logins, containerfile, options.has_cache));
    TRY(patiently(environment.context, [&] { return builder.check(build); }));
    image = TRY(build_image(environment, places, build, builder, containerfile));
  }
  TRY(patiently(environment.context, [&] { return pusher.push(places.layout()); }).context(pushing));
  image->is_pushed = true;
  TRY(machineconfig::write_os_image(files, places.image(), *image));
  return *image;
}

}  // namespace

Result<OsImage> build_os_image(const Environment& environment, const OsBuildOptions& options) {
  const Places places{.folder = options.folder, .output = options.output};
  const std::string path = places.folder + "/build.json";
  const std::optional<OsBuild> build = TRY(machineconfig::read_os_build(environment.files, path));
  if (!build) return error(Code::not_found, "{} does not exist", path);
  TRY(environment.files.make_directories(places.output, 0755));
  const sys::FileLock lock =
      TRY(sys::FileLock::acquire(places.output + "/.lock", "the build of the OS image in " + places.output));
  // It says why the last call failed, not this one.
  const std::string failure = places.output + "/" + machineconfig::os_build_failure_file;
  TRY(environment.files.remove(failure));
  sys::Span span(environment.context.events, environment.context.clock, "os-image-build", build->name);
  Result<OsImage> image =
      span.end(build_and_push(environment, options, places, *build)).context("OS image " + build->push_spec());
  if (!image.ok()) TRY(machineconfig::write_os_failure(environment.files, failure, image.error()));
  return image;
}

Result<> run_os_image_build(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("os-image-build",
                                      {{.name = "folder", .required = true},
                                       {.name = "output", .required = true},
                                       {.name = "pull-logins"},
                                       {.name = "push-logins"},
                                       {.name = "no-cache", .is_switch = true}},
                                      arguments));
  const OsImage image = TRY(build_os_image(environment, {.folder = flags.text("folder"),
                                                         .output = flags.text("output"),
                                                         .pull_logins = flags.text("pull-logins"),
                                                         .push_logins = flags.text("push-logins"),
                                                         .has_cache = !flags.is_set("no-cache")}));
  environment.print(emit_json(machineconfig::to_json(image), JsonStyle::pretty));
  return Ok{};
}

}  // namespace slipway::node
