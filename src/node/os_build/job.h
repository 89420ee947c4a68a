// The pod of a build in the cluster: brings the inputs of the build to the machine, builds there, and writes the result as a
// ConfigMap (machineconfig/os_build_job.h).
#pragma once

#include "kube/client.h"
#include "machineconfig/os_build_job.h"
#include "node/os_build/build.h"
#include "node/program.h"

#include <functional>
#include <string>

namespace slipway::node {

struct OsBuildJob {
  std::string name;           // of the build
  std::string pod;            // name of this pod
  std::string space;          // namespace of the result
  std::string inputs;         // folder with the volume of the pod: inputs.0, inputs.1, ...; push and pull: files of Secrets
  std::string push_secret;    // names, for messages
  std::string pull_secret{};  // empty: the logins of the kubelet
  std::string root = "/";     // the root of the machine, as this process sees it
  bool has_cache = true;      // OsBuildOptions
};

// Where a build is on its machine.
inline std::string os_build_folder(const std::string& name) { return std::string(machineconfig::os_images_folder) + "/" + name; }

// Writes the files of the build below OsBuildJob::root, with mode 0600 for logins.
//
//   returns  the options of the build, with paths of the machine
//   errors   not_found: a Secret does not exist; invalid: a Secret without logins, broken inputs; those of files
Result<OsBuildOptions> put_build(sys::Files& files, const OsBuildJob& job);

// Builds and writes the result. Then the folder of the build is removed. Only if a registry did not answer, what was built stays,
// without the logins, for the next attempt on this machine (leftovers.h).
//
//   build   build_os_image, on the machine
//   errors  those of the build and of the API
Result<> build_and_report(const Environment& environment, kube::Api& api, const OsBuildJob& job,
                          const Result<OsBuildOptions>& options,
                          const std::function<Result<machineconfig::OsImage>(const OsBuildOptions&)>& build);

// os-image-build-job --name=BUILD --namespace=NAMESPACE --push-secret=NAME [--pull-secret=NAME] [--inputs=/inputs]
//                    [--root-mount=/rootfs] [--no-cache]
//
// The command. Requires the environment variable POD_NAME. Runs in a privileged pod. Waits for other builds on the machine, and
// removes what killed ones have left.
Result<> run_os_image_build_job(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::node
