#include "base/text.h"
#include "cli/image/image_commands.h"
#include "cli/image/image_options.h"
#include "cli/local_options.h"
#include "release/copy_progress.h"
#include "sys/disk_copy.h"
#include "sys/events.h"
#include "sys/temp_dir.h"

namespace slipway::cli {

namespace {

Result<std::uint64_t> write_disk(const Environment& environment, const std::string& image, const std::string& target) {
  const std::optional<sys::FileInfo> info = TRY(environment.files.info(image));
  if (!info) return error(Code::not_found, "{}: not found", image);
  release::CopyProgress progress(environment.context.events, "image", target, 2 * info->size);
  sys::Span span(environment.context.events, environment.context.clock, "image", target);
  return span.end(
      sys::copy_to_disk(environment.context, image, target, [&progress](std::uint64_t bytes) { progress.add(bytes); }));
}

Result<> write(const Environment& environment, const Arguments& arguments) {
  release::DiskImageRequest request = TRY(image_request(environment, arguments));
  const std::string target = absolute(arguments["TARGET"]);
  TRY(sys::check_disk_target(target));
  const sys::TempDir folder = TRY(sys::TempDir::make("image"));
  request.format = "raw";
  request.output = folder.path() + "/image";
  TRY(release::make_disk_image(environment.context, environment.files, environment.runner, request));
  const std::uint64_t size = TRY(write_disk(environment, request.output, target));
  environment.print(fmt::format("{}: {} written and verified\n", target, human_size(size)));
  return Ok{};
}

}  // namespace

Command image_write_command() {
  return {.words = "image write",
          .summary = "Write the machine OS to a disk or a new raw file, with a config for the first boot",
          .positionals = {{.name = "TARGET",
                           .value = "DISK|FILE",
                           .help = "a disk that is not in use, which is overwritten, or a file that does not exist",
                           .required = true}},
          .options = image_options("metal"),
          .run = write,
          .when_interrupted = "the disk is incomplete; run the same command again"};
}

}  // namespace slipway::cli
