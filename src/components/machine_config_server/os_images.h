// The operating system images that the bootstrap machine built, for the first boot of its masters: the part of the registry
// protocol that reads by digest.
//
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "machineconfig/os_build.h"
#include "net/byte_range.h"
#include "net/http_server.h"
#include "release/digest.h"
#include "sys/files.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::components::machine_config_server {

// The user that machines log in with; the password is the token of the control plane.
inline constexpr std::string_view os_image_user = "slipway";

// Answers GET (and with it HEAD) below /v2/.
//
//   /v2/                                    200: the login is right
//   /v2/REPOSITORY/manifests/sha256:HEX     200: the manifest of an image, or a part of an index of one
//   /v2/REPOSITORY/blobs/sha256:HEX         200, or 206 for a range; 416: a range behind the end
//   otherwise                               401: no login or a wrong one, whatever the path; 404; 405: other methods
//
// REPOSITORY is that of the image's name without the registry. Errors have the JSON form of the protocol. Names of files come
// from digests that were parsed and from names of folders, never from the path of a request. Answers do not read blobs: the
// server sends them from the disk.
//
//   threads  any
class OsImages {
 public:
  // folder: POOL/image.json and POOL/oci, an OCI layout; they may be written later. files must outlive this
  OsImages(sys::Files& files, std::string folder, const Secret& control_plane_token);

  net::ServerAnswer answer(const net::ServerRequest& request) const;

  // Whether a request is for this class.
  static bool is_for(std::string_view path) { return path == "/v2" || path.starts_with("/v2/"); }

 private:
  // What a request names.
  struct Content {
    std::string repository;
    bool is_manifest = false;
    release::Digest digest;
  };

  bool is_allowed(const net::ServerRequest& request) const;
  static Result<Content> parse_path(std::string_view path);
  Result<net::ServerAnswer> find(const net::ServerRequest& request, const Content& content) const;
  Result<std::optional<net::ServerAnswer>> find_in(const std::string& pool, const net::ServerRequest& request,
                                                   const Content& content) const;

  sys::Files& files_;
  std::string folder_;
  Secret login_;  // "USER:PASSWORD"
};

}  // namespace slipway::components::machine_config_server
