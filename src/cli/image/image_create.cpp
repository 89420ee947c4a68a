#include "cli/image/image_commands.h"
#include "cli/image/image_options.h"
#include "cli/local_options.h"
#include "release/stream_metadata.h"
#include "sys/events.h"

namespace slipway::cli {

namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const std::string_view format : release::disk_formats()) names.emplace_back(format);
  return names;
}

// What a live image writes to a disk. errors: invalid: options that do not fit the format
Result<> add_installation(const Environment& environment, const Arguments& arguments, release::DiskImageRequest& request) {
  if (release::is_live(request.format) && request.platform->name != release::live_platform)
    return error(Code::invalid, "--format {}: live images are for --platform metal, not {}", request.format,
                 request.platform->name);
  if (request.format != "iso" && arguments.has("--install-disk"))
    return error(Code::invalid, "--install-disk: only a live image of --format iso writes a disk");
  if (arguments.has("--install-ignition") && !arguments.has("--install-disk"))
    return error(Code::invalid, "--install-ignition: requires --install-disk");
  if (arguments.has("--with-disk-image") && (request.format != "iso" || arguments.has("--install-disk")))
    return error(Code::invalid,
                 "--with-disk-image: only for a live image of --format iso without --install-disk, which has the disk image too");
  request.installation.is_by_agent = arguments.has("--with-disk-image");
  request.installation.device = arguments["--install-disk"];
  if (!request.installation.device.empty() && !request.installation.device.starts_with("/dev/"))
    return error(Code::invalid, "--install-disk: {} is not a device of the machine, such as /dev/sda",
                 request.installation.device);
  if (arguments.has("--install-ignition"))
    request.installation.first_boot.ignition = TRY(ignition_of_file(environment, arguments["--install-ignition"]));
  return Ok{};
}

Result<> create(const Environment& environment, const Arguments& arguments) {
  release::DiskImageRequest request = TRY(image_request(environment, arguments));
  if (arguments.has("--format")) request.format = arguments["--format"];
  TRY(add_installation(environment, arguments, request));
  const std::string version = TRY(release::os_version(environment.context, environment.runner, request.repository, request.ref));
  request.name = "slipway-" + version;
  request.output =
      absolute(arguments.has("--output") ? arguments["--output"]
                                         : release::file_name({version, std::string(request.platform->name), request.format}));
  sys::Span span(environment.context.events, environment.context.clock, "image", request.output);
  TRY(span.end(release::make_disk_image(environment.context, environment.files, environment.runner, request)));
  environment.print(request.output + "\n");
  return Ok{};
}

}  // namespace

Command image_create_command() {
  std::vector<Option> options = image_options("qemu");
  options.push_back(
      {.name = "--format",
       .value = "FORMAT",
       .help = "format of the file; default: what the platform imports. iso and pxe are live images, which boot from memory",
       .choices = format_names()});
  options.push_back({.name = "--output",
                     .value = "FILE",
                     .help = "the file to write; default: slipway-VERSION-PLATFORM.x86_64.FORMAT in this folder"});
  options.push_back(
      {.name = "--install-disk",
       .value = "DEVICE",
       .help = "for a live image of format iso: the disk of the machine that it writes the machine OS to, without a question"});
  options.push_back(
      {.name = "--with-disk-image",
       .value = "",
       .help = "for a live image of format iso: contains what slipway-agent writes to disks in an assisted installation"});
  options.push_back(
      {.name = "--install-ignition", .value = "FILE", .help = "the Ignition config of the first boot from that disk"});
  return {.words = "image create",
          .summary = "Make a disk image of the machine OS, in the form that a platform imports",
          .options = std::move(options),
          .run = create,
          .when_interrupted = "the file was not written; run the same command again"};
}

}  // namespace slipway::cli
