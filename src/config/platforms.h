// Facts about each platform that are the same for all its clusters. Fields, rules and manifests of a platform are in tables of
// other files and folders, by the name of the platform.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace slipway::config {

// The address families that the networks of a cluster may have.
enum class AddressFamilies {
  v4,             // IPv4 only
  both,           // IPv4, IPv6, or both with IPv4 first
  both_any_first  // IPv4, IPv6, or both in any order
};

// The encoding of user data to which the size limit of a platform applies.
enum class UserDataForm { plain, base64, gzip_base64 };
struct UserDataLimit {
  UserDataForm form = UserDataForm::plain;
  std::size_t bytes = 0;
};

struct PlatformRow {
  std::string_view name;   // as install-config.yaml has it
  std::string_view about;  // one sentence, for `explain`
  // The name in objects of the cluster. "None" for platform local, which OpenShift's API does not know. Empty for a platform of
  // OpenShift that this version does not support.
  std::string_view api_type{};
  bool is_cloud = false;                 // a public cloud with an API of its own: publish Internal, any credentialsMode
  bool has_integration = false;          // the cluster uses the platform's API, so it needs credentials and a cloud controller
  bool holds_virtual_addresses = false;  // machines hold the API and ingress addresses themselves, by VRRP
  bool names_nodes = false;              // Nodes have the names master-0, master-1, ...; elsewhere only their number is known
  bool has_metadata_service = false;     // at 169.254.169.254
  bool asks_for_addresses = false;       // machines use DHCP; with two families they must request addresses of both
  bool has_dotless_names = false;        // the name of the cluster must not contain a dot
  AddressFamilies families = AddressFamilies::v4;
  std::string_view machine_network = "10.0.0.0/16";  // default
  std::string_view network_type = "OVNKubernetes";   // default
  bool has_fast_keys = false;                        // the default of keys is ECDSA, not RSA
  std::string_view architectures_gate{};             // feature gate for machines of several architectures; empty: not supported
  std::optional<UserDataLimit> user_data{};          // none: no limit
};

// Sorted as in the documentation.
std::span<const PlatformRow> platforms();

// Null if there is no such platform.
const PlatformRow* find_platform_row(std::string_view name);

// name: a platform of the table; aborts for any other name
const PlatformRow& platform_row(std::string_view name);

}  // namespace slipway::config
