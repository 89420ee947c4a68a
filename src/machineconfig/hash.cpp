#include "machineconfig/hash.h"

#include "base/digest.h"
#include "base/sorted_keys.h"
#include "base/yaml.h"

#include <array>

namespace slipway::machineconfig {

namespace {

// The salt of openshift/machine-config-operator pkg/controller/common.
constexpr std::array<unsigned char, 80> salt = {16,  124, 206, 228, 139, 56,  175, 175, 79,  229, 134, 118, 157, 154, 211, 110,
                                                25,  93,  47,  253, 172, 106, 37,  7,   174, 13,  160, 185, 110, 17,  87,  52,
                                                219, 131, 12,  206, 218, 141, 116, 135, 188, 181, 192, 151, 233, 62,  126, 165,
                                                64,  83,  179, 119, 15,  168, 208, 197, 146, 107, 58,  227, 133, 188, 238, 26,
                                                33,  26,  235, 202, 32,  173, 31,  234, 41,  144, 148, 79,  6,   206, 23,  22};

}  // namespace

std::string canonical_spec(const MachineConfig& config) { return emit_go_yaml(sorted_keys(to_json(config).at("spec"))); }

std::string rendered_name(std::string_view pool, const MachineConfig& config) {
  std::string bytes(salt.begin(), salt.end());
  bytes += canonical_spec(config);
  return fmt::format("rendered-{}-{}", pool, md5_hex(bytes));
}

}  // namespace slipway::machineconfig
