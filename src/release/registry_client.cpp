#include "release/registry_client.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "release/blob_check.h"
#include "sys/wait_for.h"

#include <algorithm>

namespace slipway::release {

namespace {

constexpr Milliseconds first_pause{250};
constexpr Milliseconds longest_pause{5000};
constexpr Seconds longest_retry_after{60};
constexpr int most_redirects = 5;
constexpr std::size_t longest_words = 300;  // of a server, in our messages
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

bool may_pass(const Result<net::Answer>& answer) {
  if (!answer.ok()) return answer.error().code() == Code::unavailable || answer.error().code() == Code::timeout;
  return answer->status == 429 || answer->status >= 500;
}

// Zero when the server did not say, or said a date: then our own pause is as good as any.
Milliseconds retry_after(const Result<net::Answer>& answer) {
  if (!answer.ok()) return Milliseconds(0);
  const long seconds = parse_number<long>(answer->header("Retry-After").value_or("")).value_or(0);
  return std::clamp(Seconds(seconds), Seconds(0), longest_retry_after);
}

bool is_same_server(const net::Url& a, const net::Url& b) { return a.scheme == b.scheme && a.host == b.host && a.port == b.port; }

bool is_redirect(int status) { return status == 301 || status == 302 || status == 303 || status == 307 || status == 308; }

// What a registry says about its refusal: {"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}.
std::string words_of(const net::Answer& answer) {
  const Result<Json> document = parse_json(answer.body, "answer");
  if (!document.ok()) return "";
  std::vector<std::string> words;
  for (const Json& entry : find_array(document.value(), {"errors"})) {
    words.push_back(std::string(find_string(entry, {"message"}).value_or(find_string(entry, {"code"}).value_or(""))));
  }
  const std::string text = join(words, "; ").substr(0, longest_words);
  return text.empty() ? "" : ": " + to_utf8(text);
}

std::string basic_authorization(const Login& login) {
  return "Basic " + base64_encode(login.user + ":" + login.password.reveal());
}

std::string name_of(const Reference& repository) { return repository.registry + "/" + repository.repository; }

// The rest of a repository below a mirror's source, at a path boundary: "" or "/etcd".
std::optional<std::string> below(const std::string& name, const std::string& source) {
  if (!name.starts_with(source)) return std::nullopt;
  std::string rest = name.substr(source.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  return rest;
}

bool exists_nowhere(const std::string& registry) { return registry.substr(0, registry.rfind(':')).ends_with(".invalid"); }

}  // namespace

// One request as it is meant; logins and redirects are added to it.
struct RegistryClient::Exchange {
  const Reference& repository;  // whose credentials are used
  std::string actions = "pull";
  std::string method = "GET";
  net::Url url;
  std::vector<net::Header> headers{};
  std::string body{};
  std::uint64_t answer_limit = largest_manifest;
  std::function<Result<>(net::Request&)> prepare{};  // before each sending
  net::Sink sink{};

  std::string scope() const { return fmt::format("repository:{}:{}", repository.repository, actions); }
  std::string key() const { return repository.registry + " " + scope(); }
};

// A blob on its way to a sink, over as many answers as it takes.
class RegistryClient::Download {
 public:
  Download(const Descriptor& blob, const net::Sink& sink) : blob_(blob), check_(blob), sink_(sink) {}

  // Asks only for what is missing, and learns from the head of the answer whether that is what comes: a server that ignores
  // the range starts again, and what the sink had is skipped.
  Result<> prepare(net::Request& request) {
    if (check_.taken() > 0) request.headers.push_back({"Range", fmt::format("bytes={}-", check_.taken())});
    request.check_head = [this](const net::Answer& head) { return look_at(head); };
    return Ok{};
  }

  Result<> take(std::string_view piece) {
    const std::size_t known = std::min<std::uint64_t>(skip_, piece.size());
    skip_ -= known;
    piece.remove_prefix(known);
    if (piece.empty()) return Ok{};
    Result<> taken = check_.take(piece);
    if (taken.ok()) taken = sink_(piece);
    is_lost_ = is_lost_ || !taken.ok();
    return taken;
  }

  Result<> finish() {
    is_lost_ = true;
    return check_.finish();
  }

  const Descriptor& blob() const { return blob_; }
  std::uint64_t taken() const { return check_.taken(); }
  bool is_whole() const { return taken() == blob_.size; }
  bool is_lost() const { return is_lost_; }  // trying again cannot help: the sink failed, or has bytes that are wrong

 private:
  Result<> look_at(const net::Answer& head) {
    skip_ = taken();
    std::uint64_t expected = blob_.size;
    if (head.status == 206) {
      if (!head.header("Content-Range").value_or("").starts_with(fmt::format("bytes {}-", taken()))) {
        return error(Code::invalid, "blob {}: the server sent another range than requested", blob_.digest.text());
      }
      expected -= std::exchange(skip_, 0);
    }
    const std::uint64_t coming = parse_number<std::uint64_t>(head.header("Content-Length").value_or("")).value_or(expected);
    if (coming == expected) return Ok{};
    return error(Code::invalid, "the server has {} bytes of blob {}, expected {}", coming, blob_.digest.text(), expected);
  }

  const Descriptor& blob_;
  BlobCheck check_;
  const net::Sink& sink_;
  std::uint64_t skip_ = 0;  // bytes at the start of the answer that the sink has
  bool is_lost_ = false;
};

RegistryClient::RegistryClient(net::Http& http, RegistryOptions options) : http_(http), options_(std::move(options)) {}

// ---- where things are

bool RegistryClient::is_plain(const std::string& registry) const {
  if (std::ranges::find(options_.plain_http, registry) != options_.plain_http.end()) return true;
  const Result<net::Url> url = net::parse_url("http://" + registry);
  return url.ok() && net::is_loopback(url->host) && options_.ca_file.empty();
}

net::Url RegistryClient::url_of(const Reference& repository, const std::string& path) const {
  const std::string text = fmt::format("{}://{}/v2/{}/{}", is_plain(repository.registry) ? "http" : "https", repository.registry,
                                       repository.repository, path);
  Result<net::Url> url = net::parse_url(text);
  CHECK(url.ok());  // what parse_reference lets through
  return std::move(url).value();
}

std::vector<Reference> RegistryClient::places_of(const Reference& reference) const {
  std::vector<Reference> places;
  for (const Mirror& mirror : reference.digest ? options_.mirrors : std::vector<Mirror>()) {
    const std::optional<std::string> rest = below(name_of(reference), mirror.source);
    if (!rest) continue;
    for (const std::string& name : mirror.mirrors) {
      Result<Reference> place = parse_repository(name + *rest);
      if (place.ok()) places.push_back(place->with_digest(*reference.digest));
    }
  }
  if (!exists_nowhere(reference.registry)) places.push_back(reference);
  return places;
}

// Reads from the first place that has it. errors: of the only place, or of all, each with its name
template <class T>
Result<T> RegistryClient::first_of(const Reference& reference,
                                   const std::function<Result<T>(const Reference& place)>& read) const {
  const std::vector<Reference> places = places_of(reference);
  if (places.empty()) {
    return error(Code::not_found, "{} exists only in mirrors, and no mirror is configured for {}", reference.registry,
                 name_of(reference));
  }
  std::optional<Error> worst;
  std::vector<std::string> reasons;
  for (const Reference& place : places) {
    Result<T> result = read(place);
    if (result.ok() || result.error().code() == Code::cancelled || places.size() == 1) return result;
    reasons.push_back(fmt::format("{}: {}", name_of(place), result.error().message()));
    // What may pass decides: asking again later makes sense then, whatever the other places said.
    if (!worst || result.error().code() == Code::unavailable) worst = result.error();
  }
  return error(worst->code(), "{} places tried, none has {}: {}", places.size(), reference.selector(), join(reasons, "; "));
}

// ---- reading

Result<RawManifest> RegistryClient::manifest(const sys::Context& context, const Reference& reference) {
  return first_of<RawManifest>(reference, [&](const Reference& place) { return manifest_at(context, place); });
}

Result<RawManifest> RegistryClient::manifest_at(const sys::Context& context, const Reference& place) {
  const Exchange exchange{
      .repository = place, .url = url_of(place, "manifests/" + place.selector()), .headers = accept_manifests()};
  net::Answer answer = TRY(patiently(context, [&] { return send(context, exchange); }));
  if (answer.status == 404) return error(Code::not_found, "registry {} has no image {}", place.registry, to_string(place));
  if (answer.status != 200) return unexpected(place, answer);
  Digest digest = Digest::of(answer.body);
  if (place.digest && digest != *place.digest) {
    return error(Code::invalid, "registry {} returned other content than {}: digest {}", place.registry, to_string(place),
                 digest.text());
  }
  std::string media_type(trim(split(answer.header("Content-Type").value_or(""), ';')[0]));
  if (std::ranges::find(manifest_types, media_type) == std::end(manifest_types)) media_type = guess_media_type(answer.body);
  return RawManifest{std::move(media_type), std::move(answer.body), std::move(digest)};
}

Result<> RegistryClient::blob(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                              const net::Sink& sink) {
  Download download(blob, sink);
  return first_of<Ok>(repository.with_digest(blob.digest), [&](const Reference& place) -> Result<> {
    if (download.is_lost()) return error(Code::invalid, "not attempted after an earlier failure");
    return blob_at(context, place, download);
  });
}

Result<> RegistryClient::blob_at(const sys::Context& context, const Reference& place, Download& download) {
  const Exchange exchange{.repository = place,
                          .url = url_of(place, "blobs/" + download.blob().digest.text()),
                          .prepare = [&](net::Request& request) { return download.prepare(request); },
                          .sink = [&](std::string_view piece) { return download.take(piece); }};
  net::Answer answer = TRY(patiently(
      context, [&] { return send(context, exchange); }, &download));
  if (answer.status == 404)
    return error(Code::not_found, "registry {} has no blob {}", place.registry, download.blob().digest.text());
  // 416: nothing is left to ask for, the connection broke behind the last byte.
  const bool is_there = answer.status == 200 || answer.status == 206 || (answer.status == 416 && download.is_whole());
  if (!is_there) return unexpected(place, answer);
  return download.finish().context("registry " + place.registry);
}

Result<bool> RegistryClient::has_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob) {
  const Exchange exchange{.repository = repository, .method = "HEAD", .url = url_of(repository, "blobs/" + blob.digest.text())};
  net::Answer answer = TRY(patiently(context, [&] { return send(context, exchange); }));
  if (answer.status == 404) return false;
  if (answer.status != 200) return unexpected(repository, answer);
  return answer.header("Content-Length") == std::to_string(blob.size);
}

Result<bool> RegistryClient::has_manifest(const sys::Context& context, const Reference& reference, const Digest& digest) {
  Result<RawManifest> found = manifest_at(context, reference);
  if (found.ok()) return found->digest == digest;
  if (found.error().code() == Code::not_found) return false;
  return std::move(found).error();
}

// ---- writing

Result<> RegistryClient::push_blob(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                                   const std::function<Result<Reader>()>& open) {
  net::Answer answer = TRY(patiently(context, [&] { return upload_once(context, repository, blob, open); }));
  if (answer.status == 201) return Ok{};
  return unexpected(repository, answer).context(fmt::format("pushing blob {}", blob.digest.text()));
}

Result<net::Answer> RegistryClient::upload_once(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                                                const std::function<Result<Reader>()>& open) {
  const Exchange start{
      .repository = repository, .actions = "pull,push", .method = "POST", .url = url_of(repository, "blobs/uploads/")};
  net::Answer started = TRY(send(context, start));
  if (started.status != 202) return started;
  const net::Url upload = TRY(net::resolve(start.url, started.header("Location").value_or("")).context("Location of the upload"));
  Exchange put{.repository = repository, .actions = "pull,push", .method = "PUT", .url = upload};
  put.url.target +=
      (upload.target.find('?') == std::string::npos ? "?digest=" : "&digest=") + net::percent_encode(blob.digest.text());
  put.headers = {{"Content-Type", "application/octet-stream"}};
  put.prepare = [&](net::Request& request) -> Result<> {
    request.body_reader = TRY(open());
    request.body_size = blob.size;
    return Ok{};
  };
  Result<net::Answer> answer = send(context, put);
  if (!answer.ok() || answer->status != 201) cancel_upload(context, repository, upload);
  return answer;
}

// Also when we were told to stop, so with a stop token and limits of its own. What it cannot cancel the registry drops
// some day by itself.
void RegistryClient::cancel_upload(const sys::Context& context, const Reference& repository, const net::Url& upload) {
  const Exchange cancel{.repository = repository,
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
  const Exchange exchange{.repository = target,
                          .actions = "pull,push",
                          .method = "PUT",
                          .url = url_of(target, "manifests/" + target.selector()),
                          .headers = {{"Content-Type", manifest.media_type}},
                          .body = manifest.bytes};
  const std::string doing = fmt::format("pushing {}", to_string(target));
  net::Answer answer = TRY(patiently(context, [&] { return send(context, exchange); }).context(doing));
  if (answer.status < 200 || answer.status > 202) return unexpected(target, answer).context(doing);
  const RawManifest stored = TRY(manifest_at(context, target).context(doing + ": reading it back"));
  if (stored.digest == manifest.digest) return Ok{};
  return error(Code::conflict, "{}: now has {} instead of {}, another client pushed it at the same time", doing,
               stored.digest.text(), manifest.digest.text());
}

// ---- sending

// Tries again what may pass. Of a download, tries that brought something do not count.
Result<net::Answer> RegistryClient::patiently(const sys::Context& context, const Attempt& attempt,
                                              const Download* download) const {
  Milliseconds next = first_pause;
  std::uint64_t taken = download ? download->taken() : 0;
  for (int made = 1;; ++made) {
    Result<net::Answer> answer = attempt();
    if (!may_pass(answer) || (download && download->is_lost())) return answer;
    if (download && download->taken() != taken) {
      taken = download->taken();
      next = first_pause;
      made = 1;
    }
    if (made >= options_.attempts) return answer;
    if (!sys::pause(context, std::max(next, retry_after(answer))))
      return error(Code::cancelled, "stopped before the next attempt");
    next = std::min(next * 2, longest_pause);
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
  const net::Url registry = url_of(exchange.repository, "");
  net::Url url = exchange.url;
  for (int redirects = 0;; ++redirects) {
    const bool is_registry = is_same_server(url, registry);
    net::Request request{.method = exchange.method, .url = url, .headers = exchange.headers, .body = exchange.body};
    request.authorization = is_registry ? authorization : std::nullopt;
    request.trust = {.ca_file = options_.ca_file, .plain_http = registry.scheme == "http"};
    request.answer_limit = exchange.answer_limit;
    if (exchange.prepare) TRY(exchange.prepare(request));
    net::Answer answer =
        TRY(http_.send(request, context.stop, exchange.sink).context("registry " + exchange.repository.registry));
    const bool follow = is_redirect(answer.status) && (exchange.method == "GET" || exchange.method == "HEAD");
    if (!follow && answer.status == 401 && !is_registry) {
      return error(Code::denied, "registry {} redirected to {}, which denied access", registry.host, net::authority(url));
    }
    if (!follow) return answer;
    if (redirects == most_redirects)
      return error(Code::invalid, "registry {} redirects more than {} times", registry.host, most_redirects);
    const net::Url next =
        TRY(net::resolve(url, answer.header("Location").value_or("")).context("redirect of registry " + registry.host));
    if (url.scheme == "https" && next.scheme == "http") {
      return error(Code::denied, "registry {} redirects to {} without TLS", registry.host, net::authority(next));
    }
    url = next;
  }
}

// ---- logging in

// Nothing when we have nothing to convince the registry with.
Result<std::optional<Secret>> RegistryClient::log_in(const sys::Context& context, const Exchange& exchange,
                                                     const net::Answer& refused) {
  std::optional<Secret> basic;
  for (const net::Header& header : refused.headers) {
    if (to_lower(header.name) != "www-authenticate") continue;
    for (const Challenge& challenge : parse_challenges(header.value)) {
      if (challenge.scheme == "bearer") return std::optional(TRY(fetch_token(context, exchange, challenge)));
      const std::optional<Login> login = options_.credentials.find(exchange.repository);
      if (challenge.scheme == "basic" && login) basic = Secret(basic_authorization(*login));
    }
  }
  return basic;
}

Result<Secret> RegistryClient::fetch_token(const sys::Context& context, const Exchange& exchange, const Challenge& challenge) {
  const std::string& registry = exchange.repository.registry;
  net::Url realm =
      TRY(net::parse_url(challenge.parameter("realm")).context(fmt::format("token server of registry {}", registry)));
  if (realm.scheme == "http" && !is_plain(registry)) {
    return error(Code::denied, "registry {} requests logins to {} without TLS", registry, net::authority(realm));
  }
  std::string scopes = challenge.parameter("scope");
  if (scopes.empty()) scopes = exchange.scope();
  realm.target += (realm.target.find('?') == std::string::npos ? "?service=" : "&service=") +
                  net::percent_encode(challenge.parameter("service"));
  for (std::string_view scope : split(scopes, ' ')) realm.target += "&scope=" + net::percent_encode(scope);
  const std::optional<Login> login = options_.credentials.find(exchange.repository);
  net::Request request{
      .url = realm, .trust = {.ca_file = options_.ca_file, .plain_http = is_plain(registry)}, .answer_limit = 1u << 20};
  if (login) request.authorization = Secret(basic_authorization(*login));
  const net::Answer answer = TRY(http_.send(request, context.stop).context(fmt::format("token for registry {}", registry)));
  if (answer.status == 401 || answer.status == 403) return refusal(exchange.repository, answer);
  if (answer.status != 200) {
    return error(may_pass(answer) ? Code::unavailable : Code::invalid, "token for registry {}: {} answered {}{}", registry,
                 net::authority(realm), answer.status, words_of(answer));
  }
  // The body holds a secret: no part of it may get into a message.
  const Result<Json> document = parse_json(answer.body, "token");
  std::optional<std::string_view> token;
  if (document.ok()) token = find_string(document.value(), {"token"});
  if (document.ok() && !token) token = find_string(document.value(), {"access_token"});
  if (!token) return error(Code::invalid, "token for registry {}: {} answered without a token", registry, net::authority(realm));
  return Secret("Bearer " + std::string(*token));
}

// ---- explaining

Error RegistryClient::refusal(const Reference& repository, const net::Answer& answer) const {
  const std::optional<Login> login = options_.credentials.find(repository);
  const std::string why = login ? fmt::format("user '{}' has no access", login->user) : "no login for this registry is known";
  return error(Code::denied, "registry {} denied access to repository {}{} ({})", repository.registry, repository.repository,
               words_of(answer), why);
}

Error RegistryClient::unexpected(const Reference& repository, const net::Answer& answer) const {
  if (answer.status == 401 || answer.status == 403) return refusal(repository, answer);
  if (answer.status == 404) {
    return error(Code::not_found, "registry {} has no repository {}{}", repository.registry, repository.repository,
                 words_of(answer));
  }
  return error(may_pass(answer) ? Code::unavailable : Code::invalid, "registry {} answered {}{}", repository.registry,
               answer.status, words_of(answer));
}

}  // namespace slipway::release
