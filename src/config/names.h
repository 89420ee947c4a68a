// Checks the syntax of names: domains, hosts, image repositories, MAC addresses, quantities, SSH keys. Private to the folder.
#pragma once

#include <string_view>

namespace slipway::config {

// At most 63 lower-case letters, digits and dashes, without a dash at either end (RFC 1123).
bool is_dns_label(std::string_view text);

// DNS labels separated by dots, at most 253 characters.
bool is_dns_subdomain(std::string_view text);

// "registry.example.com:5000/team/images" or "registry.example.com:5000", without tag or digest.
bool is_repository(std::string_view text);

// An element of noProxy: "*", an address, a network, or a domain with or without a dot at either end.
bool is_proxy_exception(std::string_view text);

// A domain, or an address of either family, without a port.
bool is_host(std::string_view text);

// A unicast EUI-48 address, "52:54:00:12:34:56", with colons or dashes.
bool is_mac_address(std::string_view text);

// "0a1b2c3d-....": 8-4-4-4-12 hexadecimal digits of either case (RFC 4122).
bool is_uuid(std::string_view text);

// "qemu:///system": a scheme, a colon and at least one more character (RFC 3986).
bool is_uri(std::string_view text);

// A quantity of Kubernetes above zero: "8Gi", "1.5", "500M", "12e6".
bool is_quantity(std::string_view text);

// The key type of the first line that sshd accepts as a public key, "ssh-ed25519". Such a line has options, the type, and base64
// that begins with the type. Empty if there is none.
std::string_view ssh_key_kind(std::string_view text);

}  // namespace slipway::config
