// Discovery images: the live image of the machine OS with the config of a discovery environment in its place. Nothing is stored
// for an environment: an answer is put together from the file of the live image and the config. All but BaseImage is pure.
#pragma once

#include "base/guarded.h"
#include "base/result.h"
#include "net/byte_range.h"
#include "release/live_image.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::service {

// The area for a config in a live image of this version, for services without one.
inline constexpr std::uint64_t usual_config_area = 1 << 20;

// The live image that the service has, in a file. It is read again when the file was replaced. Threads: any.
class BaseImage {
 public:
  struct Content {
    std::string path;
    release::LiveImage image;
    std::string version;  // another one for each content of the file
  };

  explicit BaseImage(std::string path) : path_(std::move(path)) {}

  // errors: not_found: the service has none; invalid: the file is no live image, or one that installs hosts by itself; those of
  // files
  Result<Content> content() const;

 private:
  const std::string path_;
  mutable Guarded<std::optional<Content>> known_;
};

// What keeps hosts from being installed with the images of the service, and which option changes that; "" if nothing.
// image: null: the service has no live image
std::string missing_of_image(const release::LiveImage* image);

// The whole image, with the config. errors: too_large: the config does not fit
Result<std::vector<net::BodyPart>> iso_parts(const BaseImage::Content& base, std::string_view config);

// What a network boot needs: the kernel, an initrd with the root, and an initrd that ends with the config.
std::vector<net::BodyPart> kernel_parts(const BaseImage::Content& base);
Result<std::vector<net::BodyPart>> rootfs_parts(const BaseImage::Content& base);
Result<std::vector<net::BodyPart>> initrd_parts(const BaseImage::Content& base, std::string_view config);

// An entity tag of parts: changes with the live image and with each byte of a text.
std::string entity_tag(const BaseImage::Content& base, const std::vector<net::BodyPart>& parts);

// The token of an agent that belongs to the token of an image: each download of one image has the same bytes, although the
// service keeps neither of both tokens. The agent's token does not reveal the image's.
std::string agent_token_of(std::string_view image_token);

// A script of iPXE that boots the live system. query: "image_token=TOKEN"; empty: none
std::string ipxe_script(std::string_view url, std::string_view infra_env, std::string_view query,
                        const release::LiveImage& image);

}  // namespace slipway::service
