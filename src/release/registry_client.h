// RegistryClient: reads from and writes to registries by the distribution specification (v2 API).
#pragma once

#include "base/guarded.h"
#include "base/result.h"
#include "net/http.h"
#include "release/challenge.h"
#include "release/credentials.h"
#include "release/image_source.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::release {

// What stands for a repository: content asked for under `source` is looked for in `mirrors` in their order, then at the source
// itself (ImageDigestMirrorSet semantics: only references by digest use mirrors). A source below .invalid is never asked: such
// names exist nowhere (RFC 2606).
struct Mirror {
  std::string source;  // prefix, "registry.slipway.invalid/slipway/release"
  std::vector<std::string> mirrors;
};

struct RegistryOptions {
  Credentials credentials{};
  std::vector<Mirror> mirrors{};
  std::string ca_file{};  // PEM for all registries; the system's when empty
  // Registries spoken to without TLS, "host:port". Those on this machine are too, unless there is a ca_file.
  std::vector<std::string> plain_http{};
  int attempts = 4;  // of a request that failed in a way that may pass
};

// Logs in as the registry asks (none, basic, bearer token by scope), follows redirects of blobs without taking credentials along
// to another host, tries again what may pass (connection lost, 429 with Retry-After, 5xx), checks every digest. `attempts`
// counts those in a row without a byte of progress.
//
//   errors   those of ImageSource; denied has the registry, the repository and whether credentials were there at all;
//            unavailable has the registry and the last reason
//   threads  any; tokens are shared
class RegistryClient final : public ImageSource {
 public:
  RegistryClient(net::Http& http, RegistryOptions options);

  std::string describe(const Reference& reference) const override { return to_string(reference); }
  Result<RawManifest> manifest(const sys::Context& context, const Reference& reference) override;
  Result<> blob(const sys::Context& context, const Reference& repository, const Descriptor& blob, const net::Sink& sink) override;

  // Whether a blob of this digest and size is there.
  Result<bool> has_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob);

  // Whether the reference stands for this manifest there. Mirrors are not asked, as for all that is about writing.
  Result<bool> has_manifest(const sys::Context& context, const Reference& reference, const Digest& digest);

  // Content of an upload: `open` gives a reader from the start each time the upload has to be tried again.
  using Reader = std::function<Result<std::size_t>(char* buffer, std::size_t size)>;

  // Uploads in one piece. errors: also what the reader returns. The registry shows a blob only when it is whole and its digest is
  // right; an upload that fails is cancelled there.
  Result<> push_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                     const std::function<Result<Reader>()>& open);

  // Under the reference's tag, or under the digest when it has none; reads it back. errors: also conflict: the tag stands for
  // something else by then
  Result<> push_manifest(const sys::Context& context, const Reference& reference, const RawManifest& manifest);

 private:
  struct Exchange;
  class Download;
  using Attempt = std::function<Result<net::Answer>()>;

  bool is_plain(const std::string& registry) const;
  net::Url url_of(const Reference& repository, const std::string& path) const;
  std::vector<Reference> places_of(const Reference& reference) const;

  template <class T>
  Result<T> first_of(const Reference& reference, const std::function<Result<T>(const Reference& place)>& read) const;

  Result<RawManifest> manifest_at(const sys::Context& context, const Reference& place);
  Result<> blob_at(const sys::Context& context, const Reference& place, Download& download);
  Result<net::Answer> upload_once(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                                  const std::function<Result<Reader>()>& open);
  void cancel_upload(const sys::Context& context, const Reference& repository, const net::Url& upload);

  Result<net::Answer> patiently(const sys::Context& context, const Attempt& attempt, const Download* download = nullptr) const;
  Result<net::Answer> send(const sys::Context& context, const Exchange& exchange);
  Result<net::Answer> send_as(const sys::Context& context, const Exchange& exchange, const std::optional<Secret>& authorization);
  Result<std::optional<Secret>> log_in(const sys::Context& context, const Exchange& exchange, const net::Answer& refused);
  Result<Secret> fetch_token(const sys::Context& context, const Exchange& exchange, const Challenge& challenge);
  Error refusal(const Reference& repository, const net::Answer& answer) const;
  Error unexpected(const Reference& repository, const net::Answer& answer) const;

  net::Http& http_;
  RegistryOptions options_;
  Guarded<std::map<std::string, Secret>> authorizations_;  // that worked, by registry and scope
};

}  // namespace slipway::release
