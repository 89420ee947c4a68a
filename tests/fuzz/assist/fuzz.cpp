// What hosts and users send to the assisted installation service, any bytes. The first byte selects the reader: i an inventory, c
// n d v s m a the outputs of checks, C E H bodies with the fields of clusters, environments and hosts, u an upload.
#include "assist/replies.h"
#include "assist/steps.h"
#include "assist/validations.h"
#include "base/check.h"
#include "service/fields.h"
#include "service/multipart.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

namespace {

using namespace slipway;

const std::map<char, std::string_view> steps = {{'i', "inventory"},
                                                {'c', "connectivity-check"},
                                                {'n', "ntp-synchronizer"},
                                                {'d', "domain-resolution"},
                                                {'v', "verify-vips"},
                                                {'s', "installation-disk-speed-check"},
                                                {'m', "container-image-availability"},
                                                {'a', "api-vip-connectivity-check"}};

// An output that is taken can be judged, and a host with it gets steps.
void take_output(std::string_view type, std::string_view text) {
  const Result<Json> output = parse_json(text, "output");
  if (!output.ok()) return;
  assist::Host host{.id = "h", .infra_env = "e", .cluster = "c", .status = assist::HostStatus::known};
  const assist::Host before = host;
  if (!assist::apply_output(host, type, output.value()).ok()) {
    CHECK(host.inventory == before.inventory && host.checks == before.checks);
    return;
  }
  const assist::Cluster cluster{.id = "c", .name = "demo", .base_domain = "example.com"};
  const assist::HostScene scene{.host = host, .cluster = &cluster, .hosts = {&host}};
  CHECK(!assist::validate_host(scene).empty());
  CHECK(!assist::validate_cluster(cluster, {&host}).empty());
  for (const assist::Step& step : assist::steps_of(scene, {}).steps) {
    CHECK(step.argument.empty() || parse_json(step.argument, "argument").ok());
  }
}

void take_fields(std::span<const service::Field> fields, std::string_view text) {
  const Result<JsonObject> found = service::read_fields(text, fields, "body");
  CHECK(found.ok() || !found.error().message().empty());
}

void take_upload(std::string_view text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view body = text.substr(std::min(line + 1, text.size()));
  const Result<std::string_view> part = service::part_of(text.substr(0, line), body, "upfile");
  CHECK(!part.ok() || (part->data() >= body.data() && part->data() + part->size() <= body.data() + body.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const char selected = static_cast<char>(data[0]);
  if (const auto step = steps.find(selected); step != steps.end()) take_output(step->second, text);
  if (selected == 'C') take_fields(service::cluster_fields(), text);
  if (selected == 'E') take_fields(service::infra_env_fields(), text);
  if (selected == 'H') take_fields(service::host_fields(), text);
  if (selected == 'u') take_upload(text);
  return 0;
}
