#include "assets/outputs.h"

#include "assets/ignition/pointer.h"

#include <array>

namespace slipway::assets {

namespace {

constexpr std::string_view single_node_file = "bootstrap-in-place-for-live-iso.ign";
constexpr std::string_view gateway = "journal-gatewayd";

constexpr auto rows = std::to_array<OutputFile>({
    {"auth/kubeadmin-password", Use::write, Use::write, Use::write},
    {kubeconfig_file, Use::write, Use::write, Use::write},
    {os_registry_file, Use::nothing, Use::nothing, Use::write},
    {metadata_file, Use::write, Use::write, Use::write},
    {"tls/journal-gatewayd.crt", Use::nothing, Use::nothing, Use::write},
    {"tls/journal-gatewayd.key", Use::nothing, Use::nothing, Use::write},
    {bootstrap_file, Use::write, Use::consume, Use::consume},
    {user_data_file, Use::write, Use::consume, Use::consume},
    {"master.ign", Use::write, Use::consume, Use::consume},
    {"worker.ign", Use::write, Use::write, Use::consume},
    {single_node_file, Use::nothing, Use::write, Use::nothing},
});

struct ConfigFile {
  std::string_view path;
  ignition::Config Assets::*member;
};
constexpr std::array<ConfigFile, 3> config_files = {
    {{bootstrap_file, &Assets::bootstrap}, {"master.ign", &Assets::master}, {"worker.ign", &Assets::worker}}};

}  // namespace

Use OutputFile::by(Target target) const {
  return target == Target::ignition_configs ? ignition_configs : target == Target::cluster ? cluster : single_node;
}

std::span<const OutputFile> output_files() { return rows; }

Result<Snapshot> generate_outputs(Graph& graph, Target target) {
  const Assets& assets = *TRY(graph.get<Assets>());
  Snapshot outputs;
  for (const AssetFile& file : assets.auth) outputs.emplace(file.path, file.content);
  outputs.emplace(metadata_file, emit_json(assets.metadata, JsonStyle::compact));
  if (const auto pair = assets.tls.find(gateway); pair != assets.tls.end()) {
    outputs.emplace(fmt::format("tls/{}.crt", gateway), pair->second.pem);
    outputs.emplace(fmt::format("tls/{}.key", gateway), pair->second.key.reveal());
  }
  if (target == Target::single_node_ignition_config) {
    const SingleNodeConfig* single_node = TRY(graph.get<SingleNodeConfig>());
    outputs.emplace(single_node_file, ignition_text(single_node->config));
  }
  for (const ConfigFile& row : config_files) outputs.emplace(row.path, ignition_text(assets.*row.member));
  return outputs;
}

}  // namespace slipway::assets
