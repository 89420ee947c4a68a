// Inputs of assets for tests: an install-config, an environment, and certificates that are the same in every run.
#pragma once

#include "assets/graph.h"
#include "assets/tls/tls.h"
#include "support/seeded_random.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace slipway::testing_support {

inline constexpr std::string_view sample_install_config = R"(apiVersion: v1
metadata:
  name: demo
baseDomain: example.com
platform:
  local: {}
compute:
- name: worker
  replicas: 0
pullSecret: '{"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}}'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE1hcmtlZEtleU9mVGVzdHNOb3RBU2VjcmV0MDE= me@example.com
)";

inline config::InstallConfig sample_config(std::string_view text = sample_install_config) {
  auto loaded = config::load_install_config(text, "install-config.yaml");
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
  return loaded.ok() ? std::move(loaded->config) : config::InstallConfig{};
}

inline assets::Environment sample_environment() {
  return {.now = parse_rfc3339("2026-11-21T09:30:00Z").value(),
          .release_image = "registry.slipway.invalid/slipway/release@sha256:" + std::string(64, '0'),
          .release_version = "0.1.0",
          .key_type = net::KeyType::p256,  // RSA would take a second for each key
          .nodes = {{"master-0", "master", {"10.97.77.11"}}, {"master-1", "master", {"10.97.77.12"}}}};
}

// Every certificate is a text with its own name: manifests contain them, but they are not valid.
inline assets::Tls named_tls(std::string_view platform = "local") {
  assets::Tls tls;
  for (const assets::CertificateRow& row : assets::certificate_rows()) {
    if (!row.platform.empty() && row.platform != platform) continue;
    tls.emplace(row.file, net::Certificate{fmt::format("certificate {}\n", row.file), Secret(fmt::format("key {}\n", row.file))});
  }
  for (const assets::BundleRow& row : assets::bundle_rows()) {
    tls.emplace(row.file, net::Certificate{fmt::format("bundle {}\n", row.file), Secret()});
  }
  return tls;
}

// Root certificates and all others, as the graph generates them.
inline Result<assets::Tls> make_all_tls(const config::InstallConfig& config, const assets::Environment& environment,
                                        const assets::Randomness& random, const assets::PreviousTls& kept = {},
                                        const assets::UserTls& user = {}) {
  const assets::RootTls root = TRY(assets::make_root_tls(config, environment, random, kept));
  return assets::make_tls(config, environment, random, kept, root, user);
}

inline void put_named_tls(assets::Graph& graph, std::string_view platform = "local") {
  graph.put(assets::RootTls{named_tls(platform)});
  graph.put(named_tls(platform));
}

// The graph of all assets with its inputs; random numbers are the same in every run.
struct SampleGraph {
  explicit SampleGraph(config::InstallConfig config = sample_config()) {
    graph.put(std::move(config));
    graph.put(sample_environment());
    graph.put(assets::Randomness{&random});
    graph.put(assets::PreviousTls{});
    graph.put(assets::UserTls{});
    graph.put(assets::UserFiles{});
    graph.put(assets::PointerEdits{});
    graph.put(assets::KubeadminPassword{Secret("aaaaa-bbbbb-ccccc-ddddd"), "$2a$10$hash"});  // generating a hash is slow
  }

  template <class T>
  const T& get() {
    const Result<const T*> made = graph.get<T>();
    EXPECT_TRUE(made.ok()) << made.error().message();
    return *made.value();
  }

  SeededRandom random{1};
  assets::Graph graph = assets::asset_graph();
};

}  // namespace slipway::testing_support
