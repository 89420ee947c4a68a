#include "agent/service_client.h"

#include "agent/backoff.h"
#include "assist/service_requests.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <limits>

namespace slipway::agent {

namespace {

Result<net::Answer> until_answered(const sys::Context& context, const std::function<Result<net::Answer>()>& attempt) {
  return sys::retry<net::Answer>(context, std::numeric_limits<int>::max(), service_pace, [&]() -> Result<net::Answer> {
    Result<net::Answer> answer = attempt();
    if (answer.ok() || answer.error().code() != Code::denied) return answer;
    return Error(Code::unavailable, answer.error().message());
  });
}

}  // namespace

bool is_id_in_use(const net::Answer& answer) {
  const Result<Json> body = parse_json(answer.body, "answer");
  return answer.status == 409 && body.ok() && text_of(body.value(), {"cause"}) == "host-id-in-use";
}

ServiceClient::ServiceClient(const net::Environment& environment, ServiceOptions options, Identity identity)
    : environment_(environment), options_(std::move(options)), credentials_({std::move(identity), options_.token}) {}

Identity ServiceClient::identity() const {
  return credentials_.with_lock([](const Credentials& own) { return own.identity; });
}

void ServiceClient::set_identity(Identity identity) {
  credentials_.with_lock([&](Credentials& own) { own.identity = std::move(identity); });
}

void ServiceClient::set_token(Secret token) {
  credentials_.with_lock([&](Credentials& own) { own.token = std::move(token); });
}

std::string ServiceClient::host_path() const {
  return fmt::format("/v2/infra-envs/{}/hosts/{}", options_.infra_env_id, identity().host_id);
}

Result<net::Answer> ServiceClient::send(const sys::Context& context, const std::string& method, const std::string& path,
                                        std::string body, std::vector<net::Header> headers) const {
  const Credentials own = credentials_.with_lock([](const Credentials& all) { return all; });
  net::Url url = TRY(net::parse_url(fmt::format("{}{}{}", options_.url, assist::service_path, path)));
  const std::string signature = TRY(sign_request(own.identity.key, method, url.target, body));
  net::Request request{.method = method, .url = std::move(url), .headers = std::move(headers)};
  if (!own.token.empty()) request.headers.push_back({"X-Secret-Key", own.token.reveal()});
  request.headers.push_back({"X-Host-Signature", signature});
  request.body = std::move(body);
  request.tls.ca_file = options_.ca_file;
  return environment_.http.send(request, context.stop);
}

Result<net::Answer> ServiceClient::send_json(const sys::Context& context, const std::string& method, const std::string& path,
                                             const Json& body) const {
  net::Answer answer =
      TRY(send(context, method, path, emit_json(body, JsonStyle::compact), {{"Content-Type", "application/json"}}));
  if (answer.status / 100 != 2) return assist::refusal(answer);
  return answer;
}

Result<net::Answer> ServiceClient::deliver(const sys::Context& context, const std::string& method, const std::string& path,
                                           const Json& body) const {
  return until_answered(context, [&] { return send_json(context, method, path, body); });
}

Result<net::Answer> ServiceClient::fetch(const sys::Context& context, const std::string& path) const {
  return until_answered(context, [&]() -> Result<net::Answer> {
    net::Answer answer = TRY(send(context, "GET", path));
    if (answer.status != 200) return assist::refusal(answer);
    return answer;
  });
}

}  // namespace slipway::agent
