#include "agent/node_config.h"

#include "ignition/merge.h"
#include "ignition/validate.h"

namespace slipway::agent {

namespace {

bool is_of_a_master(const ignition::Resource& reference) {
  constexpr std::string_view path = "/config/master";
  return reference.source && reference.source->ends_with(path);
}

}  // namespace

Result<std::string> node_config(std::string_view bootstrapped, std::string_view served) {
  const ignition::Parsed node = TRY(ignition::read_config(bootstrapped, "the config of the node"));
  ignition::Parsed host = TRY(ignition::read_config(served, "the config of this host"));
  std::erase_if(host.config.ignition.config.merge, is_of_a_master);
  const ignition::Config merged = ignition::merge(node.config, host.config);
  TRY(ignition::validate(merged).to_result().context("the config of the node with that of this host"));
  return emit_json(ignition::to_json(merged), JsonStyle::compact);
}

}  // namespace slipway::agent
