// `machine-config-server bootstrap`: serves configs to masters on the bootstrap machine, before the cluster exists.
#pragma once

#include "base/guarded.h"
#include "components/machine_config_server/server.h"

#include <map>
#include <memory>
#include <string>

namespace slipway::components::machine_config_server {

// Serves the files that `machine-config-controller bootstrap` renders into a folder. They may be written after the start. Only
// pools of the control plane are served; workers have to wait for the server of the cluster.
//
// A pool with FOLDER/os-builds/POOL/build.json is served with the image of this build, as soon as IMAGES/POOL/image.json has it.
// If the build failed, IMAGES/POOL has the reason (os_build_failure_file). A pool with FOLDER/os-images/POOL/image.json is served
// with this image, which its registry has.
//
//   errors    of find(): not_found: pools exist, but this pool or its config does not; unavailable: nothing is rendered yet, the
//             image is being built, or its build failed, with the reason
//   lifetime  files must outlive it
//   threads   any
class RenderedFolder final : public ConfigSource {
 public:
  // images_folder: of the images that this machine builds
  RenderedFolder(sys::Files& files, std::string folder, std::string kubeconfig_file,
                 std::string images_folder = machineconfig::os_images_folder);
  Result<std::shared_ptr<const PoolConfig>> find(const std::string& pool) override;

 private:
  // Texts of the files. They are small, so they are read for each request instead of watched.
  struct Texts {
    std::string pool{}, controller{}, kubeconfig{};
    std::string image{};  // that the machines boot, by digest; may be empty
    bool is_image_served = false;

    bool operator==(const Texts&) const = default;
  };
  struct CachedConfig {
    Texts texts;
    std::shared_ptr<const PoolConfig> config;
  };

  Result<Texts> read_texts(const std::string& pool);
  Result<> read_image(const std::string& pool, Texts& texts);
  Result<std::shared_ptr<const PoolConfig>> parse(const Texts& texts);

  sys::Files& files_;
  std::string folder_;
  std::string kubeconfig_file_;
  std::string images_folder_;
  Guarded<std::map<std::string, CachedConfig>> cache_;
};

// The command. Flags: --server-basedir, --bootstrap-kubeconfig, --os-images-dir, and those of config_server_flags().
Result<> run_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_server
