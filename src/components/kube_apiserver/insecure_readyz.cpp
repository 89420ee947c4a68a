#include "components/kube_apiserver/insecure_readyz.h"

#include "base/flags.h"
#include "base/number.h"

namespace slipway::components::kube_apiserver {

net::ServerAnswer relay_readyz(net::Http& http, const net::Url& target, std::stop_token stop) {
  net::Request request{.url = target, .connect_limit = Seconds(1), .idle_limit = Seconds(2)};
  // Accepts any certificate: the request contains no secrets, and the question is about the server on this machine's port.
  request.tls.insecure_skip_verify = true;
  const Result<net::Answer> answer = http.send(request, stop);
  net::ServerAnswer relayed =
      answer.ok() ? net::text_answer(answer->status, answer->body) : net::text_answer(503, answer.error().message() + "\n");
  relayed.headers.push_back({"Cache-Control", "no-store"});
  return relayed;
}

Result<> run_insecure_readyz(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags(
      "cluster-kube-apiserver-operator insecure-readyz",
      {{.name = "insecure-port", .fallback = "6080"}, {.name = "delegate-url", .fallback = "https://localhost:6443/readyz"}},
      arguments));
  const std::string& text = flags.text("insecure-port");
  const int port = parse_number<std::uint16_t>(text).value_or(0);
  if (port == 0) return error(Code::invalid, "--insecure-port: '{}' is not a port", text);
  const net::Url target = TRY(net::parse_url(flags.text("delegate-url")).context("--delegate-url"));
  const sys::Context& context = environment.context;
  const net::HttpServer server = TRY(
      net::HttpServer::listen({.address = "0.0.0.0", .port = port, .connections_per_address = 32, .exchange_limit = Seconds(20)},
                              [&](const net::ServerRequest& request) {
                                if (request.path != "/readyz") return net::text_answer(404, "only /readyz exists here\n");
                                return relay_readyz(environment.http, target, context.stop);
                              }));
  context.log.info("serving /readyz of {} on port {}", to_string(target), server.port());
  wait_for_stop(context);
  return Ok{};
}

}  // namespace slipway::components::kube_apiserver
