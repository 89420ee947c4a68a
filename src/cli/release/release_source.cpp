#include "cli/release/release_source.h"

#include "base/text.h"
#include "release/oci_layout.h"

namespace slipway::cli {

namespace {

const std::string release_argument = "IMAGE|DIR";

}  // namespace

Option release_positional() {
  return {.name = release_argument,
          .value = "",
          .help = "the release: an image reference, or a folder with an OCI image layout",
          .required = true};
}

std::vector<Option> registry_option_rows() {
  return {
      {.name = "--registry-config",
       .value = "FILE",
       .help = "logins for registries: a pull secret, or the config.json of podman or docker"},
      {.name = "--ca-file",
       .value = "FILE",
       .help = "PEM file with authorities to trust for registries, instead of the system's"},
      {.name = "--plain-http", .value = "HOST[:PORT][,...]", .help = "registries to use without TLS"},
  };
}

Result<release::RegistryOptions> registry_options(const Environment& environment, const Arguments& arguments) {
  release::RegistryOptions options;
  if (const std::string& file = arguments["--registry-config"]; !file.empty()) {
    const Secret text(TRY(environment.files.read(file).context("reading logins for registries")));
    options.credentials = TRY(release::Credentials::parse(text.reveal(), file));
  }
  options.ca_file = arguments["--ca-file"];
  if (arguments.has("--plain-http")) {
    for (std::string_view host : split(arguments["--plain-http"], ',')) options.plain_http.push_back(to_lower(trim(host)));
  }
  return options;
}

Result<ReleaseSource> open_release(const Environment& environment, const Arguments& arguments) {
  return open_release(environment, arguments, arguments[release_argument]);
}

Result<ReleaseSource> open_release(const Environment& environment, const Arguments& arguments, const std::string& name,
                                   const RegistryAccess& asking) {
  std::optional<sys::FileInfo> info = TRY(environment.files.info(name));
  if (info && info->kind == sys::FileKind::link) info = TRY(environment.files.info(name + "/."));
  if (info && info->kind == sys::FileKind::directory) {
    auto layout = std::make_unique<release::OciLayout>(TRY(release::OciLayout::open(environment.files, name)));
    // A layout uses the tag only; the registry is a placeholder.
    return ReleaseSource{std::move(layout), {.registry = "layout.invalid", .repository = "release", .tag = "release"}};
  }
  Result<release::Reference> reference = release::parse_reference(name);
  if (!reference.ok())
    return error(Code::invalid, "'{}': not a folder, and not an image reference: {}", name, reference.error().message());
  release::RegistryOptions options = TRY(registry_options(environment, arguments));
  options.mirrors = asking.mirrors;
  if (reference->digest) options.attempts = asking.attempts_by_digest;
  auto client = std::make_unique<release::RegistryClient>(environment.http, std::move(options));
  return ReleaseSource{std::move(client), std::move(reference).value()};
}

}  // namespace slipway::cli
