// The disk image that the machines of a cluster boot, on platforms that import one.
#pragma once

#include "net/environment.h"

#include <mutex>
#include <string>
#include <string_view>

namespace slipway::provider {

// Where the image comes from. Without file and url, it is made from the machine OS of the release.
struct OsImageSource {
  std::string file{};         // an image of the user
  std::string url{};          // of the user, perhaps with ?sha256=HEX; set at most one of file and url
  std::string repository{};   // the OSTree repository of the machine OS
  std::string programs{};     // the folder with the programs that make disk images
  std::string work_folder{};  // where the image is until it is uploaded

  // Whether the image is made from the machine OS of the release.
  bool is_made() const { return file.empty() && url.empty(); }
};

// Identifies the content of the image: 12 hexadecimal digits. errors: not_found: no such file, no such commit
Result<std::string> identify_os_image(const net::Environment& environment, const OsImageSource& source);

// A file with the image, which the caller removes after the upload if the user gave none.
//
//   platform  Ignition's name of the platform that the machines boot on (release/disk_image.h)
//   name      of the file in the work folder, without the suffix of its format
//   returns   the path of the user's file, or of the new one
//   errors    those of make_disk_image; invalid: the digest differs from that in the URL; those of net::Http
//   time      5 s for a raw image, more for others; or the download
Result<std::string> os_image_file(const net::Environment& environment, const OsImageSource& source, std::string_view platform,
                                  std::string_view format, const std::string& name);

// The SHA-256 in the URL of an image, lower case; empty if there is none. Pure.
std::string digest_of_url(std::string_view url);

// The image of one run, made when it is needed. Threads: any.
class OsImage {
 public:
  // platform, format: as in os_image_file()
  OsImage(const net::Environment& environment, OsImageSource source, std::string platform, std::string format)
      : environment_(environment), source_(std::move(source)), platform_(std::move(platform)), format_(std::move(format)) {}
  OsImage(const OsImage&) = delete;
  OsImage& operator=(const OsImage&) = delete;
  ~OsImage();  // removes the file, unless it is the user's

  const OsImageSource& source() const { return source_; }

  Result<std::string> identify(const sys::Context& context) { return identify_os_image(environment_.with(context), source_); }

  // The path of the image. The first call makes or downloads it. errors: also not_found: the source is empty
  Result<std::string> file(const sys::Context& context);

 private:
  const net::Environment environment_;
  const OsImageSource source_;
  const std::string platform_, format_;
  std::mutex mutex_;  // of the path; held while the file is made
  std::string path_;
};

}  // namespace slipway::provider
