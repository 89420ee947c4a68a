#include "provider/vsphere/client.h"

#include "base/digest.h"
#include "base/number.h"
#include "provider/call_event.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider::vsphere {

namespace {

constexpr Milliseconds repeated_for(120'000);
constexpr sys::Pace pace{.first = Milliseconds(200), .longest = Milliseconds(10'000)};
constexpr Milliseconds answer_limit(120'000);
constexpr std::uint64_t largest_answer = 64u << 20;
constexpr int objects_at_once = 500;  // of a page of properties
constexpr int longest_wait = 60;      // seconds, of a call that waits for updates
constexpr int watch_attempts = 5;
constexpr Milliseconds logout_limit(3000);
constexpr std::string_view rest_session = "/rest/com/vmware/cis/session";
// The oldest version that has all calls used here.
constexpr std::string_view api_version = "urn:vim25/7.0";

constexpr int status_ok = 200;
constexpr int status_denied = 401;
constexpr int status_forbidden = 403;
constexpr int status_missing = 404;
constexpr int status_too_many = 429;
constexpr int status_unavailable = 503;

bool is_overloaded(int status) { return status == status_too_many || status == status_unavailable; }

// "vmware_soap_session=..." of a header Set-Cookie.
std::string cookie_of(const net::Answer& answer) {
  const auto given = answer.header("set-cookie");
  return given ? std::string(given->substr(0, given->find(';'))) : "";
}

std::string hex(std::string_view bytes) {
  std::string made;
  for (const char c : bytes) made += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return made;
}

// Distinguishes runs in vCenter's logs.
std::string run_id(sys::Random& random) {
  const Result<std::string> bytes = random.bytes(4);
  return bytes.ok() ? hex(bytes.value()) : "0";
}

Services services_of(const Xml& content) {
  const auto reference = [&](std::string_view name) { return reference_of(content.at({name})); };
  return {.root_folder = reference("rootFolder"),
          .property_collector = reference("propertyCollector"),
          .session_manager = reference("sessionManager"),
          .search_index = reference("searchIndex"),
          .ovf_manager = reference("ovfManager"),
          .authorization_manager = reference("authorizationManager"),
          .version = content.text_at({"about", "version"}),
          .instance_id = content.text_at({"about", "instanceUuid"})};
}

const Reference service_instance{"ServiceInstance", "ServiceInstance"};

}  // namespace

struct Vcenter::Attempt {
  std::optional<Response> response{};
  std::optional<Error> lost{};  // no answer, or vCenter is overloaded
  bool was_executed = true;     // perhaps
  std::string cookie{};
};

Vcenter::Vcenter(const net::Environment& environment, Login login, std::string authorities)
    : environment_(environment),
      login_(std::move(login)),
      authorities_(std::move(authorities)),
      run_(run_id(environment.random)) {}

Vcenter::~Vcenter() {
  const auto end_session = [&](net::Request logout) {
    logout.connect_limit = logout_limit;
    logout.whole_limit = logout_limit;
    (void)environment_.http.send(logout, {}).ok();
  };
  if (!rest_token_.empty()) {
    net::Request logout = base_request(std::string(rest_session));
    logout.method = "DELETE";
    logout.headers.push_back({"vmware-api-session-id", rest_token_});
    end_session(std::move(logout));
  }
  if (cookie_.empty() || !services_) return;
  net::Request logout = base_request("/sdk");
  logout.method = "POST";
  logout.headers.push_back({"Cookie", cookie_});
  logout.body = request("Logout", services_->session_manager, "", next_operation());
  end_session(std::move(logout));
}

std::string Vcenter::next_operation() { return fmt::format("slipway-{}-{}", run_, ++operations_); }

net::Request Vcenter::base_request(std::string target) const {
  return {.url = {.scheme = "https", .host = login_.server, .port = login_.port, .target = std::move(target)},
          .tls = {.ca_pem = authorities_},
          .idle_limit = answer_limit,
          .answer_limit = largest_answer};
}

Result<Vcenter::Attempt> Vcenter::try_once(const sys::Context& context, const Call& call, const std::string& cookie) {
  net::Request sent = base_request("/sdk");
  sent.method = "POST";
  sent.headers = {{"Content-Type", "text/xml; charset=utf-8"}, {"SOAPAction", std::string(api_version)}};
  if (!cookie.empty()) sent.headers.push_back({"Cookie", cookie});
  sent.sends_once = call.changes || call.advances;
  {
    std::lock_guard lock(mutex_);
    sent.body = request(call.method, call.self, call.arguments, next_operation());
  }
  Attempt made;
  Result<net::Answer> answer = environment_.http.send(sent, context.stop);
  if (!answer.ok()) {
    const Code code = answer.error().code();
    if (code != Code::unavailable && code != Code::timeout) return std::move(answer).error();
    made.lost = std::move(answer).error();
    return made;
  }
  if (is_overloaded(answer->status)) {
    made.was_executed = false;
    made.lost = error(Code::unavailable, "{}: status {}, the server is overloaded", login_.server, answer->status);
    return made;
  }
  made.cookie = cookie_of(answer.value());
  // Faults have the status 500.
  Result<Response> response = parse_response(answer->body);
  if (response.ok()) {
    made.response = std::move(response).value();
  } else {
    made.lost =
        error(Code::unavailable, "{}: status {}: the answer {}", login_.server, answer->status, response.error().message());
  }
  return made;
}

// The cookie of a session. A session other than `failed` is used as it is.
Result<std::string> Vcenter::cookie(const sys::Context& context, const std::string& failed) {
  {
    std::lock_guard lock(mutex_);
    if (!cookie_.empty() && cookie_ != failed) return cookie_;
  }
  const Reference session_manager = TRY(services(context)).session_manager;
  std::lock_guard lock(login_mutex_);
  {
    std::lock_guard state(mutex_);
    if (!cookie_.empty() && cookie_ != failed) return cookie_;  // another thread has logged in meanwhile
  }
  const Call call{.method = "Login",
                  .self = session_manager,
                  .arguments = element("userName", login_.user) + element("password", login_.password.reveal())};
  std::string key;
  const auto attempt = [&]() -> Result<std::string> {
    Attempt made = TRY(try_once(context, call, ""));
    if (made.lost) return *std::move(made.lost);
    if (made.response->fault) return to_error(*made.response->fault, fmt::format("{}: login of {}", login_.server, login_.user));
    if (made.cookie.empty()) return error(Code::invalid, "{}: the answer to the login has no cookie", login_.server);
    key = made.response->content.text_at({"returnval", "key"});
    return made.cookie;
  };
  std::string fresh = TRY(sys::retry<std::string>(context, watch_attempts, pace, attempt));
  std::lock_guard state(mutex_);
  cookie_ = fresh;
  session_key_ = key;
  return fresh;
}

Result<std::string> Vcenter::session_key(const sys::Context& context) {
  TRY(cookie(context, ""));
  std::lock_guard lock(mutex_);
  return session_key_;
}

Result<Services> Vcenter::services(const sys::Context& context) {
  {
    std::lock_guard lock(mutex_);
    if (services_) return *services_;
  }
  const Call call{.method = "RetrieveServiceContent", .self = service_instance};
  const auto attempt = [&]() -> Result<Services> {
    Attempt made = TRY(try_once(context, call, ""));
    if (made.lost) return *std::move(made.lost);
    if (made.response->fault) return to_error(*made.response->fault, fmt::format("{}: {}", login_.server, call.method));
    return services_of(made.response->content.at({"returnval"}));
  };
  Services found = TRY(sys::retry<Services>(context, watch_attempts, pace, attempt));
  if (found.session_manager.id.empty()) return error(Code::invalid, "{}: is not a vCenter", login_.server);
  std::lock_guard lock(mutex_);
  services_ = found;
  return found;
}

void Vcenter::report(const sys::Context& context, std::string_view name, std::string_view object, int attempts, SteadyTime begin,
                     const std::optional<std::string>& failure) {
  report_call(context, {.name = name, .object = object, .request_id = run_, .attempts = attempts, .begin = begin}, failure);
}

// The answer, which may be a fault.
Result<Response> Vcenter::exchange(const sys::Context& context, const Call& call) {
  const std::string what = fmt::format("{}{}{}", call.method, call.object.empty() ? "" : " ", call.object);
  const SteadyTime begin = context.clock.steady();
  int attempts = 0;
  const auto repeat = [&]() -> Result<Response> {
    std::string failed;
    bool has_renewed = false;
    for (Milliseconds pause = pace.first;; pause = std::min(pause * 2, pace.longest)) {
      const std::string session = TRY(cookie(context, failed));
      ++attempts;
      Attempt made = TRY(try_once(context, call, session).context(what));
      if (made.response) {
        const bool has_expired = made.response->fault && classify(*made.response->fault) == Failure::expired;
        if (!has_expired || has_renewed) return *std::move(made.response);
        failed = session;
        has_renewed = true;
        continue;
      }
      const bool is_safe = (!call.changes && !call.advances) || !made.was_executed;
      if (!is_safe || context.clock.steady() - begin >= repeated_for) return (*std::move(made.lost)).context(what);
      if (!sys::pause(context, pause)) return error(Code::cancelled, "{}: stopped", what);
    }
  };
  Result<Response> response = repeat();
  if (call.changes) {
    std::optional<std::string> failure;
    if (!response.ok()) failure = response.error().message();
    if (response.ok() && response->fault) failure = to_error(*response->fault, what).message();
    report(context, call.method, call.object, attempts, begin, failure);
  }
  return response;
}

Result<Xml> Vcenter::send(const sys::Context& context, const Call& call) {
  Response response = TRY(exchange(context, call));
  if (!response.fault) return std::move(response.content);
  return to_error(*response.fault, fmt::format("{}{}{}", call.method, call.object.empty() ? "" : " ", call.object));
}

Result<std::optional<Xml>> Vcenter::send_unless(const sys::Context& context, const Call& call, Failure expected) {
  Response response = TRY(exchange(context, call));
  if (!response.fault) return std::optional(std::move(response.content));
  if (classify(*response.fault) == expected) return std::optional<Xml>();
  return to_error(*response.fault, fmt::format("{} {}", call.method, call.object));
}

Result<Xml> Vcenter::run(const sys::Context& context, const Call& call) {
  const Xml started = TRY(send(context, call));
  const Reference task = reference_of(started.at({"returnval"}));
  if (task.id.empty()) return error(Code::internal, "{} {}: the answer names no task", call.method, call.object);
  Xml result;
  std::optional<Fault> fault;
  const Properties wanted{"Task", {"info.state", "info.error", "info.result"}};
  TRY(watch(context, {task}, wanted, [&](const Object& info) -> Result<bool> {
        const std::string& state = info.text("info.state");
        if (state == "error") fault = fault_of(info.at("info.error"));
        if (state == "success") result = info.at("info.result");
        return state != "error" && state != "success";
      }).context(fmt::format("{} {}: waiting for the task", call.method, call.object)));
  if (fault) return to_error(*fault, fmt::format("{} {}", call.method, call.object));
  return result;
}

Result<std::optional<Reference>> Vcenter::find(const sys::Context& context, const std::string& path) {
  const Services known = TRY(services(context));
  const std::string_view relative = std::string_view(path).substr(path.starts_with('/') ? 1 : 0);
  const Xml answer = TRY(send(
      context, {.method = "FindByInventoryPath", .self = known.search_index, .arguments = element("inventoryPath", relative)}));
  Reference found = reference_of(answer.at({"returnval"}));
  if (found.id.empty()) return std::optional<Reference>();
  return std::optional(std::move(found));
}

Result<std::vector<Object>> Vcenter::all(const sys::Context& context, const std::vector<Properties>& wanted) {
  const Services known = TRY(services(context));
  std::vector<Object> found;
  Call call{.method = "RetrievePropertiesEx",
            .self = known.property_collector,
            .arguments = filter_below("specSet", known.root_folder, wanted) +
                         element_of("options", element("maxObjects", std::to_string(objects_at_once)))};
  for (;;) {
    const Xml answer = TRY(send(context, call));
    Page page = page_of(answer.at({"returnval"}));
    std::ranges::move(page.objects, std::back_inserter(found));
    if (page.token.empty()) return found;
    call = {
        .method = "ContinueRetrievePropertiesEx", .self = known.property_collector, .arguments = element("token", page.token)};
  }
}

Result<Object> Vcenter::read(const sys::Context& context, const Reference& object, std::vector<std::string> paths) {
  const Services known = TRY(services(context));
  const Properties wanted{object.type, std::move(paths)};
  const Xml answer = TRY(send(context, {.method = "RetrievePropertiesEx",
                                        .self = known.property_collector,
                                        .arguments = filter_of("specSet", {object}, wanted) + element_of("options", "")}));
  Page page = page_of(answer.at({"returnval"}));
  if (page.objects.empty()) return error(Code::not_found, "{} {}: does not exist", object.type, object.id);
  return std::move(page.objects.front());
}

Result<> Vcenter::watch(const sys::Context& context, const std::vector<Reference>& objects, const Properties& wanted,
                        const std::function<Result<bool>(const Object&)>& look) {
  const Services known = TRY(services(context));
  std::map<Reference, Object> seen;
  // Collectors belong to a session: one that has ended takes them along, so the whole wait is repeated. So it is after a lost
  // answer: what had changed in it would not be told again.
  const auto attempt = [&]() -> Result<Ok> {
    seen.clear();
    const Xml made = TRY(send(context, {.method = "CreatePropertyCollector", .self = known.property_collector}));
    const Reference collector = reference_of(made.at({"returnval"}));
    const auto wait = [&]() -> Result<> {
      TRY(send(context, {.method = "CreateFilter",
                         .self = collector,
                         .arguments = filter_of("spec", objects, wanted) + element("partialUpdates", "false")}));
      std::string version;
      for (;;) {
        const Xml answer =
            TRY(send(context, {.method = "WaitForUpdatesEx",
                               .self = collector,
                               .arguments = element("version", version) +
                                            element_of("options", element("maxWaitSeconds", std::to_string(longest_wait))),
                               .advances = true}));
        Updates updates = updates_of(answer.at({"returnval"}));
        if (!updates.version.empty()) version = updates.version;
        if (!updates.removed.empty() && objects.size() == 1) {
          return error(Code::not_found, "{} {}: does not exist any more", objects.front().type, objects.front().id);
        }
        for (Object& changed : updates.changed) {
          Object& known_object = seen[changed.self];
          known_object.self = changed.self;
          for (auto& [path, value] : changed.properties) known_object.properties.insert_or_assign(path, std::move(value));
          if (!TRY(look(known_object))) return Ok{};
        }
      }
    };
    Result<> waited = wait();
    (void)send(context, {.method = "DestroyPropertyCollector", .self = collector}).ok();
    if (waited.ok() || waited.error().code() != Code::not_found) return waited;
    // Either the collector or the object is gone.
    if (objects.size() == 1 && !read(context, objects.front(), wanted.paths).ok()) return waited;
    return error(Code::unavailable, "{}", waited.error().message());
  };
  return sys::retry<Ok>(context, watch_attempts, pace, attempt);
}

Result<std::string> Vcenter::rest_token(const sys::Context& context, const std::string& failed) {
  std::lock_guard lock(login_mutex_);
  {
    std::lock_guard state(mutex_);
    if (!rest_token_.empty() && rest_token_ != failed) return rest_token_;
  }
  net::Request login = base_request(std::string(rest_session));
  login.method = "POST";
  login.authorization = Secret("Basic " + base64_encode(fmt::format("{}:{}", login_.user, login_.password.reveal())));
  const auto attempt = [&]() -> Result<std::string> {
    const net::Answer answer = TRY(environment_.http.send(login, context.stop));
    if (answer.status == status_denied) {
      return error(Code::denied, "{}: login of {}: refused (check user and password in platform.vsphere.vcenters)", login_.server,
                   login_.user);
    }
    if (answer.status != status_ok) return error(Code::unavailable, "{}: REST login: status {}", login_.server, answer.status);
    const Json body = TRY(parse_json(answer.body, "the answer to the login"));
    return require_string(body, {"value"});
  };
  std::string fresh = TRY(sys::retry<std::string>(context, watch_attempts, pace, attempt));
  std::lock_guard state(mutex_);
  rest_token_ = fresh;
  return fresh;
}

Result<Json> Vcenter::rest(const sys::Context& context, std::string_view method, const std::string& path, const Json& body,
                           std::string_view object) {
  const std::string what = fmt::format("{} {}{}{}", method, path.substr(0, path.find("/id:")), object.empty() ? "" : " ", object);
  const bool reads = method == "GET" || path.find("action=list") != std::string::npos;
  const SteadyTime begin = context.clock.steady();
  int attempts = 0;
  const auto repeat = [&]() -> Result<Json> {
    std::string failed;
    for (Milliseconds pause = pace.first;; pause = std::min(pause * 2, pace.longest)) {
      const std::string token = TRY(rest_token(context, failed));
      net::Request sent = base_request("/rest" + path);
      sent.method = method;
      sent.headers = {{"vmware-api-session-id", token}, {"Content-Type", "application/json"}};
      if (!body.is_null()) sent.body = emit_json(body, JsonStyle::compact);
      sent.sends_once = !reads;
      ++attempts;
      Result<net::Answer> answer = environment_.http.send(sent, context.stop);
      const bool has_time = context.clock.steady() - begin < repeated_for;
      if (answer.ok() && answer->status == status_denied && failed.empty()) {
        failed = token;
        continue;
      }
      if (answer.ok() && !is_overloaded(answer->status)) {
        if (answer->status == status_ok || answer->status == 201 || answer->status == 204) {
          if (answer->body.empty()) return Json(nullptr);
          return parse_json(answer->body, what);
        }
        const Result<Json> said = parse_json(answer->body, what);
        const std::string type = said.ok() ? text_of(said.value(), {"type"}) : "";
        if (answer->status == status_missing) return error(Code::not_found, "{}: does not exist", what);
        if (type.ends_with("already_exists")) return error(Code::conflict, "{}: exists", what);
        if (answer->status == status_denied || answer->status == status_forbidden) {
          return error(Code::denied, "{}: status {} {} (a privilege for tags is missing)", what, answer->status, type);
        }
        const Code code = answer->status >= 500 ? Code::unavailable : Code::invalid;
        return error(code, "{}: status {} {}", what, answer->status, type);
      }
      const bool is_safe = reads || answer.ok();
      if (!answer.ok() && answer.error().code() != Code::unavailable && answer.error().code() != Code::timeout) {
        return std::move(answer).error().context(what);
      }
      if (!is_safe || !has_time) {
        if (!answer.ok()) return std::move(answer).error().context(what);
        return error(Code::unavailable, "{}: status {}, the server is overloaded", what, answer->status);
      }
      if (!sys::pause(context, pause)) return error(Code::cancelled, "{}: stopped", what);
    }
  };
  Result<Json> result = repeat();
  if (!reads) {
    report(context, fmt::format("{} {}", method, path.substr(0, path.find("/id:"))), object, attempts, begin,
           result.ok() ? std::optional<std::string>() : result.error().message());
  }
  return result;
}

Result<> Vcenter::upload(const sys::Context& context, std::string url, std::uint64_t size,
                         const std::function<Result<std::size_t>(char* buffer, std::size_t size)>& reader,
                         std::string_view object) {
  const SteadyTime begin = context.clock.steady();
  if (const std::size_t star = url.find("//*"); star != std::string::npos) {
    url.replace(star + 2, 1, net::authority({.scheme = "https", .host = login_.server, .port = login_.port, .target = "/"}));
  }
  net::Request sent = base_request("/");
  sent.url = TRY(net::parse_url(url).context("the address for the upload"));
  sent.method = "POST";
  sent.headers = {{"Content-Type", "application/x-vnd.vmware-streamVmdk"}, {"Overwrite", "t"}};
  sent.body_reader = reader;
  sent.body_size = size;
  const Result<net::Answer> answer = environment_.http.send(sent, context.stop);
  Result<> outcome = Ok{};
  if (!answer.ok()) {
    outcome = Error(answer.error().code(), fmt::format("upload of {}: {}", object, answer.error().message()));
  } else if (answer->status >= 300) {
    outcome = error(answer->status >= 500 || is_overloaded(answer->status) ? Code::unavailable : Code::invalid,
                    "upload of {}: {}: status {}", object, net::authority(sent.url), answer->status);
  }
  report(context, "upload", object, 1, begin, outcome.ok() ? std::optional<std::string>() : outcome.error().message());
  return outcome;
}

}  // namespace slipway::provider::vsphere
