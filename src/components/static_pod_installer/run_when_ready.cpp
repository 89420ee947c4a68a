#include "components/static_pod_installer/run_when_ready.h"

#include "base/flags.h"
#include "base/text.h"
#include "base/time.h"
#include "sys/exec.h"
#include "sys/wait_for.h"

#include <algorithm>

namespace slipway::components::static_pod_installer {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view name = "run-when-ready";
constexpr sys::Pace pace{50ms, 200ms};

Result<net::Request> request_of(sys::Files& files, const Gate& gate) {
  net::Request request{.url = gate.url, .connect_limit = 1s, .whole_limit = 3s};
  request.tls.ca_file = gate.ca;
  if (gate.certificate.empty()) return request;
  request.tls.client_pem = TRY(files.read(gate.certificate));
  request.tls.client_key = Secret(TRY(files.read(gate.key)));
  return request;
}

}  // namespace

Result<Gate> parse_gate(const Arguments& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  const Flags flags = TRY(parse_flags(name,
                                      {{.name = "url", .required = true},
                                       {.name = "ca"},
                                       {.name = "cert"},
                                       {.name = "key"},
                                       {.name = "limit", .fallback = "10m"}},
                                      {arguments.begin(), dashes}));
  if (arguments.end() - dashes < 2) return error(Code::invalid, "{}: no program given after --", name);
  if (flags.text("cert").empty() != flags.text("key").empty()) {
    return error(Code::invalid, "{}: --cert and --key must be used together", name);
  }
  const net::Url url = TRY(net::parse_url(flags.text("url")).context("--url"));
  const Milliseconds limit = TRY(parse_duration(flags.text("limit")).context("--limit"));
  return Gate{.url = url,
              .ca = flags.text("ca"),
              .certificate = flags.text("cert"),
              .key = flags.text("key"),
              .limit = limit,
              .program = {dashes + 1, arguments.end()}};
}

Result<> wait_until_open(const Environment& environment, const Gate& gate) {
  const sys::Context& context = environment.context;
  const std::string what = fmt::format("status 200 from {}", to_string(gate.url));
  return sys::wait_for(
      context, what, gate.limit,
      [&]() -> Result<sys::Observation> {
        // Certificates may be created or renewed during the wait, so no failure is final.
        const Result<net::Request> request = request_of(environment.files, gate);
        if (!request.ok()) return sys::Observation::not_yet("{}", request.error().message());
        const Result<net::Answer> answer = environment.http.send(request.value(), context.stop);
        if (!answer.ok()) return sys::Observation::not_yet("{}", answer.error().message());
        if (answer->status != 200)
          return sys::Observation::not_yet("status {}: {}", answer->status, trim(answer->body).substr(0, 500));
        return sys::Observation::done();
      },
      nullptr, pace);
}

Result<> run_when_ready(const Environment& environment, const Arguments& arguments) {
  const Gate gate = TRY(parse_gate(arguments));
  const sys::Context& context = environment.context;
  context.log.info("waiting for {}, then starting {}", to_string(gate.url), gate.program.front());
  const SteadyTime begin = context.clock.steady();
  TRY(wait_until_open(environment, gate));
  context.log.info("{} is ready, after {}", to_string(gate.url), human_duration(context.clock.steady() - begin));
  return sys::become_program(gate.program);
}

}  // namespace slipway::components::static_pod_installer
