#include "base/text.h"
#include "cli/image/image_commands.h"
#include "cli/image/image_name.h"
#include "cli/image/registry_files.h"
#include "cli/local_options.h"
#include "sys/programs.h"
#include "sys/temp_dir.h"

#include <array>

namespace slipway::cli {

namespace {

constexpr std::array needed_programs = {sys::NeededProgram{"skopeo", "skopeo"}};

class Loader {
 public:
  Loader(const Environment& environment, std::string folder, std::string registry, std::string work)
      : environment_(environment), folder_(std::move(folder)), registry_(std::move(registry)), work_(std::move(work)) {}

  // Returns the lines to print.
  Result<std::string> load(const ImageSource& source, const std::string& name) {
    const std::string location = source.location.empty() ? find_location(source.name) : source.location;
    const std::string& given = name.empty() ? source.name : name;
    if (!given.empty()) return load_as(location, given);
    std::string text;
    for (const std::string& each : TRY(names_of(location))) text += TRY(load_as(fmt::format("{}:{}", location, each), each));
    return text;
  }

 private:
  Result<std::string> skopeo(std::vector<std::string> arguments) {
    std::vector<std::string> argv = {"skopeo", "--insecure-policy"};
    std::ranges::move(arguments, std::back_inserter(argv));
    return sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(argv)});
  }

  // Images that were built on this host come before those of registries. podman stores what it builds under localhost/.
  std::string find_location(const std::string& name) {
    std::vector<std::string> locations;
    const std::size_t colon = name.rfind(':');
    const bool has_tag = colon != std::string::npos && name.find('/', colon) == std::string::npos;
    const std::string tagged = has_tag ? name : name + ":latest";
    if (sys::is_in_path("podman")) locations = {"containers-storage:localhost/" + tagged, "containers-storage:" + tagged};
    if (sys::is_in_path("docker")) locations.push_back("docker-daemon:" + tagged);
    for (const std::string& location : locations) {
      if (skopeo({"inspect", "--raw", location}).ok()) return location;
    }
    return "docker://" + name;
  }

  // The names of the images in an archive.
  Result<std::vector<std::string>> names_of(const std::string& location) {
    std::vector<std::string> names;
    if (location.starts_with("docker-archive:")) {
      const Json listed = TRY(parse_json(TRY(skopeo({"list-tags", location})), location));
      for (const Json& tag : find_array(listed, {"Tags"})) names.push_back(TRY(require_string(tag, {})));
    }
    if (!names.empty()) return names;
    return error(Code::invalid, "{}: has no name for its image (use --name, for example --name app:dev)", location);
  }

  Result<std::string> load_as(const std::string& location, const std::string& written) {
    const release::Reference name = TRY(full_image_name(written));
    if (name.digest)
      return error(Code::invalid, "{}: an image is stored under a tag, not a digest (use --name NAME:TAG)", written);
    const std::string digest_file = work_ + "/digest";
    TRY(skopeo({"copy", "--dest-authfile", registry_login_file(folder_), "--dest-cert-dir", registry_certificates(folder_),
                "--digestfile", digest_file, location, "docker://" + place_in_registry(registry_, name)})
            .context(to_string(name)));
    release::Reference shown = name;
    if (shown.tag.empty()) shown.tag = "latest";
    return fmt::format("{}: loaded from {}, {}\n", to_string(shown), location, trim(TRY(environment_.files.read(digest_file))));
  }

  const Environment& environment_;
  const std::string folder_;
  const std::string registry_;
  const std::string work_;
};

Result<> load(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  Findings host;
  sys::find_missing(host, needed_programs);
  TRY(host.to_result().context("loading images"));
  const std::vector<std::string>& texts = arguments.list("SOURCE");
  if (arguments.has("--name") && texts.size() != 1) return error(Code::invalid, "--name: needs exactly one image");
  std::vector<ImageSource> sources;
  for (const std::string& text : texts) sources.push_back(TRY(parse_image_source(text)));
  const sys::TempDir work = TRY(sys::TempDir::make("image-load"));
  Loader loader(environment, folder, TRY(registry_address(environment.files, folder)), work.path());
  for (const ImageSource& source : sources) environment.print(TRY(loader.load(source, arguments["--name"])));
  return Ok{};
}

}  // namespace

Command image_load_command() {
  return {.words = "image load",
          .summary = "Store container images in the registry of a cluster, for its pods (platform local)",
          .positionals = {{.name = "SOURCE",
                           .value = "SOURCE...",
                           .help = "NAME (of podman, Docker or a registry), oci:DIR, oci-archive:FILE, docker-archive:FILE, "
                                   "docker-daemon:NAME, containers-storage:NAME or docker://NAME",
                           .required = true,
                           .repeats = true}},
          .options = {{.name = "--name", .value = "NAME", .help = "the name of the image in the cluster; default: its own"}},
          .run = load,
          .when_interrupted = "run the same command again; what was loaded stays"};
}

}  // namespace slipway::cli
