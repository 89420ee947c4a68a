#include "release/signature.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "net/x509.h"

#include <fmt/core.h>

namespace slipway::release {

namespace {

constexpr std::string_view tag_prefix = "sha256-", tag_suffix = ".sig";
constexpr std::uint64_t largest_envelope = 64 << 10;
constexpr std::size_t most_envelopes = 16;

// What is signed: "DSSEv1 LENGTH TYPE LENGTH TEXT".
std::string pre_authentication_encoding(std::string_view type, std::string_view text) {
  return fmt::format("DSSEv1 {} {} {} {}", type.size(), type, text.size(), text);
}

// The first key that has signed the text.
Result<const TrustedKey*> find_signer(const Json& envelope, std::string_view signed_text, const std::vector<TrustedKey>& keys) {
  for (const Json& each : find_array(envelope, {"signatures"})) {
    const std::string signature = TRY(base64_decode(TRY(require_string(each, {"sig"}))));
    for (const TrustedKey& key : keys) {
      if (TRY(net::is_signature_of(key.pem, signed_text, signature).context("key " + key.name))) return &key;
    }
  }
  std::vector<std::string> names;
  for (const TrustedKey& key : keys) names.push_back(key.name);
  return error(Code::denied, "not signed by a trusted key ({})", join(names, ", "));
}

Result<Verified> verify_envelope(std::string_view text, const Digest& digest, const std::vector<TrustedKey>& keys) {
  const Json envelope = TRY(parse_json(text, "the signature"));
  const std::string type = TRY(require_string(envelope, {"payloadType"}));
  if (type != signed_text_type) return error(Code::invalid, "payloadType is '{}', not '{}'", type, signed_text_type);
  const std::string content = TRY(base64_decode(TRY(require_string(envelope, {"payload"}))));
  const TrustedKey* signer = TRY(find_signer(envelope, pre_authentication_encoding(type, content), keys));
  const Json release = TRY(parse_json(content, "the signed text"));
  const std::string identity = TRY(require_string(release, {"identity"}));
  const std::string signed_digest = TRY(require_string(release, {"digest"}));
  const std::string version = TRY(require_string(release, {"version"}));
  if (identity != signed_identity) return error(Code::denied, "it signs '{}', not '{}'", identity, signed_identity);
  if (signed_digest != digest.text()) return error(Code::denied, "it is the signature of {}", signed_digest);
  return Verified{.version = version, .key = signer->name};
}

}  // namespace

std::string signature_tag(const Digest& digest) { return fmt::format("{}{}{}", tag_prefix, digest.hex(), tag_suffix); }

bool is_signature_tag(std::string_view text) {
  if (!text.starts_with(tag_prefix) || !text.ends_with(tag_suffix)) return false;
  text.remove_prefix(tag_prefix.size());
  text.remove_suffix(tag_suffix.size());
  return Digest::parse(fmt::format("sha256:{}", text)).ok();
}

Result<std::optional<RawManifest>> find_signature_image(const sys::Context& context, ImageSource& source,
                                                        const Reference& repository, const Digest& digest) {
  Reference beside = repository;
  beside.digest.reset();
  beside.tag = signature_tag(digest);
  Result<RawManifest> manifest = source.manifest(context, beside);
  if (!manifest.ok() && manifest.error().code() == Code::not_found) return std::optional<RawManifest>();
  return std::optional(TRY(std::move(manifest).context("signatures of " + digest.text())));
}

Result<std::vector<std::string>> read_signatures(const sys::Context& context, ImageSource& source, const Reference& repository,
                                                 const Digest& digest) {
  std::vector<std::string> envelopes;
  const std::optional<RawManifest> image = TRY(find_signature_image(context, source, repository, digest));
  if (!image) return envelopes;
  const ImageManifest manifest = TRY(parse_image_manifest(*image));
  for (const Descriptor& layer : manifest.layers) {
    if (layer.media_type != envelope_type) continue;  // of other tools
    if (envelopes.size() == most_envelopes)
      return error(Code::invalid, "{}: more than {} signatures", digest.text(), most_envelopes);
    envelopes.push_back(TRY(blob_text(context, source, repository, layer, largest_envelope)));
  }
  return envelopes;
}

Result<Verified> verify_release(const std::vector<std::string>& envelopes, const Digest& digest,
                                const std::vector<TrustedKey>& keys) {
  if (envelopes.empty()) return error(Code::denied, "{}: no signature found", digest.text());
  std::vector<std::string> problems;
  for (const std::string& envelope : envelopes) {
    Result<Verified> verified = verify_envelope(envelope, digest, keys);
    if (verified.ok()) return verified;
    problems.push_back(verified.error().message());
  }
  return error(Code::denied, "{}: {}", digest.text(), join(problems, "; "));
}

}  // namespace slipway::release
