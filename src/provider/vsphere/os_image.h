// The machine OS as an OVA, from which templates are made.
#pragma once

#include "net/environment.h"

#include <mutex>
#include <string>
#include <string_view>

namespace slipway::provider::vsphere {

// Where the OVA comes from.
struct OsImageSource {
  std::string url{};          // of the user, perhaps with ?sha256=HEX; empty: it is made from the machine OS of the release
  std::string repository{};   // the OSTree repository of the machine OS
  std::string programs{};     // the folder with the programs that make disk images
  std::string work_folder{};  // where the file is until it is uploaded
};

// The SHA-256 in the URL of an image, lower case; empty if there is none. Pure.
std::string digest_of_url(std::string_view url);

// Threads: any.
class OsImage {
 public:
  OsImage(const net::Environment& environment, OsImageSource source) : environment_(environment), source_(std::move(source)) {}
  OsImage(const OsImage&) = delete;
  OsImage& operator=(const OsImage&) = delete;
  ~OsImage();  // removes the file

  const OsImageSource& source() const { return source_; }

  // Identifies the image: 12 hexadecimal digits. errors: not_found: no such commit
  Result<std::string> identify(const sys::Context& context);

  // The path of the OVA. The first call makes or downloads it.
  //
  //   errors  those of make_disk_image; invalid: the digest differs from that in the URL; those of net::Http
  //   time    45 s, or the download
  Result<std::string> file(const sys::Context& context);

 private:
  Result<> download(const sys::Context& context, const std::string& path);

  const net::Environment environment_;
  const OsImageSource source_;
  std::mutex mutex_;  // of the path; held while the file is made
  std::string path_;
};

}  // namespace slipway::provider::vsphere
