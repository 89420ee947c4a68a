// Signatures of releases. A signature is a document beside the release, so the digest of the release does not depend on it.
//
// In a registry and in an image layout, the signatures of image DIGEST are the layers of another image, which has the tag
// signature_tag(DIGEST) in the same repository. A layer of type envelope_type is a DSSE envelope
// (https://github.com/secure-systems-lab/dsse). The signed text names the digest and the version of the release, and no
// repository: a copy in another registry has the same signature, and the signature of one release is none of another release.
// `slipway-images build` creates signatures (payload/images/sign.go).
#pragma once

#include "base/result.h"
#include "release/digest.h"
#include "release/image_source.h"
#include "release/manifest.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

inline constexpr std::string_view envelope_type = "application/vnd.dsse.envelope.v1+json";       // of a layer
inline constexpr std::string_view signed_text_type = "application/vnd.slipway.release.v1+json";  // in the envelope
inline constexpr std::string_view signed_identity = "slipway/release";

// "sha256-HEX.sig"
std::string signature_tag(const Digest& digest);
bool is_signature_tag(std::string_view text);

// The image with the signatures of a release image; nothing if there is none. errors: those of ImageSource except not_found
Result<std::optional<RawManifest>> find_signature_image(const sys::Context& context, ImageSource& source,
                                                        const Reference& repository, const Digest& digest);

// The envelopes beside a release image, unverified. Empty if there are none. errors: those of ImageSource; invalid: an envelope
// of more than 64 KiB, or more than 16 envelopes
Result<std::vector<std::string>> read_signatures(const sys::Context& context, ImageSource& source, const Reference& repository,
                                                 const Digest& digest);

struct TrustedKey {
  std::string name;  // "release"
  std::string pem;   // "PUBLIC KEY": Ed25519 or ECDSA P-256

  bool operator==(const TrustedKey&) const = default;
};

struct Verified {
  std::string version;  // that was signed
  std::string key;      // name of the key

  bool operator==(const Verified&) const = default;
};

// Finds an envelope in which one of the keys has signed this digest. One key is enough, so that a release that brings a new key
// needs only a signature of an old one. Pure.
//
//   errors  denied: no envelope, or the reason against each of them
Result<Verified> verify_release(const std::vector<std::string>& envelopes, const Digest& digest,
                                const std::vector<TrustedKey>& keys);

}  // namespace slipway::release
