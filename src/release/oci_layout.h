// OCI image layouts: a folder with oci-layout, index.json and blobs/sha256/. `make payload` writes the embedded release as such.
#pragma once

#include "base/result.h"
#include "release/image_source.h"
#include "sys/files.h"

#include <string>

namespace slipway::release {

// Finds an image by the digest of a reference, or else by its tag, the annotation org.opencontainers.image.ref.name. Ignores
// registry and repository of the reference.
class OciLayout final : public ImageSource {
 public:
  // `files` must outlive the layout. Blobs are read in pieces directly from disk, not through `files`.
  // errors: not_found; invalid: the folder is not a layout, with the missing file
  static Result<OciLayout> open(sys::Files& files, std::string folder);

  std::string describe(const Reference&) const override { return folder_; }
  Result<RawManifest> manifest(const sys::Context& context, const Reference& reference) override;
  Result<> rest_of_blob(const sys::Context& context, const Reference& repository, BlobCheck had, const net::Sink& sink) override;

 private:
  OciLayout(sys::Files& files, std::string folder, ImageIndex index)
      : files_(&files), folder_(std::move(folder)), index_(std::move(index)) {}

  std::string blob_path(const Digest& digest) const;
  Result<Digest> find_digest(const Reference& reference) const;

  sys::Files* files_;
  std::string folder_;
  ImageIndex index_;
};

}  // namespace slipway::release
