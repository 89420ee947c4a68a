// libvirt's XML of the resources of a plan (cluster_plan.h), from the templates in data/provider/libvirt. Pure.
#pragma once

#include "provider/plan/resource.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::provider::libvirt {

std::string pool_xml(const plan::Resource& pool);
std::string network_xml(const plan::Resource& network);

struct NewVolume {
  std::string name;
  std::uint64_t capacity = 0;  // bytes
  std::string_view format;     // "raw", "qcow2"
  std::string_view mode;       // "0600"
  std::string backing_path{};  // of a layer: the volume below it, in qcow2
};
std::string volume_xml(const NewVolume& volume);

// A machine without a disk, which shows whether KVM works: libvirt only looks whether QEMU can open /dev/kvm.
std::string kvm_probe_xml(std::string_view name);

//   pool_path  the folder of the pool that has the machine's volumes
std::string machine_xml(const plan::Resource& machine, std::string_view pool_path);

}  // namespace slipway::provider::libvirt
