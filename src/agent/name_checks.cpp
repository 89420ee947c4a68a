#include "agent/name_checks.h"

#include "base/digest.h"
#include "base/guarded.h"
#include "base/text.h"
#include "ignition/parse.h"
#include "net/resolve.h"
#include "net/sntp.h"
#include "sys/programs.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace slipway::agent {

namespace {

constexpr int at_once = 8;
constexpr Milliseconds chrony_limit{30'000}, sntp_limit{5'000}, largest_offset{1'000};

// Runs `work` for each name at the same time and returns the results in the order of the names.
Result<JsonArray> for_each_name(const sys::Context& context, const std::vector<std::string>& names,
                                const std::function<Json(const sys::Context&, const std::string&)>& work) {
  std::vector<Json> results(names.size());
  TRY(sys::for_each_at_once(context, names.size(), at_once, [&](const sys::Context& own, std::size_t i) -> Result<> {
    results[i] = work(own, names[i]);
    return Ok{};
  }));
  return JsonArray(results.begin(), results.end());
}

Json resolution(const std::string& name, const net::Resolved& resolved) {
  JsonArray v4, v6, cnames;
  for (const net::IpAddress& address : resolved.addresses) (address.is_v4() ? v4 : v6).emplace_back(net::to_string(address));
  if (resolved.canonical_name != name) cnames.emplace_back(resolved.canonical_name);
  return {
      {"domain_name", name}, {"ipv4_addresses", std::move(v4)}, {"ipv6_addresses", std::move(v6)}, {"cnames", std::move(cnames)}};
}

bool is_server_name(std::string_view name) {
  const auto is_allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '-' || c == ':' || c == '_'; };
  return !name.empty() && name.front() != '-' && name.size() <= 253 && std::all_of(name.begin(), name.end(), is_allowed);
}

Result<std::vector<TimeSource>> ask_chrony(const net::Environment& environment, const std::vector<std::string>& servers) {
  for (const std::string& server : servers) {
    // A server that chrony already has is an error of the command, and no problem.
    TRY(environment.runner.run(environment.context,
                               {.argv = {"chronyc", "add", "server", server, "iburst"}, .limit = chrony_limit}));
  }
  return parse_chrony_sources(TRY(
      sys::run_checked(environment.runner, environment.context, {.argv = {"chronyc", "-n", "sources"}, .limit = chrony_limit})));
}

std::string state_of(const sys::Context& context, const std::string& server) {
  const Result<Milliseconds> offset = net::clock_offset(context, server, sntp_limit);
  if (!offset.ok()) return "unreachable";
  return std::chrono::abs(offset.value()) < largest_offset ? "synced" : "error";
}

Result<std::string> authority_of(const Json& arguments) {
  const std::string text = text_of(arguments, {"ca_certificate"});
  if (text.empty() || text.starts_with("-----BEGIN")) return text;
  return base64_decode(text).context("ca_certificate");
}

Result<std::string> fetch_ignition(const net::Environment& environment, const Json& arguments) {
  net::Request request{.url = TRY(net::parse_url(text_of(arguments, {"url"})))};
  request.headers.push_back({"Accept", "application/vnd.coreos.ignition+json;version=3.2.0"});
  const std::string token = text_of(arguments, {"ignition_endpoint_token"});
  if (!token.empty()) request.authorization = Secret("Bearer " + token);
  for (const Json& header : find_array(arguments, {"request_headers"})) {
    request.headers.push_back({text_of(header, {"key"}), text_of(header, {"value"})});
  }
  request.tls.ca_pem = TRY(authority_of(arguments));
  const net::Answer answer = TRY(environment.http.send(request, environment.context.stop));
  // Many servers give the config only to machines with a token, which the host gets when it is installed. Their refusal shows
  // that the host reaches them.
  if (token.empty() && (answer.status == 401 || answer.status == 403)) return std::string();
  if (answer.status != 200) return error(Code::unavailable, "the server answers {}", answer.status);
  const ignition::Parsed parsed = TRY(ignition::parse_text(answer.body, "config"));
  TRY(parsed.findings.to_result());
  return answer.body;
}

}  // namespace

Result<StepReply> resolve_domains(const StepWorld& world, const Json& arguments) {
  std::vector<std::string> names;
  for (const Json& item : find_array(arguments, {"domains"})) names.push_back(text_of(item, {"domain_name"}));
  Guarded<std::vector<std::string>> problems;
  JsonArray resolutions = TRY(for_each_name(world.environment.context, names, [&](const sys::Context&, const std::string& name) {
    const Result<net::Resolved> resolved = net::resolve_host(name);
    if (resolved.ok()) return resolution(name, resolved.value());
    problems.with_lock([&](auto& all) { all.push_back(resolved.error().message()); });
    return resolution(name, {.addresses = {}, .canonical_name = name});
  }));
  StepReply reply = json_reply(Json{{"resolutions", std::move(resolutions)}});
  reply.error = problems.with_lock([](const auto& all) { return join(all, "; "); });
  return reply;
}

std::vector<TimeSource> parse_chrony_sources(std::string_view output) {
  constexpr std::array<std::pair<char, std::string_view>, 6> states = {
      {{'*', "synced"}, {'+', "combined"}, {'-', "not_combined"}, {'?', "unreachable"}, {'x', "error"}, {'~', "variable"}}};
  std::vector<TimeSource> sources;
  for (const std::string_view line : split(output, '\n')) {
    // "^* 192.0.2.1                     2   6   377    23   ..."
    if (line.size() < 4 || std::string_view("^=#").find(line[0]) == std::string_view::npos) continue;
    const auto state = std::find_if(states.begin(), states.end(), [&](const auto& each) { return each.first == line[1]; });
    const std::string_view rest = trim(line.substr(2));
    if (state != states.end()) sources.push_back({std::string(rest.substr(0, rest.find(' '))), std::string(state->second)});
  }
  return sources;
}

Result<std::vector<std::string>> parse_time_servers(std::string_view list) {
  std::vector<std::string> servers;
  for (const std::string_view part : split(list, ',')) {
    const std::string name(trim(part));
    if (name.empty() || std::find(servers.begin(), servers.end(), name) != servers.end()) continue;
    if (!is_server_name(name))
      return error(Code::invalid, "ntp_source: '{}' is neither a host name nor an address", to_utf8(name));
    servers.push_back(name);
  }
  return servers;
}

Result<StepReply> check_time_sources(const StepWorld& world, const Json& arguments) {
  const std::vector<std::string> servers = TRY(parse_time_servers(text_of(arguments, {"ntp_source"})));
  JsonArray sources;
  if (sys::is_in_path("chronyc")) {
    const std::vector<TimeSource> found = TRY(ask_chrony(world.environment, servers));
    for (const TimeSource& source : found) {
      sources.push_back(Json{{"source_name", source.name}, {"source_state", source.state}});
    }
  } else {
    sources = TRY(for_each_name(world.environment.context, servers, [](const sys::Context& context, const std::string& server) {
      return Json{{"source_name", server}, {"source_state", state_of(context, server)}};
    }));
  }
  return json_reply(Json{{"ntp_sources", std::move(sources)}});
}

Result<StepReply> check_api_connectivity(const StepWorld& world, const Json& arguments) {
  const Result<std::string> config = fetch_ignition(world.environment, arguments);
  return json_reply(Json{{"is_success", config.ok()},
                         {"url", text_of(arguments, {"url"})},
                         {"download_error", config.ok() ? "" : config.error().message()},
                         {"ignition", config.ok() ? config.value() : ""}});
}

}  // namespace slipway::agent
