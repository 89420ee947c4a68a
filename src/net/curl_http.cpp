#include "net/curl_http.h"

#include "base/check.h"
#include "base/guarded.h"
#include "base/text.h"
#include "net/curl.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace slipway::net {

namespace {

constexpr std::size_t idle_links = 8;          // kept for later calls, each with its connections
constexpr std::size_t refusal_limit = 64'000;  // bytes kept of an answer without success, if there is a sink
constexpr int longest_poll_ms = 1000;

// Call it only after load_curl() succeeded in send().
const Curl& curl() { return *load_curl().value(); }

// One multi handle for each call: curl_multi_wakeup is the only function of curl that another thread may call, and thus the way
// to stop a blocked transfer. The multi handle owns the connections, so reusing it reuses them.
struct Link {
  CURLM* multi = curl().multi_init();
  CURL* easy = curl().easy_init();
  std::string server;  // of the last request

  Link() { CHECK(multi != nullptr && easy != nullptr); }
  Link(const Link&) = delete;
  ~Link() {
    curl().easy_cleanup(easy);
    curl().multi_cleanup(multi);
  }
};

class HeaderList {
 public:
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  ~HeaderList() { curl().slist_free_all(list_); }

  void add(const std::string& line) {
    list_ = curl().slist_append(list_, line.c_str());
    CHECK(list_ != nullptr);
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

bool is_success(int status) { return status >= 200 && status < 300; }

// One request in progress, with the state that curl's callbacks share.
class Transfer {
 public:
  Transfer(const Request& request, const Sink& sink, CURL* easy) : request_(request), sink_(sink), easy_(easy) {}

  Result<> prepare();

  // Whether no byte was transferred for longer than the request allows. Call it periodically; it uses curl's clock.
  bool is_idle_too_long();

  Result<Answer> finish(CURLcode code);

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    CHECK(curl().easy_setopt(easy_, option, value) == CURLE_OK);
  }
  void set_trust();
  Result<> set_headers();
  void set_method();

  std::size_t take_header(std::string_view line);
  std::size_t take_body(std::string_view piece);
  std::size_t give_body(char* buffer, std::size_t size);
  std::size_t fail(Error error, std::size_t answer) {
    failure_ = std::move(error);
    return answer;
  }
  Error explain(CURLcode code) const;

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->take_header({data, size});
  }
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->take_body({data, size});
  }
  static std::size_t on_read(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->give_body(data, size);
  }

  const Request& request_;
  const Sink& sink_;
  CURL* easy_;
  HeaderList headers_;
  HeaderList connect_to_;
  Answer answer_;
  bool head_checked_ = false;
  bool enough_ = false;           // enough bytes are kept of an answer without success
  std::optional<Error> failure_;  // an error of a callback, which made curl end the transfer
  curl_off_t moved_ = -1;         // bytes sent and received when they last changed
  curl_off_t moved_at_ = 0;       // time of that change, microseconds from the start
  char error_text_[CURL_ERROR_SIZE] = "";
};

Result<> Transfer::prepare() {
  const Url& url = request_.url;
  if (url.scheme == "http" && !request_.tls.plain_http && !is_loopback(url.host)) {
    return error(Code::invalid, "{}: plain http is not allowed for this server", authority(url));
  }
  set(CURLOPT_URL, to_string(url).c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_FRESH_CONNECT, request_.sends_once ? 1L : 0L);
  set(CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for name resolution
  set(CURLOPT_ERRORBUFFER, error_text_);
  set_trust();
  TRY(set_headers());
  set_method();
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_limit.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request_.whole_limit.count()));
  // A client that only listens, as in a watch, then notices within seconds that the server's address moved to another machine.
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 2L);
  set(CURLOPT_TCP_KEEPINTVL, 2L);
  return Ok{};
}

// curl reuses a connection only if certificates, authorities and checks are byte-identical.
void Transfer::set_trust() {
  const TlsOptions& tls = request_.tls;
  CHECK(tls.ca_file.empty() || tls.ca_pem.empty());
  auto set_blob = [&](CURLoption option, const std::string& text) {
    curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};  // the request outlives the transfer
    set(option, &blob);
  };
  if (!tls.ca_file.empty()) set(CURLOPT_CAINFO, tls.ca_file.c_str());
  if (!tls.ca_pem.empty()) set_blob(CURLOPT_CAINFO_BLOB, tls.ca_pem);
  // The given authorities replace the system's.
  if (!tls.ca_file.empty() || !tls.ca_pem.empty()) set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  if (tls.insecure_skip_verify) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!tls.client_pem.empty()) {
    set_blob(CURLOPT_SSLCERT_BLOB, tls.client_pem);
    set_blob(CURLOPT_SSLKEY_BLOB, tls.client_key.reveal());
  }
  if (!tls.connect_to.empty()) {
    connect_to_.add("::" + tls.connect_to);
    set(CURLOPT_CONNECT_TO, connect_to_.get());
    set(CURLOPT_NOPROXY, "*");
  }
}

Result<> Transfer::set_headers() {
  // Without these headers curl adds "Expect: 100-continue", waits for the server, and declares a body as a form.
  headers_.add("Expect:");
  if (std::ranges::none_of(request_.headers, [](const Header& h) { return to_lower(h.name) == "content-type"; })) {
    headers_.add("Content-Type:");
  }
  auto add = [&](const std::string& name, const std::string& value) -> Result<> {
    const std::string line = value.empty() ? name + ";" : name + ": " + value;
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return error(Code::invalid, "{}: header {} has a line break", authority(request_.url), to_utf8(name));
    }
    headers_.add(line);
    return Ok{};
  };
  for (const Header& header : request_.headers) TRY(add(header.name, header.value));
  if (request_.authorization) TRY(add("Authorization", request_.authorization->reveal()));
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_USERAGENT, "slipway");
  return Ok{};
}

void Transfer::set_method() {
  const bool has_body =
      !request_.body.empty() || request_.method == "POST" || request_.method == "PUT" || request_.method == "PATCH";
  if (request_.body_reader) {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_READFUNCTION, &Transfer::on_read);
    set(CURLOPT_READDATA, static_cast<void*>(this));
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request_.body_size));
  } else if (has_body) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_POSTFIELDS, request_.body.c_str());
  } else if (request_.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
    return;
  }
  set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

bool Transfer::is_idle_too_long() {
  if (request_.idle_limit.count() == 0) return false;
  auto number = [&](CURLINFO info) {
    curl_off_t value = 0;
    curl().easy_getinfo(easy_, info, &value);
    return value;
  };
  if (number(CURLINFO_PRETRANSFER_TIME_T) == 0) return false;  // still connecting, which has its own limit
  long header_bytes = 0;
  curl().easy_getinfo(easy_, CURLINFO_HEADER_SIZE, &header_bytes);
  const curl_off_t moved = number(CURLINFO_SIZE_DOWNLOAD_T) + number(CURLINFO_SIZE_UPLOAD_T) + header_bytes;
  const curl_off_t now = number(CURLINFO_TOTAL_TIME_T);
  if (moved != std::exchange(moved_, moved)) moved_at_ = now;
  return now - moved_at_ > request_.idle_limit.count() * 1000;
}

std::size_t Transfer::take_header(std::string_view line) {
  // A status line starts a new answer. Earlier ones were informational (1xx) or from a proxy.
  if (line.starts_with("HTTP/")) {
    answer_.headers.clear();
  } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    answer_.headers.push_back({std::string(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1)))});
  }
  return line.size();
}

std::size_t Transfer::take_body(std::string_view piece) {
  const std::size_t refused = piece.size() + 1;  // any number other than piece.size() ends the transfer
  long status = 0;
  curl().easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  answer_.status = static_cast<int>(status);
  if (is_success(answer_.status) && request_.check_head && !std::exchange(head_checked_, true)) {
    Result<> checked = request_.check_head(answer_);
    if (!checked.ok()) return fail(std::move(checked).error(), refused);
  }
  if (sink_ && is_success(answer_.status)) {
    Result<> taken = sink_(piece);
    return taken.ok() ? piece.size() : fail(std::move(taken).error(), refused);
  }
  if (sink_) {
    answer_.body += piece.substr(0, refusal_limit - answer_.body.size());
    enough_ = answer_.body.size() == refusal_limit;
    return enough_ ? refused : piece.size();
  }
  if (answer_.body.size() + piece.size() > request_.answer_limit) {
    return fail(
        error(Code::too_large, "{}: the response is larger than {}", authority(request_.url), human_size(request_.answer_limit)),
        refused);
  }
  answer_.body += piece;
  return piece.size();
}

std::size_t Transfer::give_body(char* buffer, std::size_t size) {
  Result<std::size_t> given = request_.body_reader(buffer, size);
  if (!given.ok()) return fail(std::move(given).error(), CURL_READFUNC_ABORT);
  return given.value();
}

Result<Answer> Transfer::finish(CURLcode code) {
  if (failure_) return *failure_;
  if (code != CURLE_OK && !enough_) return explain(code);
  long status = 0;
  curl().easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  answer_.status = static_cast<int>(status);
  if (is_success(answer_.status) && request_.check_head && !head_checked_) TRY(request_.check_head(answer_));
  return std::move(answer_);
}

Error Transfer::explain(CURLcode code) const {
  const std::string server = authority(request_.url);
  // curl's message includes the elapsed milliseconds; the system's message is sufficient.
  long number = 0;
  curl().easy_getinfo(easy_, CURLINFO_OS_ERRNO, &number);
  if (code == CURLE_COULDNT_CONNECT && number != 0) {
    return error(Code::unavailable, "{}: cannot connect: {}", server, strerror(static_cast<int>(number)));
  }
  const std::string_view reason = error_text_[0] != '\0' ? error_text_ : curl().easy_strerror(code);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
      return error(Code::denied, "{}: the server's certificate is not trusted: {}", server, reason);
    case CURLE_SSL_CACERT_BADFILE:
      if (request_.tls.ca_file.empty()) return error(Code::invalid, "{}: the CA certificates cannot be used: {}", server, reason);
      return error(Code::invalid, "{}: the CA file {} cannot be used: {}", server, request_.tls.ca_file, reason);
    case CURLE_SSL_CERTPROBLEM:
      return error(Code::invalid, "{}: the client certificate and key cannot be used: {}", server, reason);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY: return error(Code::invalid, "{}: {}", server, reason);
    default: return error(Code::unavailable, "{}: {}", server, reason);
  }
}

}  // namespace

struct CurlHttp::Pool {
  Guarded<std::vector<std::unique_ptr<Link>>> idle;

  // The idle link that last served this server, or a new one, or the oldest one if the pool is full.
  std::unique_ptr<Link> take(const std::string& server) {
    std::unique_ptr<Link> link = idle.with_lock([&](auto& links) -> std::unique_ptr<Link> {
      if (links.empty()) return nullptr;
      auto found = std::ranges::find(links, server, [](const auto& l) { return l->server; });
      if (found == links.end()) {
        if (links.size() < idle_links) return nullptr;
        found = links.begin();
      }
      std::unique_ptr<Link> taken = std::move(*found);
      links.erase(found);
      return taken;
    });
    if (!link) link = std::make_unique<Link>();
    link->server = server;
    return link;
  }

  void give_back(std::unique_ptr<Link> link) {
    curl().easy_reset(link->easy);
    idle.with_lock([&](auto& links) {
      if (links.size() < idle_links) links.push_back(std::move(link));
    });
  }
};

CurlHttp::CurlHttp() : pool_(std::make_unique<Pool>()) {}

CurlHttp::~CurlHttp() = default;

namespace {

// Runs the transfer until it ends. returns: curl's result; nullopt after a stop request or an idle timeout
std::optional<CURLcode> drive(Link& link, Transfer& transfer, const std::stop_token& stop, int poll_ms) {
  for (;;) {
    int running = 0;
    CHECK(curl().multi_perform(link.multi, &running) == CURLM_OK);
    int left = 0;
    if (CURLMsg* message = curl().multi_info_read(link.multi, &left)) return message->data.result;
    if (stop.stop_requested() || transfer.is_idle_too_long()) return std::nullopt;
    CHECK(curl().multi_poll(link.multi, nullptr, 0, poll_ms, nullptr) == CURLM_OK);
  }
}

}  // namespace

Result<Answer> CurlHttp::send(const Request& request, std::stop_token stop, const Sink& sink) {
  const std::string server = authority(request.url);
  const Error stopped = error(Code::cancelled, "{}: stopped before the response arrived", server);
  if (stop.stop_requested()) return stopped;
  TRY(load_curl().context(server));
  std::unique_ptr<Link> link = pool_->take(server);
  Transfer transfer(request, sink, link->easy);
  TRY(transfer.prepare());

  std::optional<CURLcode> code;
  CHECK(curl().multi_add_handle(link->multi, link->easy) == CURLM_OK);
  {
    std::stop_callback wake(stop, [multi = link->multi] { curl().multi_wakeup(multi); });
    const Milliseconds::rep idle_ms = request.idle_limit.count();
    const auto poll_ms = idle_ms == 0 ? longest_poll_ms : std::clamp<Milliseconds::rep>(idle_ms / 4, 1, longest_poll_ms);
    code = drive(*link, transfer, stop, static_cast<int>(poll_ms));
  }
  curl().multi_remove_handle(link->multi, link->easy);
  Result<Answer> answer =
      !code && stop.stop_requested() ? Result<Answer>(stopped)
      : !code ? error(Code::unavailable, "{}: no data sent or received for {}", server, human_duration(request.idle_limit))
              : transfer.finish(*code);
  pool_->give_back(std::move(link));
  return answer;
}

}  // namespace slipway::net
