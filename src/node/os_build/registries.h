// What podman needs to read images from the servers that containerd reads them from. Pure.
#pragma once

#include "release/registry_client.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

using Endpoints = std::map<std::string, std::vector<release::RegistryEndpoint>>;  // RegistryOptions::endpoints

// The registries in a Containerfile: of images in FROM, and in the options --from of COPY and RUN --mount. Names without a
// registry and with a variable in the registry are left out.
std::set<std::string> registries_in(std::string_view containerfile);

// registries.conf of version 2.
//
// - podman has no entry for all other registries, so the registries in `named` that have no endpoints get those of "".
// - A server whose API has another path than /v2/... has no counterpart and is left out.
// - podman does not send the parameter "ns", so a server can serve one registry only.
//
// https://github.com/containers/image/blob/main/docs/containers-registries.conf.5.md
std::string registries_conf(const Endpoints& endpoints, const std::set<std::string>& named);

// PEM of the authorities of all servers, one text each.
std::set<std::string> authorities_of(const Endpoints& endpoints);

// How to reach the registry itself: without TLS, and with which authorities. An endpoint without a server, or with the name of
// the registry, says it.
release::RegistryEndpoint own_endpoint(const Endpoints& endpoints, const std::string& registry);

}  // namespace slipway::node
