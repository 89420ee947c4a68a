// Which texts are names of the network: domains, hosts, repositories of images, keys of people. Private to the folder.
#pragma once

#include <string_view>

namespace slipway::config {

// Lower-case letters, digits and dashes, no dash at an end, 63 at most (RFC 1123).
bool is_dns_label(std::string_view text);

// Labels with dots between them, 253 characters at most.
bool is_dns_subdomain(std::string_view text);

// "registry.example.com:5000/team/images", "registry.example.com:5000": no tag, no digest.
bool is_repository(std::string_view text);

// One element of noProxy: an address, a network, a domain with or without a dot at its ends.
bool is_proxy_exception(std::string_view text);

// A host by itself: a domain, an address of either family.
bool is_host(std::string_view text);

// "52:54:00:12:34:56", with colons or dashes, of one machine (EUI-48, unicast).
bool is_mac_address(std::string_view text);

// "0a1b2c3d-....", hexadecimal digits of either case, 8-4-4-4-12 (RFC 4122).
bool is_uuid(std::string_view text);

// "qemu:///system": a scheme and something behind its colon (RFC 3986).
bool is_uri(std::string_view text);

// An amount as Kubernetes has them, above zero: "8Gi", "1.5", "500M", "12e6".
bool is_quantity(std::string_view text);

// The kind of the first line that sshd takes as a public key, "ssh-ed25519": options, kind, base64 that begins with the kind.
// Empty when there is none.
std::string_view ssh_key_kind(std::string_view text);

}  // namespace slipway::config
