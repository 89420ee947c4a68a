// Steps domain-resolution, ntp-synchronizer and api-vip-connectivity-check: names, clocks and configs that other machines serve.
#pragma once

#include "agent/step.h"
#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

// Arguments {"domains": [{"domain_name"}]}, output {"resolutions": [{"domain_name", "ipv4_addresses", "ipv6_addresses",
// "cnames"}]}. A name that does not exist has no addresses. error of the reply: names whose servers do not answer
Result<StepReply> resolve_domains(const StepWorld& world, const Json& arguments);

struct TimeSource {
  std::string name;
  std::string state;  // "synced", "combined", "not_combined", "unreachable", "error", "variable"

  bool operator==(const TimeSource&) const = default;
};

// The sources in the output of `chronyc -n sources`. Pure.
std::vector<TimeSource> parse_chrony_sources(std::string_view output);

// The names of a list "a,b", without repetitions. errors: invalid: a name that is neither a host name nor an address
Result<std::vector<std::string>> parse_time_servers(std::string_view list);

// Arguments {"ntp_source": "a,b"}, output {"ntp_sources": [{"source_name", "source_state"}]}. Gives the servers to chrony if the
// host has chronyc; otherwise asks each server itself: a server is "synced" if the clock of this host differs by less than a
// second, and "error" if it differs by more.
Result<StepReply> check_time_sources(const StepWorld& world, const Json& arguments);

// Arguments {"url", "verify_cidr", "ca_certificate", "ignition_endpoint_token", "request_headers": [{"key", "value"}]}, output
// {"is_success", "url", "download_error", "ignition"}. ca_certificate is PEM or its base64.
Result<StepReply> check_api_connectivity(const StepWorld& world, const Json& arguments);

}  // namespace slipway::agent
