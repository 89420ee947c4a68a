#include "base/digest.h"
#include "base/text.h"
#include "cli/image/image_commands.h"
#include "cli/local_options.h"
#include "release/blob_file.h"
#include "release/stream_metadata.h"

namespace slipway::cli {

namespace {

Result<std::string> sha256_of_file(const std::string& path) {
  release::BlobReader reader = TRY(release::BlobReader::open(path));
  std::vector<char> buffer(1u << 20);
  Sha256 hash;
  while (const std::size_t got = TRY(reader.read(buffer.data(), buffer.size()))) hash.update({buffer.data(), got});
  return hash.finish_hex();
}

Result<> list(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["FOLDER"]);
  std::vector<release::ListedImage> images;
  for (const std::string& name : TRY(environment.files.list(folder))) {
    const std::optional<release::DiskImageFile> image = release::parse_file_name(name);
    if (!image) continue;
    const std::string path = fmt::format("{}/{}", folder, name);
    const std::optional<sys::FileInfo> info = TRY(environment.files.info(path));
    if (!info || info->kind != sys::FileKind::file) continue;
    images.push_back({*image, arguments.has("--base-url") ? fmt::format("{}/{}", arguments["--base-url"], name) : path,
                      TRY(sha256_of_file(path)), info->size});
  }
  if (arguments["--output"] == "stream") {
    environment.print(emit_json(release::stream_metadata(images), JsonStyle::pretty));
    return Ok{};
  }
  std::string text =
      fmt::format("{:<10} {:<12} {:<8} {:>10}  {:<64}  {}\n", "PLATFORM", "VERSION", "FORMAT", "SIZE", "SHA256", "LOCATION");
  for (const release::ListedImage& each : images)
    text += fmt::format("{:<10} {:<12} {:<8} {:>10}  {}  {}\n", each.image.platform, each.image.version, each.image.format,
                        human_size(each.size), each.sha256, each.location);
  environment.print(text);
  return Ok{};
}

}  // namespace

Command image_list_command() {
  return {
      .words = "image list",
      .summary = "List the disk images in a folder, also in the form of CoreOS's stream metadata",
      .positionals = {{.name = "FOLDER",
                       .value = "FOLDER",
                       .help = "the folder with files of `image create`; default: this folder",
                       .fallback = "."}},
      .options =
          {{.name = "--output", .value = "FORMAT", .help = "output format", .fallback = "text", .choices = {"text", "stream"}},
           {.name = "--base-url", .value = "URL", .help = "where the folder is served; default: paths of files"}},
      .run = list};
}

}  // namespace slipway::cli
