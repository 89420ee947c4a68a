// What the controller and the pod of a build of an operating system image exchange in the cluster: ConfigMaps with the inputs of
// the build, and ConfigMaps with its result. Pure.
//
//   controller ─► os-build-NAME-0, -1, ... ─► pod of Job build-NAME ─► digest-NAME, or failure-POD for every attempt that failed
#pragma once

#include "machineconfig/os_build.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// Labels of all objects of a build; their values are its name and its pool.
inline constexpr std::string_view os_build_label = "machineconfiguration.openshift.io/machine-os-build";
inline constexpr std::string_view os_build_pool_label = "machineconfiguration.openshift.io/target-machine-config-pool";

std::string job_name(std::string_view build);
std::string input_name(std::string_view build, std::size_t part);
std::string result_name(std::string_view build);
std::string failure_name(std::string_view pod);

// Build and files as text, in parts that a ConfigMap can have. Each is the value of key `input_key` of one ConfigMap.
//
//   errors  internal: no memory
inline constexpr std::string_view input_key = "inputs";
inline constexpr std::size_t largest_part = 900'000;
Result<std::vector<std::string>> pack_inputs(const OsBuild& build, const std::vector<BuildFile>& files);

struct BuildInputs {
  OsBuild build{};
  std::vector<BuildFile> files{};

  bool operator==(const BuildInputs&) const = default;
};
// errors: invalid: a part is missing or broken, or a path leaves its folder
Result<BuildInputs> unpack_inputs(const std::vector<std::string>& parts);

// Why an attempt failed.
struct BuildFailure {
  std::string message;
  bool is_final = false;  // another attempt would fail in the same way

  bool operator==(const BuildFailure&) const = default;
};
BuildFailure failure_of(const Error& error);

// The ConfigMaps with a result, without namespace. name: of the build; pod: of the attempt
Json result_object(const OsImage& image);
Json failure_object(std::string_view name, std::string_view pod, const BuildFailure& failure);

// errors: invalid
Result<OsImage> parse_result(const Json& object);
// Nothing if the object is not a failure.
std::optional<BuildFailure> parse_failure(const Json& object);

}  // namespace slipway::machineconfig
