// KubeletConfig and ContainerRuntimeConfig: settings of the kubelet and of the container runtime for the pools that they select.
// Pure.
//
// https://github.com/openshift/api/blob/master/machineconfiguration/v1/types.go
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/yaml.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// The settings of one object, or of several objects together.
struct KubeletSettings {
  Json fields = JsonObject();              // of KubeletConfiguration; includes logLevel and tlsSecurityProfile
  std::optional<bool> reserves_by_size{};  // autoSizingReserved
};

struct RuntimeSettings {
  std::optional<std::int64_t> pids_limit{};    // processes and threads of a pod
  std::string log_level{};                     // of containerd; empty: its default
  std::optional<std::int64_t> log_size_max{};  // bytes of the log of a container
};

// Findings have the place in the document: a field that is unknown, has the wrong type or a wrong value, or that machines of this
// release cannot apply. The result has the other fields.
//
// KubeletConfig: fields of KubeletConfiguration that other parts of a machine depend on; autoSizingReserved with systemReserved;
// logLevel with logging.verbosity; tlsSecurityProfile with tlsMinVersion or tlsCipherSuites, or with ciphers that the kubelet
// does not have. The kubelet itself checks the other fields of KubeletConfiguration.
KubeletSettings read_kubelet_config(const YamlDocument& document, Findings& findings);

// ContainerRuntimeConfig: what containerd has no equivalent of: overlaySize, additional stores, a runtime other than crun.
RuntimeSettings read_runtime_config(const YamlDocument& document, Findings& findings);

// Either of both by the kind of the document. Nothing for other kinds.
void check_pool_settings(const YamlDocument& document, Findings& findings);

// Whether the object selects the pool by its labels. An object without a selector, or with an empty one, selects no pool.
bool selects_pool(const Json& object, const Json& pool);

// Findings: pools that several objects of one kind select. At install time a pool may have one.
void check_one_per_pool(const std::vector<Json>& pools, const std::vector<Json>& objects, Findings& findings);

// The number of a quantity of Kubernetes ("50Mi", "1e6", -1), rounded up; nullopt if it is none or out of range.
std::optional<std::int64_t> quantity_value(const Json& quantity);

}  // namespace slipway::machineconfig
