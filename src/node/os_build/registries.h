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

// The registries in a Containerfile: of images in FROM, and in the options --from of COPY and RUN --mount. Names with a variable
// in the registry are left out. Names without a registry, like those of stages, may be of docker.io.
std::set<std::string> registries_in(std::string_view containerfile);

// registries.conf of version 2. Names without a registry are of docker.io, as for containerd.
//
// - podman has no entry for all other registries, so the registries in `named` that have no endpoints get those of "".
// - A server whose API has another path than /v2/... has no counterpart and is left out.
// - podman does not send the parameter "ns". A server of "" serves several registries, so podman requests the image from it with
//   the registry before the name: 10.0.0.1:5000/quay.io/team/app, 10.0.0.1:5000/host__5000/app. The registry of a local cluster
//   and most proxies of registries understand this. A server of one registry that is also one of "" is requested in both ways.
//
// https://github.com/containers/image/blob/main/docs/containers-registries.conf.5.md
std::string registries_conf(const Endpoints& endpoints, const std::set<std::string>& named);

// The registry of names without one: "FROM debian". Its line in the file comes before registries_conf(), which has tables.
inline constexpr std::string_view registry_of_short_names = "docker.io";

// PEM of the authorities of all servers, one text each.
std::set<std::string> authorities_of(const Endpoints& endpoints);

// How to reach the registry itself: without TLS, and with which authorities. An endpoint without a server, or with the name of
// the registry, says it.
release::RegistryEndpoint own_endpoint(const Endpoints& endpoints, const std::string& registry);

}  // namespace slipway::node
