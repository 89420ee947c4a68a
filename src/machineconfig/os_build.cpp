#include "machineconfig/os_build.h"

#include "base/digest.h"
#include "ignition/data_url.h"
#include "ignition/gzip.h"
#include "machineconfig/containerfile.h"
#include "machineconfig/update_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace slipway::machineconfig {

namespace {

constexpr std::size_t length_of_name = 32;
constexpr std::size_t largest_file = 16 << 20;  // bytes, unpacked
constexpr unsigned for_everybody = 0004, may_enter = 0001;
constexpr std::string_view files_folder = "root";
constexpr std::string_view authorities_file = "authorities/cluster.crt";
// Programs of the Containerfile trust the authorities of the cluster. The machine adds them itself, so the file is not copied.
constexpr std::string_view trust_authorities =
    "RUN --mount=type=bind,source=authorities,target=/run/authorities "
    "for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do "
    "[ ! -e \"$bundle\" ] || cat /run/authorities/cluster.crt >>\"$bundle\"; done\n";

// Of the stage "configs"; the text of the user follows.
constexpr std::string_view last_instruction = "LABEL machineconfig=";

// A text that can be split in one way only: each part has its length before it.
class Serialisation {
 public:
  void add(std::string_view part) { text_ += fmt::format("{}:{}\n", part.size(), part); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Result<std::string> content_of(const WantedFile& file) {
  if (!file.contents.source) return std::string();
  std::string content = TRY(ignition::decode_data_url(*file.contents.source).context(file.path));
  if (file.contents.compression.value_or("") != "gzip") return content;
  return ignition::gunzip(content, largest_file).context(file.path);
}

// Folders that belong to the machine. Those that are not /var and /run are links into /var.
constexpr std::array<std::string_view, 6> of_machine = {"/var/", "/run/", "/usr/local/", "/opt/", "/home/", "/root/"};

// Folders of the config that not everybody may enter.
std::vector<std::string> private_folders(const MachineConfig& rendered) {
  std::vector<std::string> folders;
  for (const ignition::Directory& each : rendered.config.storage.directories) {
    if (!(static_cast<unsigned>(each.mode.value_or(0755)) & may_enter)) folders.push_back(each.path + "/");
  }
  return folders;
}

bool is_in_image(const WantedFile& file, const std::vector<std::string>& private_folders) {
  const auto is_below = [&](std::string_view folder) { return file.path.starts_with(folder); };
  return !file.is_mask && (file.mode & for_everybody) && std::ranges::none_of(of_machine, is_below) &&
         std::ranges::none_of(private_folders, is_below);
}

Result<std::vector<BuildFile>> files_of(const MachineConfig& rendered) {
  const std::vector<std::string> folders = private_folders(rendered);
  std::vector<BuildFile> files;
  for (const WantedFile& file : wanted_files(rendered)) {
    if (!is_in_image(file, folders)) continue;
    std::string content = TRY(content_of(file));
    files.push_back({.path = std::string(files_folder) + file.path, .content = std::move(content), .mode = file.mode & 0777});
  }
  return files;
}

std::string containerfile_of(const OsConfig& config, const OsBuild& build, bool has_files, bool has_authorities) {
  std::string text = lines_for_the_beginning(config.containerfile);
  text += fmt::format("FROM {} AS {}\n", build.base_image, configs_stage);
  if (has_files) text += fmt::format("COPY {}/ /\n", files_folder);
  if (has_authorities) text += trust_authorities;
  text += fmt::format("{}\"{}\" machineconfigpool=\"{}\" baseOSContainerImage=\"{}\"\n", last_instruction, build.rendered,
                      build.pool, build.base_image);
  text += config.containerfile.empty() ? fmt::format("FROM {} AS final\n", configs_stage) : config.containerfile;
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

// Kernel arguments and files that are not in the image are left out: they need no other image.
std::string name_of(const OsConfig& config, const OsBuild& build, const MachineConfig& rendered,
                    const std::vector<BuildFile>& files, const std::string& authorities) {
  Serialisation all;
  for (const std::string& part : {build.base_image, build.repository, config.containerfile, rendered.kernel_type, authorities})
    all.add(part);
  all.add(std::to_string(rendered.extensions.size()));
  for (const std::string& extension : rendered.extensions) all.add(extension);
  for (const BuildFile& file : files) {
    all.add(file.path);
    all.add(std::to_string(file.mode));
    all.add(file.content);
  }
  return fmt::format("{}-{}", config.pool, sha256_hex(all.text()).substr(0, length_of_name));
}

Result<WallTime> time_of(const Json& value, std::string_view key) {
  return parse_rfc3339(TRY(require_string(value, {key}))).context(key);
}

}  // namespace

Result<OsBuild> plan_os_build(const OsConfig& config, const MachineConfig& rendered, const ControllerConfig& controller) {
  OsBuild build{.pool = config.pool,
                .rendered = rendered.name,
                .base_image = rendered.os_image_url.empty() ? controller.os_image : rendered.os_image_url,
                .repository = config.repository(),
                .registry = config.registry()};
  if (build.base_image.find("@sha256:") == std::string::npos) {
    return error(Code::invalid,
                 "pool {}: its operating system '{}' has no digest, so no image can be built on it (set osImageURL by digest)",
                 config.pool, build.base_image);
  }
  const std::vector<BuildFile> files = TRY(files_of(rendered).context(rendered.name));
  build.name = name_of(config, build, rendered, files, controller.additional_trust_bundle);
  build.containerfile = containerfile_of(config, build, !files.empty(), !controller.additional_trust_bundle.empty());
  return build;
}

int first_line_of_user(const OsBuild& build) {
  const std::string& text = build.containerfile;
  const std::size_t label = text.find(fmt::format("\n{}", last_instruction));
  if (label == std::string::npos) return 1;
  const std::size_t end = text.find('\n', label + 1);
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(end + 1, text.size())), '\n'));
}

Result<std::vector<BuildFile>> build_files(const OsBuild& build, const MachineConfig& rendered,
                                           const ControllerConfig& controller) {
  std::vector<BuildFile> files = TRY(files_of(rendered).context(rendered.name));
  files.push_back({.path = "Containerfile", .content = build.containerfile});
  if (!controller.additional_trust_bundle.empty())
    files.push_back({.path = std::string(authorities_file), .content = controller.additional_trust_bundle});
  return files;
}

Json to_json(const OsBuild& build) {
  return {{"name", build.name},
          {"pool", build.pool},
          {"rendered", build.rendered},
          {"baseImage", build.base_image},
          {"repository", build.repository},
          {"registry", build.registry},
          {"containerfile", build.containerfile}};
}

Json to_json(const OsImage& image) {
  return {{"build", to_json(image.build)},        {"image", image.image()},           {"digest", image.digest},
          {"started", to_rfc3339(image.started)}, {"ended", to_rfc3339(image.ended)}, {"bytes", image.bytes},
          {"isPushed", image.is_pushed}};
}

Result<OsBuild> parse_os_build(const Json& value, std::string_view name) {
  OsBuild build;
  const auto read = [&](std::string_view key, std::string& to) -> Result<> {
    to = std::string(TRY(require_string(value, {key}).context(name)));
    return Ok{};
  };
  TRY(read("name", build.name));
  TRY(read("pool", build.pool));
  TRY(read("rendered", build.rendered));
  TRY(read("baseImage", build.base_image));
  TRY(read("repository", build.repository));
  TRY(read("registry", build.registry));
  TRY(read("containerfile", build.containerfile));
  return build;
}

Result<OsImage> parse_os_image(const Json& value, std::string_view name) {
  const Json* build = find(value, {"build"});
  if (!build) return error(Code::invalid, "{}: build is missing", name);
  OsImage image;
  image.build = TRY(parse_os_build(*build, name));
  image.digest = std::string(TRY(require_string(value, {"digest"}).context(name)));
  image.started = TRY(time_of(value, "started").context(name));
  image.ended = TRY(time_of(value, "ended").context(name));
  const Json* bytes = find(value, {"bytes"});
  if (!bytes || !bytes->is_int64()) return error(Code::invalid, "{}: bytes is not a number", name);
  image.bytes = bytes->as_int64();
  image.is_pushed = is_true(value, {"isPushed"});
  return image;
}

Json to_json(const OsImageSource& source) {
  return {{"image", source.image},
          {"server", source.server},
          {"ca", source.ca},
          {"username", source.username},
          {"password", source.password.reveal()}};
}

Result<OsImageSource> parse_os_image_source(std::string_view text, std::string_view name) {
  const Result<Json> value = parse_json(text, name);
  // The message of the parser may quote the password.
  if (!value.ok()) return error(Code::invalid, "{}: not JSON", name);
  OsImageSource source;
  source.image = std::string(TRY(require_string(value.value(), {"image"}).context(name)));
  source.server = std::string(TRY(require_string(value.value(), {"server"}).context(name)));
  source.ca = std::string(TRY(require_string(value.value(), {"ca"}).context(name)));
  source.username = std::string(TRY(require_string(value.value(), {"username"}).context(name)));
  source.password = Secret(std::string(TRY(require_string(value.value(), {"password"}).context(name))));
  return source;
}

}  // namespace slipway::machineconfig
