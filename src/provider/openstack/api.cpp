#include "provider/openstack/api.h"

#include "base/number.h"
#include "base/text.h"
#include "provider/call_event.h"
#include "sys/fd.h"
#include "sys/wait_for.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider::openstack {

namespace {

constexpr Milliseconds repeated_for(120'000);
constexpr Milliseconds first_pause(200);
constexpr Milliseconds longest_pause(10'000);
constexpr Milliseconds answer_limit(120'000);
constexpr Milliseconds upload_limit(900'000);  // Glance may copy an image to its store before it answers
constexpr std::uint64_t largest_answer = 64u << 20;
constexpr Seconds renewed_before_end(60);
constexpr int status_expired = 401;

bool contains(const std::vector<Failure>& list, Failure failure) { return std::ranges::find(list, failure) != list.end(); }

std::string request_id(const net::Answer& answer) {
  for (const std::string_view name : {"x-openstack-request-id", "x-compute-request-id", "x-trans-id"}) {
    if (const auto id = answer.header(name)) return std::string(*id);
  }
  return "";
}

// Reads a file from its beginning. The descriptor lives as long as the reader.
Result<> add_file(net::Request& request, const std::string& path) {
  auto file = std::make_shared<sys::Fd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!file->is_open() || ::fstat(file->get(), &about) != 0) return sys::system_error("reading " + path);
  request.body_size = static_cast<std::uint64_t>(about.st_size);
  request.body_reader = [file, path](char* buffer, std::size_t size) -> Result<std::size_t> {
    const ssize_t got = ::read(file->get(), buffer, size);
    if (got < 0) return sys::system_error("reading " + path);
    return static_cast<std::size_t>(got);
  };
  return Ok{};
}

}  // namespace

struct Api::Attempt {
  std::optional<Reply> reply{};
  std::optional<ServiceError> failure{};
  std::optional<Error> lost{};  // no answer
  std::string request_id{};
  Milliseconds pause{0};  // that the service asks for
};

Api::Api(const net::Environment& environment, Login login) : environment_(environment), login_(std::move(login)) {}

Result<Api::Attempt> Api::exchange(const sys::Context& context, net::Request request) {
  request.tls = login_.tls;
  request.answer_limit = largest_answer;
  Attempt made;
  Result<net::Answer> sent = environment_.http.send(request, context.stop);
  if (!sent.ok()) {
    const Code code = sent.error().code();
    if (code != Code::unavailable && code != Code::timeout) return std::move(sent).error();
    made.lost = std::move(sent).error();
    return made;
  }
  net::Answer& answer = sent.value();
  made.request_id = request_id(answer);
  if (answer.status >= 300) {
    made.failure = read_error(answer.status, answer.body);
    made.failure->request_id = made.request_id;
    if (const auto after = answer.header("retry-after")) {
      made.pause = std::min(longest_pause, Milliseconds(Seconds(parse_number<int>(*after).value_or(0))));
    }
    return made;
  }
  made.reply = Reply{.headers = std::move(answer.headers)};
  if (Result<Json> json = parse_json(answer.body, "answer"); json.ok()) made.reply->json = std::move(json).value();
  return made;
}

Result<Token> Api::fetch_token(const sys::Context& context) {
  const std::string what = fmt::format("Keystone {}", login_.auth_url);
  const SteadyTime begin = context.clock.steady();
  for (Milliseconds next = first_pause;; next = std::min(next * 2, longest_pause)) {
    net::Request request{.method = "POST", .url = {}, .headers = {{"Content-Type", "application/json"}}};
    request.url = TRY(net::parse_url(login_.auth_url + "/auth/tokens").context(login_.source));
    request.body = emit_json(login_body(login_), JsonStyle::compact);
    request.idle_limit = answer_limit;
    Attempt made = TRY(exchange(context, std::move(request)).context(what));
    if (made.reply) return parse_token(made.reply->json, Secret(made.reply->header("x-subject-token")), login_);
    const bool has_time = context.clock.steady() - begin < repeated_for;
    if (made.failure && made.failure->status == status_expired) {
      return error(Code::denied, "{}: refuses the login (check {})", what, login_.source);
    }
    if (made.failure) {
      const Failure failure = classify(*made.failure);
      if ((failure != Failure::throttled && failure != Failure::unanswered) || !has_time) return to_error(*made.failure, what);
    } else if (!has_time) {
      return std::move(*made.lost).context(what);
    }
    TRY(pause(context, next, made.pause, what));
  }
}

Result<std::shared_ptr<const Token>> Api::token(const sys::Context& context, const std::string& refused) {
  std::lock_guard lock(mutex_);
  const bool ends_soon = token_ && login_.can_renew() && token_->expires < context.clock.now() + renewed_before_end;
  if (!token_ || ends_soon || token_->value.reveal() == refused) {
    Token fetched = TRY(fetch_token(context));
    token_ = std::make_shared<const Token>(std::move(fetched));
  }
  return token_;
}

Result<Api::Attempt> Api::try_once(const sys::Context& context, const Call& call, const Token& token) {
  std::string base = call.base;
  if (base.empty()) {
    const auto found = token.endpoints.find(call.service);
    if (found == token.endpoints.end()) {
      return error(Code::not_found, "the catalog of the cloud has no {} endpoint for {}", login_.interface,
                   to_string(call.service));
    }
    base = found->second;
  }
  net::Request request{.method = call.method, .url = {}, .headers = call.headers};
  request.url = TRY(net::parse_url(base + call.target));
  request.idle_limit = call.content_file.empty() ? answer_limit : upload_limit;
  request.sends_once = call.effect == Effect::twice;
  request.headers.push_back({"X-Auth-Token", token.value.reveal()});
  request.headers.push_back({"Accept", "application/json"});
  if (!call.microversion.empty()) {
    request.headers.push_back({"OpenStack-API-Version", "compute " + call.microversion});
    request.headers.push_back({"X-OpenStack-Nova-API-Version", call.microversion});
  }
  if (!call.body.is_null()) {
    request.body = emit_json(call.body, JsonStyle::compact);
    request.headers.push_back({"Content-Type", "application/json"});
  } else if (!call.content_type.empty()) {
    request.headers.push_back({"Content-Type", call.content_type});
    request.body = call.content;
    if (!call.content_file.empty()) TRY(add_file(request, call.content_file));
  }
  return exchange(context, std::move(request));
}

Result<> Api::pause(const sys::Context& context, Milliseconds pause, Milliseconds at_least, std::string_view what) {
  // Calls that were refused together do not come back together.
  const std::string noise = TRY(environment_.random.bytes(1));
  const Milliseconds jitter = pause * static_cast<unsigned char>(noise[0]) / 512;
  if (sys::pause(context, std::max(at_least, pause / 2 + jitter))) return Ok{};
  return error(Code::cancelled, "{}: stopped", what);
}

Result<Reply> Api::send(const sys::Context& context, const Call& call) {
  const std::string name = fmt::format("{} {}", to_string(call.service), call.action);
  const std::string what = fmt::format("{}{}{}", name, call.object.empty() ? "" : " ", call.object);
  const SteadyTime begin = context.clock.steady();
  std::string id;
  int attempts = 0;
  const auto repeat = [&]() -> Result<Reply> {
    std::string refused;
    for (Milliseconds next = first_pause;; next = std::min(next * 2, longest_pause)) {
      const std::shared_ptr<const Token> used = TRY(token(context, refused));
      Attempt made = TRY(try_once(context, call, *used).context(what));
      ++attempts;
      id = made.request_id;
      if (made.reply) return *std::move(made.reply);
      const bool has_time = context.clock.steady() - begin < repeated_for;
      bool is_repeated = call.effect != Effect::twice;
      if (made.failure) {
        const Failure failure = classify(*made.failure);
        if (contains(call.expected, failure)) return Reply{.failure = *std::move(made.failure)};
        if (failure == Failure::expired && refused.empty() && login_.can_renew()) {
          refused = used->value.reveal();
          continue;
        }
        if (failure == Failure::throttled) {
          is_repeated = true;
        } else if (failure != Failure::unanswered) {
          is_repeated = false;
        }
        if (!is_repeated || !has_time) {
          Error failed = to_error(*made.failure, what);
          if (failure != Failure::expired) return failed;
          return Error(failed.code(), fmt::format("{}; they are from {}", failed.message(), login_.source));
        }
      } else if (!is_repeated || !has_time) {
        return std::move(*made.lost).context(what + ": no answer");
      }
      TRY(pause(context, next, made.pause, what));
    }
  };
  Result<Reply> reply = repeat();
  if (call.effect != Effect::none) {
    std::optional<std::string> failure;
    if (!reply.ok()) failure = reply.error().message();
    report_call(context, {.name = name, .object = call.object, .request_id = id, .attempts = attempts, .begin = begin}, failure);
  }
  return reply;
}

Result<JsonArray> Api::list(const sys::Context& context, Call call, std::string_view member) {
  const std::string path = call.target.substr(0, call.target.find('?'));
  const std::string links = fmt::format("{}_links", member);
  JsonArray all;
  for (;;) {
    const Reply reply = TRY(send(context, call));
    const JsonArray& items = find_array(reply.json, {member});
    all.insert(all.end(), items.begin(), items.end());
    // Proxies may change the host in links, so only their query is used.
    std::string next = text_of(reply.json, {"next"});
    for (const Json& link : find_array(reply.json, {links})) {
      if (text_of(link, {"rel"}) == "next") next = text_of(link, {"href"});
    }
    const std::size_t query = next.find('?');
    if (query == std::string::npos || items.empty()) return all;
    call.target = path + next.substr(query);
  }
}

Result<std::string> Api::endpoint(const sys::Context& context, Service service) {
  const std::shared_ptr<const Token> known = TRY(token(context));
  const auto found = known->endpoints.find(service);
  if (found != known->endpoints.end()) return found->second;
  return error(Code::not_found, "the catalog of the cloud has no {} endpoint for {}", login_.interface, to_string(service));
}

Result<bool> Api::has_service(const sys::Context& context, Service service) {
  return TRY(token(context))->endpoints.contains(service);
}

Result<int> Api::nova_minor(const sys::Context& context) {
  {
    std::lock_guard lock(mutex_);
    if (nova_minor_) return *nova_minor_;
  }
  const std::string root = without_project(TRY(endpoint(context, Service::nova)));
  const Reply reply = TRY(send(context, {.service = Service::nova, .action = "GetVersion", .target = "/", .base = root}));
  const std::string newest = text_of(reply.json, {"version", "version"});  // "2.93"
  const std::string_view minor = std::string_view(newest).substr(newest.find('.') + 1);
  std::lock_guard lock(mutex_);
  nova_minor_ = parse_number<int>(minor).value_or(1);
  return *nova_minor_;
}

}  // namespace slipway::provider::openstack
