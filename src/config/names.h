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

// Whether a text has a line that sshd takes as a public key: options, kind, base64 that begins with the kind.
bool has_ssh_key(std::string_view text);

}  // namespace slipway::config
