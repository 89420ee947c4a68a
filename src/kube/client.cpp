#include "kube/client.h"

#include "base/text.h"
#include "kube/api_error.h"

#include <algorithm>

namespace slipway::kube {

namespace {

constexpr std::size_t max_message_size = 1000;      // of a server's message in an error
constexpr std::size_t max_event_size = 16'000'000;  // etcd stores objects up to 1.5 MB; JSON and managedFields can multiply that
constexpr Milliseconds connect_limit{5'000};
constexpr Milliseconds idle_limit{150'000};  // of a watch; servers send bookmarks every minute

bool is_success(int status) { return status >= 200 && status < 300; }

// The message of a Status object, or the body itself if it is not a Status.
std::string message_of(std::string_view body) {
  const Result<Json> status = parse_json(body, "answer");
  const std::string_view message = status.ok() ? find_string(status.value(), {"message"}).value_or("") : trim(body);
  return to_utf8(message.substr(0, max_message_size));
}

Error error_of(std::string_view method, std::string_view path, const net::Answer& answer) {
  return api_error(method, path, answer.status, message_of(answer.body));
}

std::optional<WatchEvent::Kind> kind_of(std::string_view type) {
  if (type == "ADDED") return WatchEvent::Kind::added;
  if (type == "MODIFIED") return WatchEvent::Kind::modified;
  if (type == "DELETED") return WatchEvent::Kind::deleted;
  if (type == "BOOKMARK") return WatchEvent::Kind::bookmark;
  return std::nullopt;
}

// Joins pieces of a stream to lines and parses each line as an event.
class EventReader {
 public:
  EventReader(std::string_view path, const std::function<Result<>(WatchEvent)>& on_event) : path_(path), on_event_(on_event) {}

  Result<> take(std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      line_ += piece.substr(0, end);
      piece.remove_prefix(end + 1);
      TRY(read(line_));
      line_.clear();
    }
    line_ += piece;
    if (line_.size() > max_event_size) return error(Code::invalid, "watch event: larger than {}", human_size(max_event_size));
    return Ok{};
  }

  Result<> finish() const {
    if (trim(line_).empty()) return Ok{};
    return error(Code::unavailable, "the watch ended in the middle of an event");
  }

 private:
  Result<> read(std::string_view line) {
    if (trim(line).empty()) return Ok{};
    Json event = TRY(parse_json(line, "event of the watch"));
    const std::string_view type = find_string(event, {"type"}).value_or("");
    Json* object = event.is_object() ? event.get_object().if_contains("object") : nullptr;
    if (!object) return error(Code::invalid, "watch event: the object is missing");
    if (type == "ERROR") {
      const Json* code = slipway::find(*object, {"code"});
      const int status = code && code->is_int64() ? static_cast<int>(code->get_int64()) : 500;
      return api_error("GET", path_, status, find_string(*object, {"message"}).value_or(""));
    }
    const std::optional<WatchEvent::Kind> kind = kind_of(type);
    if (!kind) return Ok{};  // an event type of a newer server
    return on_event_({*kind, std::move(*object)});
  }

  std::string_view path_;
  const std::function<Result<>(WatchEvent)>& on_event_;
  std::string line_;
};

}  // namespace

Error api_error(std::string_view method, std::string_view path, int status, std::string_view message) {
  Code code = Code::invalid;
  if (status == 404) code = Code::not_found;
  if (status == 409 || status == 410) code = Code::conflict;
  if (status == 401 || status == 403) code = Code::denied;
  if (status == 429 || status >= 500 || status < 400) code = Code::unavailable;
  // Right after the server's start, admission plugins whose caches are not filled yet refuse with 403.
  if (message.find("not yet ready to handle request") != std::string_view::npos) code = Code::unavailable;
  const std::string what =
      message.empty() ? fmt::format("the server answered with HTTP status {}", status) : std::string(message);
  return error(code, "{} {}: {}", method, path.substr(0, path.find('?')), what);
}

Client::Client(net::Http& http, Access access, Metrics* metrics)
    : http_(http), access_(std::move(access)), metrics_(metrics) {}

void Client::count(std::string_view verb, const Result<net::Answer>& answer) {
  if (!metrics_) return;
  const std::string code = answer.ok() ? fmt::format("{}xx", answer->status / 100) : "none";
  metrics_->add(Metric::api_requests, {{"verb", verb}, {"code", code}});
}

Result<net::Request> Client::request_for(const std::string& method, const std::string& path) const {
  net::Request request;
  request.method = method;
  request.url = TRY(net::parse_url(access_.server).context("server of the Kubernetes API"));
  net::Url& url = request.url;
  request.tls.connect_to = access_.connect_to;
  if (!access_.tls_server_name.empty()) {
    const bool is_ipv6 = url.host.find(':') != std::string::npos;
    if (access_.connect_to.empty()) {
      request.tls.connect_to = is_ipv6 ? fmt::format("[{}]:{}", url.host, url.port) : fmt::format("{}:{}", url.host, url.port);
    }
    url.host = access_.tls_server_name;
  }
  if (url.target.ends_with('/')) url.target.pop_back();
  url.target += path;
  request.headers = {{"Accept", "application/json"}};
  if (!access_.token.empty()) request.authorization = Secret("Bearer " + access_.token.reveal());
  request.tls.ca_pem = access_.ca;
  request.tls.client_pem = access_.client_certificate;
  request.tls.client_key = access_.client_key;
  return request;
}

Result<Json> Client::send(const sys::Context& context, const ApiRequest& wanted) {
  net::Request request = TRY(request_for(wanted.method, wanted.path));
  request.connect_limit = std::min(connect_limit, wanted.limit);
  request.idle_limit = request.whole_limit = wanted.limit;
  if (wanted.body) {
    request.headers.push_back({"Content-Type", wanted.content_type});
    request.body = emit_json(*wanted.body, JsonStyle::compact);
  }
  const std::string doing = fmt::format("{} {}", wanted.method, wanted.path.substr(0, wanted.path.find('?')));
  Result<net::Answer> answered = http_.send(request, context.stop);
  count(wanted.method, answered);
  const net::Answer answer = TRY(std::move(answered).context(doing));
  if (!is_success(answer.status)) return error_of(wanted.method, wanted.path, answer);
  if (answer.body.empty()) return Json(nullptr);
  if (answer.header("Content-Type").value_or("").starts_with("text/")) return Json(to_utf8(answer.body));
  return parse_json(answer.body, "answer").context(doing);
}

Result<> Client::stream(const sys::Context& context, const std::string& path,
                        const std::function<Result<>(WatchEvent)>& on_event) {
  net::Request request = TRY(request_for("GET", path));
  request.connect_limit = connect_limit;
  request.idle_limit = idle_limit;
  const std::string collection = path.substr(0, path.find('?'));
  const std::string doing = "GET " + collection;
  if (metrics_) metrics_->add(Metric::watches, {{"resource", collection.substr(collection.rfind('/') + 1)}});
  // Kept apart from errors of Http, because errors of on_event are returned unchanged.
  std::optional<Error> failure;
  EventReader reader(path, on_event);
  Result<net::Answer> answer = http_.send(request, context.stop, [&](std::string_view piece) -> Result<> {
    Result<> taken = reader.take(piece);
    if (!taken.ok()) failure = taken.error();
    return taken;
  });
  if (failure) return *failure;
  count("WATCH", answer);
  if (!answer.ok()) return std::move(answer).error().context(doing);
  if (!is_success(answer->status)) return error_of("GET", path, answer.value());
  return reader.finish().context(doing);
}

}  // namespace slipway::kube
