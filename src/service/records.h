// What the service of assisted installations keeps: values, and their form in the database.
#pragma once

#include "assist/facts.h"
#include "assist/model.h"
#include "assist/validations.h"
#include "base/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::service {

// A discovery environment: an image that hosts boot, and the hosts that booted it.
struct InfraEnvRecord {
  std::string id{};
  std::string name{};
  std::string cluster{};  // hosts join it; empty: hosts stay in the pool
  JsonObject settings{};  // fields of the API that users wrote (fields.h)
  WallTime created{}, updated{};

  bool operator==(const InfraEnvRecord&) const = default;
};

struct ClusterRecord {
  assist::Cluster cluster{};  // as the rules see it
  JsonObject settings{};      // fields of the API that users wrote (fields.h); secrets among them
  std::string status_info{};
  WallTime status_since{}, created{}, updated{};
  WallTime install_started{}, install_completed{};  // zero: not yet
  assist::InstallationReports reports{};
  std::string preparation_status{"not_started"}, preparation_reason{};  // of the last preparation
  std::string finalizing_stage{};
  WallTime finalizing_stage_since{};
  std::map<std::string, Json> operators{};  // that the controller reported, by name
  std::string ui_settings{};
  JsonObject install_config_overrides{};
  std::string logs_state{};
  WallTime controller_logs{};
  std::map<std::string, std::string> outcomes{};  // of validations, by ID

  // Not kept: made again at each look.
  std::vector<assist::Validation> validations{};
  std::map<std::string, std::set<std::string>> groups{};  // assist::majority_group() by machine network
};

// Whether the cluster was installed elsewhere.
bool is_imported(const ClusterRecord& record);

struct HostRecord {
  assist::Host host{};  // as the rules see it
  std::string status_info{};
  WallTime created{}, updated{}, registered{};
  std::string agent_version{};
  std::string boot_id{};                  // of the kernel
  std::string key{};                      // public key of the agent, PEM; empty: an agent without a key
  std::string key_of_installation{};      // the key when the installation began: only it gets the secrets of the cluster
  std::map<std::string, Json> outputs{};  // of steps, by type
  std::string progress_info{};
  WallTime stage_started{};
  // "ignition": a config, "installer_args": a list, "node_labels": an object, "ignition_token": a secret of an imported cluster
  JsonObject overrides{};
  std::string logs_state{};
  WallTime logs_collected{};
  std::map<std::string, std::string> outcomes{};  // of validations, by ID

  std::vector<assist::Validation> validations{};  // not kept

  std::string table_key() const;
};

// The list with this name; empty if there is none. For objects: base/json.h's functions would make a copy of one.
const JsonArray& list_in(const JsonObject& object, std::string_view key);

// "INFRA_ENV/HOST": the key of a host in tables.
std::string host_key(std::string_view infra_env, std::string_view host);

enum class TokenKind : std::uint8_t {
  admin,       // everything
  user,        // the cluster or the discovery environment that it names
  agent,       // registers hosts in the discovery environment
  host,        // one host
  controller,  // reports of one cluster
  image,       // downloads the image of one discovery environment, in a URL
  file,        // downloads one file of a cluster, in a URL
};
std::string_view to_string(TokenKind kind);
std::optional<TokenKind> find_token_kind(std::string_view name);

struct TokenRecord {
  std::string id{};
  std::string digest{};  // SHA-256 of the token: the token itself is not kept
  TokenKind kind = TokenKind::user;
  std::string cluster{}, infra_env{}, host{};
  std::string file{};  // its name
  WallTime issued{}, expires{};

  bool operator==(const TokenRecord&) const = default;
};

enum class EventSeverity : std::uint8_t { info, warning, error, critical };
std::string_view to_string(EventSeverity severity);

struct EventRecord {
  std::int64_t number = 0;  // given by the database, ascending
  WallTime at{};
  std::string name;  // "host_status_updated"
  EventSeverity severity = EventSeverity::info;
  std::string cluster{}, infra_env{}, host{};
  std::string message;
  JsonObject props{};
};

// The form in the database. errors of parsing: invalid
Json to_json(const InfraEnvRecord& record);
Json to_json(const ClusterRecord& record);
Json to_json(const HostRecord& record);
Json to_json(const TokenRecord& record);
Result<InfraEnvRecord> parse_infra_env(const Json& value);
Result<ClusterRecord> parse_cluster(const Json& value);
Result<HostRecord> parse_host(const Json& value);
Result<TokenRecord> parse_token(const Json& value);

// Sets the fields of the rules' view of a cluster from its settings. The settings have been checked (fields.h).
void apply_settings(assist::Cluster& cluster, const JsonObject& settings);

}  // namespace slipway::service
