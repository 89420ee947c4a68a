#include "assets/preview/masked.h"
#include "assets/store.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/agent_commands.h"
#include "cli/agent_files.h"
#include "cli/asset_inputs.h"
#include "cli/create_assets.h"
#include "cli/local_options.h"
#include "cli/validate.h"
#include "data/data.h"
#include "service/images.h"
#include "service/rendezvous_config.h"
#include "sys/file_reader.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cli {

namespace {

constexpr std::string_view image_file = "agent.x86_64.iso";
constexpr std::size_t piece_size = 4 << 20;

Result<> append_file(const Environment& environment, const net::FilePart& part, const std::string& output) {
  const sys::FileReader file = TRY(sys::FileReader::open(part.path));
  for (std::uint64_t done = 0; done < part.length;) {
    if (environment.context.stop.stop_requested()) return error(Code::cancelled, "stopped while writing {}", output);
    const std::size_t length = std::min<std::uint64_t>(piece_size, part.length - done);
    const std::string piece = TRY(file.read(part.offset + done, length));
    if (piece.size() != length) return error(Code::conflict, "{}: became shorter while it was read", part.path);
    TRY(environment.files.append(output, piece, 0600));
    done += length;
  }
  return Ok{};
}

Result<> write_parts(const Environment& environment, const std::vector<net::BodyPart>& parts, const std::string& path) {
  const std::string incomplete = path + ".new";
  TRY(environment.files.remove(incomplete));
  for (const net::BodyPart& part : parts) {
    const Result<> written =
        part.text ? environment.files.append(incomplete, *part.text, 0600) : append_file(environment, part.file, incomplete);
    if (written.ok()) continue;
    (void)environment.files.remove(incomplete);
    return written;
  }
  return environment.files.rename(incomplete, path);
}

// Hosts that run the earlier image do not find the service of the new one: it has other tokens and another certificate.
void warn_about_earlier_image(const Environment& environment, const std::string& path, const AgentFiles& read) {
  const Result<RendezvousAccess> earlier = read_rendezvous_access(environment, path);
  if (!earlier.ok() || earlier->agent_config_digest.empty() || earlier->agent_config_digest == read.digest) return;
  environment.context.log.warn(
      "{}: differs from the one that the existing image was made from; boot all hosts from the new image, also "
      "those that run the earlier one",
      agent_config_file);
}

Result<> create_image(const Environment& environment, const Arguments& arguments) {
  const std::string& path = arguments["--dir"];
  const sys::FileLock lock = TRY(lock_assets(environment, path));
  const AgentFiles read = TRY(read_agent_files(environment, path, arguments.has("--strict")));
  const config::InstallConfig& install = read.folder.config.config;
  const service::BaseImage::Content base =
      TRY(service::BaseImage(absolute(arguments["--live-image"])).content().context("--live-image"));
  if (!base.image.has_disk_image) {
    environment.context.log.warn(
        "{}: has no disk image, so only local machines can be installed from it (make it with --with-disk-image)",
        arguments["--live-image"]);
  }
  assets::Environment inputs = TRY(asset_inputs(environment, arguments, install));
  if (!arguments.has("--key-type")) inputs.key_type = net::KeyType::p256;  // the image has room for a small config
  const assets::TargetResult made =
      TRY(assets::create_target(environment.context, environment.files, environment.random, read.folder, inputs,
                                target_request(environment, assets::Target::ignition_configs)));
  service::InstallationFiles files = TRY(service::read_asset_directory(environment.files, path));
  // For downloads from the service.
  files[service::install_config_file] = assets::Masker().text(service::install_config_file, emit_yaml(install.effective));
  warn_about_earlier_image(environment, path, read);
  const service::RendezvousImage image =
      TRY(service::make_rendezvous_image(install, read.agent, files, environment.random, environment.context.clock.now()));
  const std::string output = absolute(fmt::format("{}/{}", path, image_file));
  const std::vector<net::BodyPart> parts = TRY(service::iso_parts(base, image.ignition).context("the config of the image"));
  TRY(write_rendezvous_access(environment, path,
                              {.url = image.url,
                               .cluster_id = image.cluster_id,
                               .authority = image.authority,
                               .token = Secret(image.user_token),
                               .agent_config_digest = read.digest}));
  TRY(write_parts(environment, parts, output));  // last: a directory with an image is complete
  if (made.usable_until) {
    environment.context.log.info("install the hosts before {}: certificate {} expires then", to_rfc3339(made.usable_until->until),
                                 made.usable_until->certificate);
  }
  const int hosts = install.control_plane.replicas + install.compute_replicas();
  environment.context.log.info("boot {} from the image, and run `slipway agent wait-for install-complete --dir {}`",
                               hosts == 1 ? "one host" : fmt::format("{} hosts", hosts), path);
  environment.print(output + "\n");
  return Ok{};
}

Result<> create_template(const Environment& environment, const Arguments& arguments) {
  const std::string path = fmt::format("{}/{}", arguments["--dir"], agent_config_file);
  if (TRY(environment.files.info(path))) return error(Code::conflict, "{}: exists already, and is kept", path);
  TRY(environment.files.make_directories(arguments["--dir"], 0755));
  TRY(environment.files.write(path, data::content(data::command_line(), agent_config_file), 0644));
  environment.print(path + "\n");
  return Ok{};
}

}  // namespace

Command agent_create_image_command() {
  std::vector<Option> options = {{.name = "--live-image",
                                  .value = "FILE",
                                  .help = "the live image that the config is put into, made with image create --platform metal "
                                          "--format iso --with-disk-image",
                                  .required = true}};
  std::ranges::move(asset_input_options(), std::back_inserter(options));
  options.push_back(strict_option());
  return {.words = "agent create image",
          .summary = "Create the image that hosts boot, from install-config.yaml and agent-config.yaml",
          .options = std::move(options),
          .run = create_image,
          .when_interrupted = "run the same command again"};
}

Command agent_create_template_command() {
  return {.words = "agent create agent-config-template",
          .summary = "Create an agent-config.yaml with examples of its fields, for you to edit",
          .run = create_template};
}

}  // namespace slipway::cli
