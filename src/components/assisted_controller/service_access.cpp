#include "components/assisted_controller/service_access.h"

#include "assist/service_requests.h"
#include "net/url.h"
#include "sys/random.h"

#include <fmt/core.h>

namespace slipway::components::assisted_controller {

Result<net::Answer> ServiceAccess::request(const std::string& method, const std::string& path, std::string body,
                                           const std::string& content_type) const {
  net::Url url = TRY(net::parse_url(fmt::format("{}{}{}", options_.url, assist::service_path, path)));
  net::Request request{.method = method, .url = std::move(url)};
  if (!options_.token.empty()) request.headers.push_back({"X-Secret-Key", options_.token.reveal()});
  if (!body.empty()) request.headers.push_back({"Content-Type", content_type});
  request.body = std::move(body);
  request.tls.ca_file = options_.ca_file;
  net::Answer answer = TRY(environment_.http.send(request, environment_.context.stop));
  if (answer.status / 100 != 2) return assist::refusal(answer);
  return answer;
}

Result<Json> ServiceAccess::get(const std::string& path) const {
  const net::Answer answer = TRY(request("GET", path, "", ""));
  return parse_json(answer.body, path);
}

Result<ServiceState> ServiceAccess::look() const {
  const std::string path = fmt::format("/v2/clusters/{}", options_.cluster);
  Result<Json> cluster = get(path);
  if (!cluster.ok() && (cluster.error().code() == Code::not_found || cluster.error().code() == Code::denied)) {
    return ServiceState{.closed_because = cluster.error().message()};
  }
  ServiceState state;
  state.cluster = TRY(std::move(cluster));
  state.hosts = TRY(get(path + "/hosts"));
  return state;
}

Result<> ServiceAccess::send(const Report& report) const {
  TRY(request(report.method, report.path, emit_json(report.body, JsonStyle::compact), "application/json"));
  return Ok{};
}

Result<> ServiceAccess::send_log(const std::string& text) const {
  const std::string archive = TRY(assist::pack({{"controller.log", text}}));
  const std::string boundary = "slipway-" + TRY(sys::random_hex(environment_.random, 32));
  TRY(request("POST", fmt::format("/v2/clusters/{}/logs?logs_type=controller", options_.cluster),
              assist::multipart(boundary, "controller.tar.gz", archive), "multipart/form-data; boundary=" + boundary));
  return Ok{};
}

}  // namespace slipway::components::assisted_controller
