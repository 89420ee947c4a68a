// Images in podman's storage on machines with rpm-ostree or bootc. Both read an image from there without a registry.
#pragma once

#include "node/program.h"
#include "release/registry_client.h"

#include <map>
#include <string>
#include <string_view>

namespace slipway::node {

inline constexpr const char* extensions_folder = "/var/lib/slipway/extensions";
inline constexpr const char* extensions_repository = "slipway-extensions";  // its name for rpm-ostree
inline constexpr const char* repositories_folder = "/etc/yum.repos.d";

// What podman reads to pull an image from the servers that containerd reads it from.
struct PullFiles {
  std::string registries_conf{};                     // empty: that of the machine
  std::string logins{};                              // a docker config
  std::map<std::string, std::string> authorities{};  // names of files, with PEM
};

// logins: the kubelet's docker config. Mirrors of the access become mirrors of podman, with their logins. Pure.
//
//   errors  invalid: the logins or the image, without their content
Result<PullFiles> pull_files(const release::RegistryOptions& access, std::string_view logins, const std::string& image);

// Pulls an image unless podman has it. podman verifies signatures as the machine's /etc/containers/policy.json says.
//
//   errors  invalid: no digest; unavailable: podman's reason, with the image
//   time    minutes
Result<> store_image(const Environment& environment, const std::string& image);

// Removes the images that store_image() has pulled, except one. Images that others have pulled stay.
Result<> remove_stored_images(const Environment& environment, const std::string& except);

// The folder with the packages of an image of extensions: extensions_folder/HEX.
//
//   errors  invalid: no digest
Result<std::string> packages_folder(const std::string& image);

// Copies the packages out of the image of extensions, and makes them the only content of the repository. Does nothing if the
// machine has them.
//
//   errors  those of store_image(); invalid: the image has no repository
Result<> store_extensions(const Environment& environment, const std::string& image);

// Removes the packages of all images of extensions except one, and the repository if that is empty.
Result<> remove_stored_extensions(const Environment& environment, const std::string& except);

}  // namespace slipway::node
