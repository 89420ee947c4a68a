#include "release/registry_client.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "release/blob_download.h"
#include "release/registry_answer.h"
#include "sys/wait_for.h"

#include <algorithm>

namespace slipway::release {

namespace {

constexpr Milliseconds first_pause{250};
constexpr Milliseconds max_pause{5000};
constexpr int max_redirects = 5;
constexpr Milliseconds cancel_limit{2000};

constexpr const char* manifest_types[] = {
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
};

std::vector<net::Header> accept_manifests() {
  std::vector<net::Header> headers;
  for (const char* type : manifest_types) headers.push_back({"Accept", type});
  return headers;
}

bool is_same_server(const net::Url& a, const net::Url& b) { return a.scheme == b.scheme && a.host == b.host && a.port == b.port; }

std::string basic_authorization(const Login& login) {
  return "Basic " + base64_encode(login.user + ":" + login.password.reveal());
}

net::Url parsed(const std::string& text) {
  Result<net::Url> url = net::parse_url(text);
  CHECK(url.ok());  // parse_reference accepts only such names
  return std::move(url).value();
}

std::string name_of(const Reference& repository) { return repository.registry + "/" + repository.repository; }

// The rest of a repository below a mirror's source, at a path boundary: "" or "/etcd".
std::optional<std::string> below(const std::string& name, const std::string& source) {
  if (!name.starts_with(source)) return std::nullopt;
  std::string rest = name.substr(source.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  return rest;
}

// Docker Hub's API has another host than the names of its images.
constexpr std::string_view hub = "docker.io", hub_server = "registry-1.docker.io", hub_owner = "library/";

bool is_reserved_name(const std::string& registry) { return registry.substr(0, registry.rfind(':')).ends_with(".invalid"); }

}  // namespace

// Where an image is requested.
struct RegistryClient::Location {
  Reference reference;  // of the server; decides the credentials
  bool is_plain = false;
  std::string api = "/v2";
  std::string name_space{};  // the registry that the image's name has, for a server that serves several
  net::TlsOptions tls{};

  const std::string& registry() const { return reference.registry; }

  // Authorities instead of those of RegistryOptions; empty: no change.
  void trust(const std::string& ca_pem) {
    if (ca_pem.empty()) return;
    tls.ca_file.clear();
    tls.ca_pem = ca_pem;
  }

  net::Url url(const std::string& path) const {
    const std::string query = name_space.empty() ? "" : "?ns=" + net::percent_encode(name_space);
    return parsed(fmt::format("{}://{}{}/{}/{}{}", is_plain ? "http" : "https",
                              reference.registry == hub ? hub_server : std::string_view(reference.registry), api,
                              reference.repository, path, query));
  }
};

// One request, before authentication and redirects.
struct RegistryClient::Exchange {
  const Location& location;
  std::string actions = "pull";
  std::string method = "GET";
  net::Url url;
  std::vector<net::Header> headers{};
  std::string body{};
  std::uint64_t answer_limit = largest_manifest;
  std::function<Result<>(net::Request&)> prepare{};  // called before each attempt
  net::Sink sink{};

  std::string scope() const { return fmt::format("repository:{}:{}", location.reference.repository, actions); }
  std::string key() const { return fmt::format("{}{} {}", location.registry(), location.api, scope()); }
};

RegistryClient::RegistryClient(net::Http& http, RegistryOptions options) : http_(http), options_(std::move(options)) {}

std::optional<Login> RegistryClient::login_for(const Reference& repository) const {
  return options_.credentials.find(repository);
}

// ---- locations

bool RegistryClient::is_plain(const std::string& registry) const {
  if (std::ranges::find(options_.plain_http, registry) != options_.plain_http.end()) return true;
  const Result<net::Url> url = net::parse_url("http://" + registry);
  return url.ok() && net::is_loopback(url->host) && options_.ca_file.empty();
}

RegistryClient::Location RegistryClient::location_of(const Reference& reference) const {
  const bool plain = is_plain(reference.registry);
  Location location = {.reference = reference, .is_plain = plain, .tls = {.ca_file = options_.ca_file, .plain_http = plain}};
  std::string& repository = location.reference.repository;
  if (reference.registry == hub && repository.find('/') == std::string::npos) repository.insert(0, hub_owner);
  return location;
}

RegistryClient::Location RegistryClient::location_of(const Reference& reference, const RegistryEndpoint& endpoint) const {
  Location location = location_of(reference);
  location.api = endpoint.path;
  if (!endpoint.server.empty()) {
    location.reference.registry = endpoint.server;
    location.is_plain = location.tls.plain_http = endpoint.plain_http;
    if (endpoint.server != reference.registry) location.name_space = reference.registry;
  }
  location.trust(endpoint.ca_pem);
  return location;
}

// Null if nothing is configured for the registry.
const std::vector<RegistryEndpoint>* RegistryClient::endpoints_of(const std::string& registry) const {
  auto found = options_.endpoints.find(registry);
  if (found == options_.endpoints.end()) found = options_.endpoints.find("");
  return found == options_.endpoints.end() ? nullptr : &found->second;
}

std::vector<RegistryClient::Location> RegistryClient::locations_of(const Reference& reference) const {
  std::vector<Location> locations;
  for (const Mirror& mirror : reference.digest ? options_.mirrors : std::vector<Mirror>()) {
    const std::optional<std::string> rest = below(name_of(reference), mirror.source);
    if (!rest) continue;
    for (const std::string& name : mirror.mirrors) {
      Result<Reference> location = parse_repository(name + *rest);
      if (!location.ok()) continue;
      locations.push_back(location_of(location->with_digest(*reference.digest)));
      locations.back().trust(mirror.ca_pem);
    }
  }
  const std::vector<RegistryEndpoint>* endpoints = endpoints_of(reference.registry);
  const std::vector<RegistryEndpoint> itself(1);
  for (const RegistryEndpoint& endpoint : endpoints == nullptr ? itself : *endpoints) {
    if (!(reference.digest ? endpoint.serves_digests : endpoint.serves_tags)) continue;
    Location location = location_of(reference, endpoint);
    if (!is_reserved_name(location.registry())) locations.push_back(std::move(location));
  }
  return locations;
}

RegistryClient::Location RegistryClient::location_to_write(const Reference& reference) const {
  if (const std::vector<RegistryEndpoint>* endpoints = endpoints_of(reference.registry)) {
    for (const RegistryEndpoint& endpoint : *endpoints) {
      if (endpoint.server.empty() || endpoint.server == reference.registry) return location_of(reference, endpoint);
    }
  }
  return location_of(reference);
}

// Reads from the first location that succeeds. errors: that of the only location, or those of all, with their names
template <class T>
Result<T> RegistryClient::read_first(const Reference& reference,
                                     const std::function<Result<T>(const Location& location)>& read) const {
  const std::vector<Location> locations = locations_of(reference);
  if (locations.empty() && !is_reserved_name(reference.registry)) {
    return error(Code::not_found, "no endpoint that is configured for registry {} serves images by {}", reference.registry,
                 reference.digest ? "digest" : "tag");
  }
  if (locations.empty()) {
    return error(Code::not_found, "{} exists only in mirrors, and no mirror is configured for {}", reference.registry,
                 name_of(reference));
  }
  std::optional<Error> worst;
  std::vector<std::string> reasons;
  for (const Location& location : locations) {
    Result<T> result = read(location);
    if (result.ok() || result.error().code() == Code::cancelled || locations.size() == 1) return result;
    reasons.push_back(fmt::format("{}: {}", name_of(location.reference), result.error().message()));
    // A transient error decides the code: a later retry can succeed, whatever the other locations returned.
    if (!worst || result.error().code() == Code::unavailable) worst = result.error();
  }
  return error(worst->code(), "{}: not available from {} locations: {}", reference.selector(), locations.size(),
               join(reasons, "; "));
}

// ---- reading

Result<RawManifest> RegistryClient::manifest(const sys::Context& context, const Reference& reference) {
  return read_first<RawManifest>(reference, [&](const Location& location) { return manifest_at(context, location); });
}

Result<RawManifest> RegistryClient::manifest_at(const sys::Context& context, const Location& location) {
  const Reference& reference = location.reference;
  const Exchange exchange{
      .location = location, .url = location.url("manifests/" + reference.selector()), .headers = accept_manifests()};
  net::Answer answer = TRY(send_with_retries(context, [&] { return send(context, exchange); }));
  if (answer.status == 404)
    return error(Code::not_found, "registry {} has no image {}", reference.registry, to_string(reference));
  if (answer.status != 200) return unexpected_answer(reference, answer, login_for(reference));
  Digest digest = Digest::of(answer.body);
  if (reference.digest && digest != *reference.digest) {
    return error(Code::invalid, "registry {} returned other content than {}: digest {}", reference.registry, to_string(reference),
                 digest.text());
  }
  std::string media_type(trim(split(answer.header("Content-Type").value_or(""), ';')[0]));
  if (std::ranges::find(manifest_types, media_type) == std::end(manifest_types)) media_type = guess_media_type(answer.body);
  return RawManifest{std::move(media_type), std::move(answer.body), std::move(digest)};
}

Result<> RegistryClient::rest_of_blob(const sys::Context& context, const Reference& repository, BlobCheck had,
                                      const net::Sink& sink) {
  BlobDownload download(std::move(had), sink);
  return read_first<Ok>(repository.with_digest(download.blob().digest), [&](const Location& location) -> Result<> {
    if (download.has_failed()) return error(Code::invalid, "not attempted after an earlier failure");
    return blob_at(context, location, download);
  });
}

Result<> RegistryClient::blob_at(const sys::Context& context, const Location& location, BlobDownload& download) {
  const Exchange exchange{.location = location,
                          .url = location.url("blobs/" + download.blob().digest.text()),
                          .prepare = [&](net::Request& request) -> Result<> {
                            download.prepare(request);
                            return Ok{};
                          },
                          .sink = [&](std::string_view piece) { return download.take(piece); }};
  net::Answer answer = TRY(send_with_retries(
      context, [&] { return send(context, exchange); }, &download));
  if (answer.status == 404)
    return error(Code::not_found, "registry {} has no blob {}", location.registry(), download.blob().digest.text());
  // 416: nothing is left to request; the connection was lost after the last byte.
  const bool is_there = answer.status == 200 || answer.status == 206 || (answer.status == 416 && download.is_complete());
  if (!is_there) return unexpected_answer(location.reference, answer, login_for(location.reference));
  return download.finish().context("registry " + location.registry());
}

Result<bool> RegistryClient::has_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob) {
  const Location location = location_to_write(repository);
  const Exchange exchange{.location = location, .method = "HEAD", .url = location.url("blobs/" + blob.digest.text())};
  net::Answer answer = TRY(send_with_retries(context, [&] { return send(context, exchange); }));
  if (answer.status == 404) return false;
  if (answer.status != 200) return unexpected_answer(repository, answer, login_for(repository));
  return answer.header("Content-Length") == std::to_string(blob.size);
}

Result<bool> RegistryClient::has_manifest(const sys::Context& context, const Reference& reference, const Digest& digest) {
  Result<RawManifest> found = manifest_at(context, location_to_write(reference));
  if (found.ok()) return found->digest == digest;
  if (found.error().code() == Code::not_found) return false;
  return std::move(found).error();
}

// ---- writing

Result<> RegistryClient::push_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                                   const std::function<Result<Reader>()>& open) {
  net::Answer answer = TRY(send_with_retries(context, [&] { return upload_once(context, repository, blob, open); }));
  if (answer.status == 201) return Ok{};
  return unexpected_answer(repository, answer, login_for(repository)).context(fmt::format("pushing blob {}", blob.digest.text()));
}

Result<net::Answer> RegistryClient::upload_once(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                                                const std::function<Result<Reader>()>& open) {
  const Location location = location_to_write(repository);
  const Exchange start{.location = location, .actions = "pull,push", .method = "POST", .url = location.url("blobs/uploads/")};
  net::Answer started = TRY(send(context, start));
  if (started.status != 202) return started;
  const net::Url upload = TRY(net::resolve(start.url, started.header("Location").value_or("")).context("Location of the upload"));
  Exchange put{.location = location, .actions = "pull,push", .method = "PUT", .url = upload};
  put.url.target +=
      (upload.target.find('?') == std::string::npos ? "?digest=" : "&digest=") + net::percent_encode(blob.digest.text());
  put.headers = {{"Content-Type", "application/octet-stream"}};
  put.prepare = [&](net::Request& request) -> Result<> {
    request.body_reader = TRY(open());
    request.body_size = blob.size;
    return Ok{};
  };
  Result<net::Answer> answer = send(context, put);
  if (!answer.ok() || answer->status != 201) cancel_upload(context, location, upload);
  return answer;
}

// Also called after a stop request, so it has its own stop token and limits. The registry deletes uploads that are not cancelled
// after some time.
void RegistryClient::cancel_upload(const sys::Context& context, const Location& location, const net::Url& upload) {
  const Exchange cancel{.location = location,
                        .actions = "pull,push",
                        .method = "DELETE",
                        .url = upload,
                        .prepare = [](net::Request& request) -> Result<> {
                          request.connect_limit = request.idle_limit = cancel_limit;
                          return Ok{};
                        }};
  Result<net::Answer> answer = send(context.with_stop({}), cancel);
  if (!answer.ok()) context.log.debug("cannot cancel an upload: {}", answer.error().message());
}

Result<> RegistryClient::push_manifest(const sys::Context& context, const Reference& reference, const RawManifest& manifest) {
  Reference target = reference;
  target.digest.reset();
  if (target.tag.empty()) target.digest = manifest.digest;
  const Location location = location_to_write(target);
  const Exchange exchange{.location = location,
                          .actions = "pull,push",
                          .method = "PUT",
                          .url = location.url("manifests/" + target.selector()),
                          .headers = {{"Content-Type", manifest.media_type}},
                          .body = manifest.bytes};
  const std::string doing = fmt::format("pushing {}", to_string(target));
  net::Answer answer = TRY(send_with_retries(context, [&] { return send(context, exchange); }).context(doing));
  if (answer.status < 200 || answer.status > 202) return unexpected_answer(target, answer, login_for(target)).context(doing);
  const RawManifest stored = TRY(manifest_at(context, location).context(doing + ": reading it back"));
  if (stored.digest == manifest.digest) return Ok{};
  return error(Code::conflict, "{}: now has {} instead of {}, another client pushed it at the same time", doing,
               stored.digest.text(), manifest.digest.text());
}

// ---- sending

// Retries transient failures. Attempts of a download that received bytes do not count.
Result<net::Answer> RegistryClient::send_with_retries(const sys::Context& context, const Attempt& attempt,
                                                      const BlobDownload* download) const {
  Milliseconds next = first_pause;
  std::uint64_t taken = download ? download->taken() : 0;
  for (int attempts = 1;; ++attempts) {
    Result<net::Answer> answer = attempt();
    if (!is_transient(answer) || (download && download->has_failed())) return answer;
    if (download && download->taken() != taken) {
      taken = download->taken();
      next = first_pause;
      attempts = 1;
    }
    if (attempts >= options_.attempts) return answer;
    if (!sys::pause(context, std::max(next, retry_after(answer))))
      return error(Code::cancelled, "stopped before the next attempt");
    next = std::min(next * 2, max_pause);
  }
}

Result<net::Answer> RegistryClient::send(const sys::Context& context, const Exchange& exchange) {
  const std::optional<Secret> known = authorizations_.with_lock([&](auto& all) -> std::optional<Secret> {
    auto found = all.find(exchange.key());
    return found == all.end() ? std::nullopt : std::optional(found->second);
  });
  net::Answer answer = TRY(send_as(context, exchange, known));
  if (answer.status != 401) return answer;
  const std::optional<Secret> fresh = TRY(log_in(context, exchange, answer));
  if (!fresh) return answer;
  answer = TRY(send_as(context, exchange, fresh));
  if (answer.status != 401) authorizations_.with_lock([&](auto& all) { all.insert_or_assign(exchange.key(), *fresh); });
  return answer;
}

Result<net::Answer> RegistryClient::send_as(const sys::Context& context, const Exchange& exchange,
                                            const std::optional<Secret>& authorization) {
  const net::Url registry = exchange.location.url("");
  net::Url url = exchange.url;
  for (int redirects = 0;; ++redirects) {
    const bool is_registry = is_same_server(url, registry);
    net::Request request{.method = exchange.method, .url = url, .headers = exchange.headers, .body = exchange.body};
    request.authorization = is_registry ? authorization : std::nullopt;
    request.tls = exchange.location.tls;
    request.answer_limit = exchange.answer_limit;
    if (exchange.prepare) TRY(exchange.prepare(request));
    net::Answer answer =
        TRY(http_.send(request, context.stop, exchange.sink).context("registry " + exchange.location.registry()));
    const bool follow = is_redirect(answer.status) && (exchange.method == "GET" || exchange.method == "HEAD");
    if (!follow && answer.status == 401 && !is_registry) {
      return error(Code::denied, "registry {} redirected to {}, which denied access", registry.host, net::authority(url));
    }
    if (!follow) return answer;
    if (redirects == max_redirects)
      return error(Code::invalid, "registry {} redirects more than {} times", registry.host, max_redirects);
    const net::Url next =
        TRY(net::resolve(url, answer.header("Location").value_or("")).context("redirect of registry " + registry.host));
    if (url.scheme == "https" && next.scheme == "http") {
      return error(Code::denied, "registry {} redirects to {} without TLS", registry.host, net::authority(next));
    }
    url = next;
  }
}

// ---- logging in

// The value of the Authorization header; nullopt if there is no login for the registry.
Result<std::optional<Secret>> RegistryClient::log_in(const sys::Context& context, const Exchange& exchange,
                                                     const net::Answer& refused) {
  std::optional<Secret> basic;
  for (const net::Header& header : refused.headers) {
    if (to_lower(header.name) != "www-authenticate") continue;
    for (const Challenge& challenge : parse_challenges(header.value)) {
      if (challenge.scheme == "bearer") return std::optional(TRY(fetch_token(context, exchange, challenge)));
      const std::optional<Login> login = login_for(exchange.location.reference);
      if (challenge.scheme == "basic" && login) basic = Secret(basic_authorization(*login));
    }
  }
  return basic;
}

Result<Secret> RegistryClient::fetch_token(const sys::Context& context, const Exchange& exchange, const Challenge& challenge) {
  const std::string& registry = exchange.location.registry();
  net::Url realm =
      TRY(net::parse_url(challenge.parameter("realm")).context(fmt::format("token server of registry {}", registry)));
  if (realm.scheme == "http" && !exchange.location.is_plain) {
    return error(Code::denied, "registry {} requests logins to {} without TLS", registry, net::authority(realm));
  }
  std::string scopes = challenge.parameter("scope");
  if (scopes.empty()) scopes = exchange.scope();
  realm.target += (realm.target.find('?') == std::string::npos ? "?service=" : "&service=") +
                  net::percent_encode(challenge.parameter("service"));
  for (std::string_view scope : split(scopes, ' ')) realm.target += "&scope=" + net::percent_encode(scope);
  const std::optional<Login> login = login_for(exchange.location.reference);
  net::Request request{.url = realm, .tls = exchange.location.tls, .answer_limit = 1u << 20};
  if (login) request.authorization = Secret(basic_authorization(*login));
  const net::Answer answer = TRY(http_.send(request, context.stop).context(fmt::format("token for registry {}", registry)));
  if (answer.status == 401 || answer.status == 403) return access_denied(exchange.location.reference, answer, login);
  if (answer.status != 200) {
    return error(is_transient(answer) ? Code::unavailable : Code::invalid, "token for registry {}: {} answered {}{}", registry,
                 net::authority(realm), answer.status, message_of(answer));
  }
  // The body contains a secret: messages must not contain any part of it.
  const Result<Json> document = parse_json(answer.body, "token");
  std::optional<std::string_view> token;
  if (document.ok()) token = find_string(document.value(), {"token"});
  if (document.ok() && !token) token = find_string(document.value(), {"access_token"});
  if (!token) return error(Code::invalid, "token for registry {}: {} answered without a token", registry, net::authority(realm));
  return Secret("Bearer " + std::string(*token));
}

}  // namespace slipway::release
