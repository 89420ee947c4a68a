// The platforms, one row each: facts that are the same for every cluster of a platform. What a platform needs as code (fields,
// rules, manifests) is in tables of their folders, by the platform's name.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace slipway::config {

// Which families of addresses the networks of a cluster may have.
enum class AddressFamilies {
  v4,             // IPv4 only
  both,           // also both, IPv4 first; or IPv6 alone
  both_any_first  // the same in any order
};

// What a platform does to user data before it counts bytes.
enum class UserDataForm { plain, base64, gzip_base64 };
struct UserDataLimit {
  UserDataForm form = UserDataForm::plain;
  std::size_t bytes = 0;
};

struct PlatformRow {
  std::string_view name;   // as install-config.yaml has it
  std::string_view about;  // one sentence, for `explain`
  // As objects of the cluster name it. "None" for platform local, which OpenShift's API has no type for. Empty: OpenShift has
  // this platform and this version refuses it.
  std::string_view api_type{};
  bool is_cloud = false;                 // a public cloud with an API of its own: publish Internal, any credentialsMode
  bool has_integration = false;          // the cluster uses the platform's API, so it needs credentials and a cloud controller
  bool holds_virtual_addresses = false;  // machines hold the API and ingress addresses themselves, by VRRP
  bool names_nodes = false;              // Nodes have the names master-0, master-1, ...; elsewhere only their number is known
  bool has_metadata_service = false;     // at 169.254.169.254
  bool asks_for_addresses = false;       // machines use DHCP; with two families they have to ask for both
  bool has_dotless_names = false;        // names that are made of the cluster's may have no dot
  AddressFamilies families = AddressFamilies::v4;
  std::string_view machine_network = "10.0.0.0/16";  // when install-config.yaml names none
  std::string_view network_type = "OVNKubernetes";   // the same
  bool has_fast_keys = false;                        // ECDSA keys unless the user asks for others; RSA elsewhere
  std::string_view architectures_gate{};             // feature gate for machines of several architectures; empty: not possible
  std::optional<UserDataLimit> user_data{};          // none: no limit
};

// In the order of the documentation.
std::span<const PlatformRow> platforms();

// Null when there is none of this name.
const PlatformRow* find_platform_row(std::string_view name);

// The row of a platform that an install-config may have.
const PlatformRow& platform_row(std::string_view name);

}  // namespace slipway::config
