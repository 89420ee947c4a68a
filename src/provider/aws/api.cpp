#include "provider/aws/api.h"

#include "base/number.h"
#include "base/text.h"
#include "provider/call_event.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

constexpr Milliseconds repeated_for(120'000);
constexpr Milliseconds first_pause(200);
constexpr Milliseconds longest_pause(10'000);
constexpr std::uint64_t largest_answer = 16u << 20;
constexpr Milliseconds answer_limit(60'000);

// The versions of the services with actions.
std::string_view version_of(Service service) {
  switch (service) {
    case Service::ec2: return "2016-11-15";
    case Service::elb: return "2015-12-01";
    case Service::iam: return "2010-05-08";
    case Service::sts: return "2011-06-15";
    case Service::ebs:
    case Service::route53:
    case Service::s3:
    case Service::quotas: break;
  }
  return "";
}

bool contains(const std::vector<Failure>& list, Failure failure) { return std::ranges::find(list, failure) != list.end(); }

// Error documents: Response/Errors/Error (EC2), ErrorResponse/Error (ELB, IAM, Route 53, STS), Error (S3), and JSON.
ServiceError error_of(const net::Answer& answer) {
  ServiceError failed{.status = answer.status};
  for (const std::string_view name : {"x-amzn-requestid", "x-amz-request-id"}) {
    if (const auto id = answer.header(name)) failed.request_id = *id;
  }
  if (const Result<Json> json = parse_json(answer.body, "answer"); json.ok()) {
    const std::string type = text_of(json.value(), {"__type"});
    failed.code = type.substr(type.rfind('#') + 1);
    if (const auto header = answer.header("x-amzn-errortype"); header && type.empty()) {
      failed.code = header->substr(0, header->find(':'));
    }
    failed.message = text_of(json.value(), {"message"});
    if (failed.message.empty()) failed.message = text_of(json.value(), {"Message"});
    return failed;
  }
  const Result<Xml> parsed = parse_xml(answer.body);
  if (!parsed.ok()) return failed;
  const Xml& root = parsed.value();
  const Xml* found = &root;
  if (root.has("Errors")) found = &root.at({"Errors", "Error"});
  if (root.has("Error")) found = &root.at({"Error"});
  failed.code = found->text_at({"Code"});
  failed.message = found->text_at({"Message"});
  for (const std::string_view name : {"RequestID", "RequestId"}) {
    if (const std::string& id = root.text_at({name}); !id.empty()) failed.request_id = id;
  }
  return failed;
}

std::string request_id(const net::Answer& answer, const Xml& xml) {
  for (const std::string_view name : {"x-amzn-requestid", "x-amz-request-id"}) {
    if (const auto id = answer.header(name)) return std::string(*id);
  }
  const std::string& of_ec2 = xml.text_at({"requestId"});
  return of_ec2.empty() ? xml.text_at({"ResponseMetadata", "RequestId"}) : of_ec2;
}

}  // namespace

std::string to_form(const Parameters& parameters) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters) {
    parts.push_back(fmt::format("{}={}", net::percent_encode(name), net::percent_encode(value)));
  }
  return join(parts, "&");
}

struct Api::Attempt {
  std::optional<Reply> reply{};
  std::optional<ServiceError> failure{};
  std::optional<Error> lost{};  // no answer
  std::string request_id{};
  Milliseconds pause{0};  // that the service asks for
};

Api::Api(const net::Environment& environment, ApiSettings settings, Variables variables)
    : environment_(environment),
      settings_(std::move(settings)),
      variables_(std::move(variables)),
      credentials_(environment_, variables_, [this](const AssumedRole& role) { return assume(role); }) {
  if (settings_.role.empty()) return;
  of_role_.emplace(environment_, [this]() -> Result<Credentials> {
    Credentials base = TRY(credentials_.get());
    return assume({.arn = settings_.role, .session = "slipway", .external_id = {}, .token_file = {}, .base = std::move(base)});
  });
}

Result<std::string> Api::region() {
  if (!settings_.region.empty()) return settings_.region;
  std::string found = TRY(find_credentials(environment_.files, variables_)).region;
  if (!found.empty()) return found;
  return error(Code::invalid, "platform.aws.region: missing (or set AWS_REGION)");
}

Result<net::Request> Api::request_of(const Call& call, const Endpoint& endpoint) const {
  net::Request request{.method = call.method.empty() ? "POST" : call.method,
                       .url = endpoint.url,
                       .headers = call.headers,
                       .body = call.body,
                       .tls = {.ca_file = variables_("AWS_CA_BUNDLE")},
                       .idle_limit = answer_limit,
                       .answer_limit = largest_answer};
  if (!call.method.empty()) {
    request.url.target = call.target;
    if (!call.content_type.empty()) request.headers.push_back({"Content-Type", call.content_type});
    return request;
  }
  Parameters parameters = {{"Action", call.action}, {"Version", std::string(version_of(call.service))}};
  std::ranges::copy(call.parameters, std::back_inserter(parameters));
  request.body = to_form(parameters);
  request.headers.push_back({"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"});
  return request;
}

Result<Api::Attempt> Api::try_once(const sys::Context& context, const Call& call, const Credentials* credentials) {
  const Endpoint endpoint = TRY(endpoint_of(call.service, TRY(region()), settings_.endpoints, variables_));
  net::Request request = TRY(request_of(call, endpoint));
  if (credentials) sign(request, *credentials, endpoint.scope, context.clock.now());
  Attempt made;
  Result<net::Answer> sent = environment_.http.send(request, context.stop);
  if (!sent.ok()) {
    const Code code = sent.error().code();
    if (code != Code::unavailable && code != Code::timeout) return std::move(sent).error();
    made.lost = std::move(sent).error();
    return made;
  }
  net::Answer& answer = sent.value();
  if (answer.status >= 300) {
    made.failure = error_of(answer);
    made.request_id = made.failure->request_id;
    if (const auto after = answer.header("retry-after")) {
      made.pause = std::min(longest_pause, Milliseconds(Seconds(parse_number<int>(*after).value_or(0))));
    }
    return made;
  }
  Result<Xml> xml = parse_xml(answer.body);
  made.reply = Reply{.xml = xml.ok() ? std::move(xml).value() : Xml(), .headers = std::move(answer.headers)};
  answer.headers.clear();
  made.request_id = request_id(net::Answer{answer.status, made.reply->headers, {}}, made.reply->xml);
  made.reply->body = std::move(answer.body);
  return made;
}

Result<Reply> Api::send(const sys::Context& context, const Call& call) {
  const std::string what =
      fmt::format("{} {}{}{}", to_string(call.service), call.action, call.object.empty() ? "" : " ", call.object);
  const SteadyTime begin = context.clock.steady();
  std::string id;
  int attempts = 0;
  const auto repeat = [&]() -> Result<Reply> {
    bool has_renewed = false;
    for (Milliseconds pause = first_pause;; pause = std::min(pause * 2, longest_pause)) {
      const Credentials credentials = TRY(this->credentials().get());
      Attempt made = TRY(try_once(context, call, &credentials).context(what));
      ++attempts;
      id = made.request_id;
      if (made.reply) return *std::move(made.reply);
      const bool has_time = context.clock.steady() - begin < repeated_for;
      bool is_repeated = call.effect != Effect::twice;
      if (made.failure) {
        const Failure failure = classify(*made.failure);
        const bool is_waited_for = contains(call.waits_for, failure);
        // An object that was just created may also be missing where the call expects that it may not exist.
        if (contains(call.expected, failure) && !is_waited_for) return Reply{.failure = *std::move(made.failure)};
        if (failure == Failure::expired && !has_renewed && this->credentials().renew()) {
          has_renewed = true;
          continue;
        }
        if (failure == Failure::throttled || is_waited_for) {
          is_repeated = true;
        } else if (failure != Failure::unanswered) {
          is_repeated = false;
        }
        if (!is_repeated || !has_time) {
          Error failed = to_error(*made.failure, what);
          if (failure != Failure::expired) return failed;
          return Error(failed.code(), fmt::format("{}; they are from {}", failed.message(), credentials.source));
        }
      } else if (!is_repeated || !has_time) {
        return std::move(*made.lost).context(what + ": no answer");
      }
      // Calls that were throttled together do not come back together.
      const std::string noise = TRY(environment_.random.bytes(1));
      const Milliseconds jitter = pause * static_cast<unsigned char>(noise[0]) / 512;
      if (!sys::pause(context, std::max(made.pause, pause / 2 + jitter))) return error(Code::cancelled, "{}: stopped", what);
    }
  };
  Result<Reply> reply = repeat();
  if (call.effect != Effect::none && !call.is_part) {
    const std::string name = fmt::format("{} {}", to_string(call.service), call.action);
    std::optional<std::string> failure;
    if (!reply.ok()) failure = reply.error().message();
    report_call(context, {.name = name, .object = call.object, .request_id = id, .attempts = attempts, .begin = begin}, failure);
  }
  return reply;
}

Result<std::vector<Xml>> Api::pages(const sys::Context& context, Call call) {
  const Parameters first = call.parameters;
  std::vector<Xml> all;
  for (;;) {
    Reply reply = TRY(send(context, call));
    std::string next, parameter;
    // Each service names the token that its answers have and its requests need in its own way.
    const Xml& root = reply.xml;
    const Xml& result = root.children.empty() ? root : root.children.front();
    for (const auto& [found, name] : {std::pair{&root.text_at({"nextToken"}), "NextToken"},
                                      {&root.text_at({"NextMarker"}), "marker"},
                                      {&result.text_at({"NextMarker"}), "Marker"},
                                      {&result.text_at({"Marker"}), "Marker"}}) {
      if (!found->empty() && next.empty()) {
        next = *found;
        parameter = name;
      }
    }
    all.push_back(std::move(reply.xml));
    if (next.empty()) return all;
    if (call.method.empty()) {
      call.parameters = first;
      call.parameters.emplace_back(parameter, next);
    } else {
      call.target = fmt::format("{}?{}={}", call.target.substr(0, call.target.find('?')), parameter, net::percent_encode(next));
    }
  }
}

Result<std::string> Api::presigned(const std::string& target, WallTime now, Seconds lifetime) {
  Endpoint endpoint = TRY(endpoint_of(Service::s3, TRY(region()), settings_.endpoints, variables_));
  endpoint.url.target = target;
  const Credentials credentials = TRY(this->credentials().get());
  return presigned_url(endpoint.url, credentials, endpoint.scope, now, lifetime);
}

// Called by credentials_, so it must not ask credentials_.
Result<Credentials> Api::assume(const AssumedRole& role) {
  Call call{.service = Service::sts,
            .action = role.token_file.empty() ? "AssumeRole" : "AssumeRoleWithWebIdentity",
            .object = role.arn,
            .parameters = {{"RoleArn", role.arn}, {"RoleSessionName", role.session}}};
  if (!role.external_id.empty()) call.parameters.emplace_back("ExternalId", role.external_id);
  if (!role.token_file.empty()) {
    const std::string token = TRY(environment_.files.read(role.token_file).context("AWS_WEB_IDENTITY_TOKEN_FILE"));
    call.parameters.emplace_back("WebIdentityToken", trim(token));
  }
  const Credentials* signer = role.token_file.empty() ? &role.base : nullptr;
  const Attempt made = TRY(sys::retry<Attempt>(environment_.context, 4, {}, [&]() -> Result<Attempt> {
    Attempt attempt = TRY(try_once(environment_.context, call, signer));
    if (attempt.lost) return *std::move(attempt.lost);
    if (attempt.failure) return to_error(*attempt.failure, fmt::format("STS {} {}", call.action, role.arn));
    return attempt;
  }));
  const Xml& found = made.reply->xml.at({call.action + "Result", "Credentials"});
  Credentials credentials{.access_key = found.text_at({"AccessKeyId"}),
                          .secret_key = Secret(found.text_at({"SecretAccessKey"})),
                          .session_token = Secret(found.text_at({"SessionToken"})),
                          .source = fmt::format("role {}", role.arn)};
  if (credentials.access_key.empty() || credentials.secret_key.empty()) {
    return error(Code::denied, "STS {} {}: the answer has no credentials", call.action, role.arn);
  }
  credentials.expires = TRY(parse_rfc3339(found.text_at({"Expiration"})));
  return credentials;
}

}  // namespace slipway::provider::aws
