// The config of an agent-based installation: hosts boot one image, and one of them, at the rendezvous address, also runs the
// service. What the service would be told by requests is in the image: its records, tokens and certificate, and the Ignition
// configs of the cluster. All but the reading is pure.
#pragma once

#include "config/agent_config.h"
#include "net/environment.h"
#include "service/installation.h"
#include "service/records.h"
#include "service/server_certificate.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::service {

inline constexpr std::string_view rendezvous_folder = "/etc/slipway-rendezvous";

// A host that the user described.
struct PlannedHost {
  std::string hostname{};                         // empty: its own
  assist::Role role = assist::Role::auto_assign;  // that the user chose
  std::vector<std::string> mac_addresses{};
  Json disk_hints = JsonObject();  // assist/disk_hints.h

  bool operator==(const PlannedHost&) const = default;
};

struct RendezvousConfig {
  std::string address{};   // of the host with the service
  std::string url{};       // of the service
  int expected_hosts = 0;  // masters and workers of the cluster
  ClusterRecord cluster{};
  InfraEnvRecord infra_env{};
  std::vector<TokenRecord> tokens{};
  std::vector<PlannedHost> hosts{};
};

Json to_json(const RendezvousConfig& config);
Result<RendezvousConfig> parse_rendezvous(const Json& value);  // errors: invalid

// What `slipway agent create image` makes.
struct RendezvousImage {
  std::string ignition;    // the config of the image. It contains all secrets of the cluster
  std::string url;         // of the service
  std::string cluster_id;  // at the service
  std::string user_token;  // of kind user, for the cluster
  std::string authority;   // PEM, that signed the certificate of the service
};

// files   of the cluster (read_asset_directory)
// errors  invalid: static networks; internal: no random bytes, no memory
Result<RendezvousImage> make_rendezvous_image(const config::InstallConfig& install, const config::AgentConfig& agent,
                                              const InstallationFiles& files, sys::Random& random, WallTime now);

// What of the host's networkConfig is not supported, one text each; for config::check_agent_config.
std::vector<std::string> problems_of_network(const config::AgentHost& host);

// Reads what the image has brought to the folder. errors: invalid; those of Files
Result<RendezvousConfig> read_rendezvous(sys::Files& files, const std::string& folder);
Result<ServerCertificate> read_rendezvous_certificate(sys::Files& files, const std::string& folder);
std::string rendezvous_assets(const std::string& folder);  // the folder of PreparedInstallation

}  // namespace slipway::service
