// The provider of platform libvirt: machines are virtual machines of a libvirt host, local or remote.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"

#include <memory>

namespace slipway::provider::libvirt {

// Options:
//   uri        of the libvirt host; empty: qemu:///system
//   place      the same; if both are given, this one counts
//   infra-id   of the cluster; empty before its assets are made: only calls that are pure work then
//   directory  the asset directory of the cluster
//   os-repo    the OSTree repository of the machine OS, for new machines
//   os-image   a disk image to use instead of the machine OS; may be empty
//   programs   the folder with the programs that make disk images
Result<std::unique_ptr<Provider>> open_libvirt_provider(const net::Environment& environment, ClusterSelection selection);

}  // namespace slipway::provider::libvirt
