// RegistryClient: reads from and writes to registries with the distribution specification's v2 API.
#pragma once

#include "base/guarded.h"
#include "base/result.h"
#include "net/http.h"
#include "release/blob_download.h"
#include "release/challenge.h"
#include "release/credentials.h"
#include "release/image_source.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::release {

// Content of `source` is read from `mirrors` in order, then from the endpoints of the source's registry (semantics of
// ImageDigestMirrorSet: only references by digest use mirrors). A source below .invalid is never contacted: such names do not
// exist (RFC 2606).
struct Mirror {
  std::string source;  // prefix, "registry.slipway.invalid/slipway/release"
  std::vector<std::string> mirrors;
  std::string ca_pem{};  // authorities for the certificates of the mirrors; empty: those of RegistryOptions
};

// A server with images of a registry, as in containerd's hosts.toml. Unlike a Mirror, it is asked for the image by its repository
// in the registry, and by the parameter "ns" for the registry.
struct RegistryEndpoint {
  std::string server{};        // "mirror.example.com:5000"; empty: the registry itself
  bool plain_http = false;     // without TLS, whatever RegistryOptions::plain_http says
  std::string path = "/v2";    // of its API; the repository follows
  std::string ca_pem{};        // authorities for its certificate; empty: those of RegistryOptions
  bool serves_digests = true;  // references by digest, and blobs
  bool serves_tags = true;
};

struct RegistryOptions {
  Credentials credentials{};  // an endpoint or mirror gets the login of its own name
  std::vector<Mirror> mirrors{};
  // Where to read images of a registry ("quay.io"), after the mirrors, in this order. The entry "" is for all registries that
  // have no entry of their own. A registry without an entry is its own endpoint.
  std::map<std::string, std::vector<RegistryEndpoint>> endpoints{};
  std::string ca_file{};  // PEM for all registries; if empty, the system's authorities
  // Registries without TLS, "host:port". Registries on loopback also use no TLS, unless there is a ca_file.
  std::vector<std::string> plain_http{};
  int attempts = 4;  // of a request with transient failures
};

// Images of docker.io are read from its server registry-1.docker.io; those without an owner ("docker.io/debian") are in
// "library". Authenticates as the registry requests (none, basic, bearer token by scope). Follows redirects of blobs, without
// credentials on other hosts. Retries transient failures (connection lost, 429 with Retry-After, 5xx). Verifies every digest.
// `attempts` counts consecutive failures without progress.
//
//   errors   those of ImageSource; denied has the registry, the repository and whether a login was available;
//            unavailable has the registry and the last reason
//   threads  any; tokens are shared
class RegistryClient final : public ImageSource {
 public:
  RegistryClient(net::Http& http, RegistryOptions options);

  std::string describe(const Reference& reference) const override { return to_string(reference); }
  Result<RawManifest> manifest(const sys::Context& context, const Reference& reference) override;
  Result<> rest_of_blob(const sys::Context& context, const Reference& repository, BlobCheck had, const net::Sink& sink) override;

  // All other functions use the registry itself, with the authorities and the path that its endpoint has, if one of the endpoints
  // is the registry itself. They use no mirrors and no other endpoints.

  // Whether the repository has a blob with this digest and size.
  Result<bool> has_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob);

  // Whether the reference has this manifest.
  Result<bool> has_manifest(const sys::Context& context, const Reference& reference, const Digest& digest);

  // Content of an upload: `open` returns a new reader for each attempt.
  using Reader = std::function<Result<std::size_t>(char* buffer, std::size_t size)>;

  // Uploads a blob in one request. errors: also those of the reader. The registry publishes a blob only when it is complete and
  // its digest is correct. A failed upload is cancelled.
  Result<> push_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                     const std::function<Result<Reader>()>& open);

  // Pushes to the reference's tag, or by digest if it has no tag. Reads the manifest back. errors: also conflict: another client
  // pushed the tag at the same time
  Result<> push_manifest(const sys::Context& context, const Reference& reference, const RawManifest& manifest);

 private:
  struct Location;
  struct Exchange;
  using Attempt = std::function<Result<net::Answer>()>;

  std::optional<Login> login_for(const Reference& repository) const;
  bool is_plain(const std::string& registry) const;
  Location location_of(const Reference& reference) const;
  Location location_of(const Reference& reference, const RegistryEndpoint& endpoint) const;
  const std::vector<RegistryEndpoint>* endpoints_of(const std::string& registry) const;
  std::vector<Location> locations_of(const Reference& reference) const;
  Location location_to_write(const Reference& reference) const;

  template <class T>
  Result<T> read_first(const Reference& reference, const std::function<Result<T>(const Location& location)>& read) const;

  Result<RawManifest> manifest_at(const sys::Context& context, const Location& location);
  Result<> blob_at(const sys::Context& context, const Location& location, BlobDownload& download);
  Result<net::Answer> upload_once(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                                  const std::function<Result<Reader>()>& open);
  void cancel_upload(const sys::Context& context, const Location& location, const net::Url& upload);

  Result<net::Answer> send_with_retries(const sys::Context& context, const Attempt& attempt,
                                        const BlobDownload* download = nullptr) const;
  Result<net::Answer> send(const sys::Context& context, const Exchange& exchange);
  Result<net::Answer> send_as(const sys::Context& context, const Exchange& exchange, const std::optional<Secret>& authorization);
  Result<std::optional<Secret>> log_in(const sys::Context& context, const Exchange& exchange, const net::Answer& refused);
  Result<Secret> fetch_token(const sys::Context& context, const Exchange& exchange, const Challenge& challenge);

  net::Http& http_;
  RegistryOptions options_;
  Guarded<std::map<std::string, Secret>> authorizations_;  // accepted ones, by registry and scope
};

}  // namespace slipway::release
