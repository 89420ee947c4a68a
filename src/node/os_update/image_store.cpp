#include "node/os_update/image_store.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "node/os_build/registries.h"
#include "node/os_update/image.h"
#include "node/registry_access.h"
#include "release/reference.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace slipway::node {

namespace {

constexpr const char* record_file = "/var/lib/slipway/os-images.json";  // an array: images that are removed when an update ends
constexpr const char* pull_folder = "/run/slipway/os-pull";
constexpr const char* container = "slipway-extensions";
constexpr const char* packages_in_image = "/usr/share/rpm-ostree/extensions";
constexpr std::string_view complete = "complete";

Result<std::string> run(const Environment& environment, std::vector<std::string> argv) {
  return sys::run_checked(environment.runner, environment.context, {.argv = std::move(argv)});
}

Result<std::vector<std::string>> read_record(sys::Files& files) {
  const std::optional<std::string> text = TRY(files.read_if_exists(record_file));
  if (!text) return std::vector<std::string>();
  return texts_of(TRY(parse_json(*text, record_file)), {});
}

Result<> write_record(sys::Files& files, const std::vector<std::string>& images) {
  if (images.empty()) return files.remove(record_file);
  return files.write(record_file, emit_json(array_of(images), JsonStyle::compact), 0600);
}

Result<bool> has_image(const Environment& environment, const std::string& image) {
  const sys::Output output = TRY(environment.runner.run(environment.context, {.argv = {"podman", "image", "exists", image}}));
  if (output.status > 1) return error(Code::unavailable, "podman image exists {}: {}", image, trim(output.err));
  return output.status == 0;
}

// A mirror of the access: the image of a first boot has one.
std::string entry(const release::Mirror& mirror) {
  std::string text = fmt::format("[[registry]]\nlocation = \"{}\"\n", mirror.source);
  for (const std::string& location : mirror.mirrors) text += fmt::format("[[registry.mirror]]\nlocation = \"{}\"\n", location);
  return text;
}

std::string repository_file(const std::string& folder) {
  return fmt::format(
      "[{}]\nname=Extensions of the operating system\nbaseurl=file://{}\nenabled=1\ngpgcheck=0\nmetadata_expire=1\n"
      "skip_if_unavailable=0\n",
      extensions_repository, folder);
}

std::string path_of_repository_file() { return fmt::format("{}/{}.repo", repositories_folder, extensions_repository); }

Result<> pull(const Environment& environment, const PullFiles& needed, const std::string& image) {
  const std::string folder = pull_folder;
  sys::Command command{.argv = {"podman", "pull", "--quiet", "--authfile=" + folder + "/auth.json"}};
  TRY(environment.files.write(folder + "/auth.json", needed.logins, 0600));
  if (!needed.registries_conf.empty()) {
    TRY(environment.files.write(folder + "/registries.conf", needed.registries_conf, 0600));
    command.environment.push_back("CONTAINERS_REGISTRIES_CONF=" + folder + "/registries.conf");
  }
  for (const auto& [name, pem] : needed.authorities) TRY(environment.files.write(folder + "/authorities/" + name, pem, 0600));
  if (!needed.authorities.empty()) command.argv.push_back("--cert-dir=" + folder + "/authorities");
  command.argv.push_back(image);
  TRY(sys::run_checked(environment.runner, environment.context, command));
  return Ok{};
}

}  // namespace

Result<PullFiles> pull_files(const release::RegistryOptions& access, std::string_view logins, const std::string& image) {
  const release::Reference reference = TRY(release::parse_reference(image));
  PullFiles needed;
  Json config = logins.empty() ? Json(JsonObject{{"auths", JsonObject()}}) : TRY(parse_json(logins, kubelet_logins));
  if (!config.is_object()) return error(Code::invalid, "{}: must be an object", kubelet_logins);
  std::set<std::string> authorities = authorities_of(access.endpoints);
  for (const release::Mirror& mirror : access.mirrors) {
    needed.registries_conf += entry(mirror);
    if (!mirror.ca_pem.empty()) authorities.insert(mirror.ca_pem);
    for (const std::string& location : mirror.mirrors) {
      const std::size_t slash = location.find('/');
      const std::string server = location.substr(0, slash);
      const std::optional<release::Login> login = access.credentials.find(
          {.registry = server, .repository = slash == std::string::npos ? "" : location.substr(slash + 1)});
      if (!login) continue;
      Json& auths = config.as_object()["auths"];
      if (!auths.is_object()) auths = JsonObject();
      auths.as_object()[server] = {{"auth", base64_encode(login->user + ":" + login->password.reveal())}};
    }
  }
  needed.registries_conf += registries_conf(access.endpoints, {reference.registry});
  needed.logins = emit_json(config, JsonStyle::compact);
  for (const std::string& pem : authorities) needed.authorities.emplace(fmt::format("{}.crt", needed.authorities.size()), pem);
  return needed;
}

Result<> store_image(const Environment& environment, const std::string& image) {
  TRY(image_by_digest("image", image));
  if (TRY(has_image(environment, image))) return Ok{};
  const release::RegistryOptions access = TRY(registry_access(environment.context, environment.files));
  const std::string logins = TRY(environment.files.read_if_exists(std::string(kubelet_logins))).value_or("");
  const PullFiles needed = TRY(pull_files(access, logins, image));
  std::vector<std::string> ours = TRY(read_record(environment.files));
  if (std::ranges::find(ours, image) == ours.end()) {
    ours.push_back(image);
    TRY(write_record(environment.files, ours));
  }
  environment.context.log.info("pulling {}", image);
  Result<> pulled = pull(environment, needed, image);
  TRY(environment.files.remove(pull_folder));
  return pulled;
}

Result<> remove_stored_images(const Environment& environment, const std::string& except) {
  std::vector<std::string> kept;
  const std::vector<std::string> ours = TRY(read_record(environment.files));
  if (ours.empty()) return Ok{};
  for (const std::string& image : ours) {
    if (image == except) {
      kept.push_back(image);
    } else if (TRY(has_image(environment, image))) {
      TRY(run(environment, {"podman", "image", "rm", "--force", image}));  // also a container that a kill has left
    }
  }
  return write_record(environment.files, kept);
}

Result<std::string> packages_folder(const std::string& image) {
  const release::Reference reference = TRY(image_by_digest(extensions_image_field, image));
  return fmt::format("{}/{}", extensions_folder, reference.digest->hex());
}

Result<> store_extensions(const Environment& environment, const std::string& image) {
  const std::string folder = TRY(packages_folder(image));
  sys::Files& files = environment.files;
  if (!TRY(files.info(folder + "/" + std::string(complete)))) {
    TRY(store_image(environment, image));
    TRY(files.remove(folder));
    TRY(files.make_directories(folder, 0755));
    TRY(run(environment, {"podman", "rm", "--force", "--ignore", container}));
    // The command is not run: an image of packages need not have one.
    TRY(run(environment, {"podman", "create", std::string("--name=") + container, "--pull=never", image, "/none"}));
    const Result<std::string> copied =
        run(environment, {"podman", "cp", fmt::format("{}:{}/.", container, packages_in_image), folder});
    TRY(run(environment, {"podman", "rm", "--force", "--ignore", container}));
    if (!copied.ok()) {
      if (copied.error().code() == Code::cancelled) return copied.error();
      return error(Code::invalid, "{} is no image of extensions, because it has no {}: {}", image, packages_in_image,
                   copied.error().message());
    }
    TRY(files.write(folder + "/" + std::string(complete), "", 0644));
  }
  return files.write(path_of_repository_file(), repository_file(folder), 0644);
}

Result<> remove_stored_extensions(const Environment& environment, const std::string& except) {
  sys::Files& files = environment.files;
  if (except.empty()) {
    TRY(files.remove(path_of_repository_file()));
    return files.remove(extensions_folder);
  }
  const std::string kept = TRY(packages_folder(except));
  if (!TRY(files.info(extensions_folder))) return Ok{};
  const std::vector<std::string> names = TRY(files.list(extensions_folder));
  for (const std::string& name : names) {
    const std::string folder = fmt::format("{}/{}", extensions_folder, name);
    if (folder != kept) TRY(files.remove(folder));
  }
  return Ok{};
}

}  // namespace slipway::node
