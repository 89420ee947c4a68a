#include "agent/logs.h"

#include "agent/inventory.h"
#include "agent/units.h"
#include "assist/service_requests.h"
#include "base/text.h"
#include "net/interfaces.h"
#include "sys/random.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::agent {

namespace {

constexpr std::size_t largest_log = 1u << 20;
constexpr Milliseconds journal_limit{60'000};
constexpr std::array<std::string_view, 4> host_units = {agent_unit, "NetworkManager.service", "systemd-networkd.service",
                                                        "chronyd.service"};
constexpr std::array<std::string_view, 7> bootstrap_units = {"bootkube.service",     "kubelet.service",     "containerd.service",
                                                             "crio.service",         "approve-csr.service", "progress.service",
                                                             "release-image.service"};

assist::LogFile journal(const net::Environment& environment, const std::string& name, std::vector<std::string> selection) {
  std::vector<std::string> argv = {"journalctl", "--no-pager", "--output=short-iso-precise", "--lines=20000"};
  argv.insert(argv.end(), selection.begin(), selection.end());
  const Result<std::string> text =
      sys::run_checked(environment.runner, environment.context, {.argv = std::move(argv), .limit = journal_limit});
  return {fmt::format("journal-{}.log", name), text.ok() ? tail(text.value(), largest_log) : text.error().message() + "\n"};
}

std::vector<assist::LogFile> collect(const StepWorld& world, bool is_bootstrap) {
  std::vector<assist::LogFile> found = {journal(world.environment, "kernel", {"--dmesg"})};
  for (const std::string_view unit : host_units) {
    found.push_back(journal(world.environment, std::string(unit), {"--unit", std::string(unit)}));
  }
  if (is_bootstrap) {
    for (const std::string_view unit : bootstrap_units) {
      found.push_back(journal(world.environment, std::string(unit), {"--unit", std::string(unit)}));
    }
  }
  for (const char* path : {"/proc/self/mountinfo", "/proc/partitions", "/proc/cmdline", "/proc/mdstat", "/proc/net/route"}) {
    std::string name = path;
    std::replace(name.begin(), name.end(), '/', '-');
    found.push_back({name.substr(1) + ".txt", tail(world.tree.bytes(path), largest_log)});
  }
  const auto addresses = net::interface_addresses();
  const Json inventory =
      assist::to_json(read_inventory(world.tree, addresses.ok() ? addresses.value() : std::vector<net::InterfaceAddress>()));
  found.push_back({"inventory.json", emit_json(inventory, JsonStyle::pretty)});
  return found;
}

Result<> report(const StepWorld& world, const char* state) {
  TRY(world.service.send_json(world.environment.context, "PUT", world.service.host_path() + "/logs-progress",
                              Json{{"logs_state", state}}));
  return Ok{};
}

}  // namespace

std::string tail(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  text.remove_prefix(text.size() - limit);
  const std::size_t line = text.find('\n');
  return std::string(text.substr(line == std::string_view::npos ? 0 : line + 1));
}

Result<> send_logs(const StepWorld& world, const std::string& cluster_id, bool is_bootstrap) {
  const Identity identity = world.service.identity();
  TRY(report(world, "collecting"));
  const std::string archive = TRY(assist::pack(collect(world, is_bootstrap)));
  const std::string boundary = "slipway-" + TRY(sys::random_hex(world.environment.random, 32));
  const std::string path = fmt::format("/v2/clusters/{}/logs?logs_type=host&infra_env_id={}&host_id={}", cluster_id,
                                       world.service.options().infra_env_id, identity.host_id);
  const net::Answer answer =
      TRY(world.service.send(world.environment.context, "POST", path,
                             assist::multipart(boundary, fmt::format("logs_host_{}.tar.gz", identity.host_id), archive),
                             {{"Content-Type", "multipart/form-data; boundary=" + boundary}}));
  if (answer.status / 100 != 2) return assist::refusal(answer);
  return report(world, "completed");
}

Result<StepReply> gather_logs(const StepWorld& world, const Json& arguments) {
  const std::string cluster = text_of(arguments, {"cluster_id"});
  if (!is_uuid(cluster)) return error(Code::invalid, "cluster_id: '{}' is not a UUID", to_utf8(cluster));
  TRY(send_logs(world, cluster, is_true(arguments, {"bootstrap"})));
  return StepReply{};
}

}  // namespace slipway::agent
