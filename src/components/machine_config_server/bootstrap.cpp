#include "components/machine_config_server/bootstrap.h"

#include "base/flags.h"
#include "base/yaml.h"
#include "components/render/inputs.h"
#include "machineconfig/os_build.h"
#include "machineconfig/os_build_files.h"
#include "machineconfig/pools.h"

#include <utility>

namespace slipway::components::machine_config_server {

RenderedFolder::RenderedFolder(sys::Files& files, std::string folder, std::string kubeconfig_file, std::string images_folder)
    : files_(files),
      folder_(std::move(folder)),
      kubeconfig_file_(std::move(kubeconfig_file)),
      images_folder_(std::move(images_folder)) {}

Result<std::shared_ptr<const PoolConfig>> RenderedFolder::find(const std::string& pool) {
  if (!machineconfig::is_control_plane_pool(pool)) {
    return error(Code::invalid, "pool '{}' is not served by the bootstrap machine, only by the cluster (retry later)", pool);
  }
  Texts texts = TRY(read_texts(pool));
  const std::shared_ptr<const PoolConfig> known = cache_.with_lock([&](const auto& all) -> std::shared_ptr<const PoolConfig> {
    const auto found = all.find(pool);
    return found != all.end() && found->second.texts == texts ? found->second.config : nullptr;
  });
  if (known) return known;
  std::shared_ptr<const PoolConfig> config = TRY(parse(texts));
  cache_.with_lock([&](auto& all) { all[pool] = {std::move(texts), config}; });
  return config;
}

Result<RenderedFolder::Texts> RenderedFolder::read_texts(const std::string& pool) {
  const std::string pools = folder_ + "/machine-pools/";
  const std::optional<std::string> text = TRY(files_.read_if_exists(pools + pool + ".yaml"));
  if (!text) {
    // Pools are written last, in the order of their names. If pool master exists and pool arbiter does not, it will not be
    // written. Pool worker always follows: on clouds its machines may ask in between, and give up after 404.
    if (pool != "worker" && TRY(files_.info(pools + "master.yaml"))) return error(Code::not_found, "pool '{}' does not exist", pool);
    return error(Code::unavailable, "the configs are not rendered yet");
  }
  Texts texts{.pool = *text};
  texts.controller = TRY(files_.read(folder_ + "/controller-config/machine-config-controller.yaml"));
  texts.kubeconfig = TRY(files_.read(kubeconfig_file_));
  TRY(read_image(pool, texts));
  return texts;
}

Result<> RenderedFolder::read_image(const std::string& pool, Texts& texts) {
  const auto prebuilt = TRY(machineconfig::read_os_image(
      files_, fmt::format("{}/{}/{}/image.json", folder_, machineconfig::prebuilt_images_name, pool)));
  if (prebuilt) {
    texts.image = prebuilt->image();
    return Ok{};
  }
  const auto wanted =
      TRY(machineconfig::read_os_build(files_, fmt::format("{}/{}/{}/build.json", folder_, machineconfig::os_builds_name, pool)));
  if (!wanted) return Ok{};
  const std::string output = images_folder_ + "/" + pool;
  const auto built = TRY(machineconfig::read_os_image(files_, output + "/image.json"));
  if (built && built->build.name == wanted->name) {
    texts.image = built->image();
    texts.is_image_served = true;
    return Ok{};
  }
  const auto failure =
      TRY(machineconfig::read_os_failure(files_, fmt::format("{}/{}", output, machineconfig::os_build_failure_file)));
  if (failure) {
    // The first line of the reason; the log of the machine has all.
    const std::string& why = failure->message();
    return error(Code::unavailable, "the operating system image of pool {} could not be built: {}", pool,
                 why.substr(0, why.find('\n')));
  }
  return error(Code::unavailable, "the operating system image of pool {} is being built", pool);
}

Result<std::shared_ptr<const PoolConfig>> RenderedFolder::parse(const Texts& texts) {
  const YamlDocument pool = TRY(parse_yaml(texts.pool, "pool"));
  const std::string name = TRY(require_string(pool.value, {"spec", "configuration", "name"}));
  const std::string path = fmt::format("{}/machine-configs/{}.yaml", folder_, name);
  const Json rendered = TRY(read_yaml(files_, path));
  const YamlDocument controller = TRY(parse_yaml(texts.controller, "controller config"));
  PoolConfig config;
  config.rendered = TRY(machineconfig::parse_machine_config(rendered, path));
  config.controller = TRY(machineconfig::parse_controller_config(controller.value, "controller config"));
  config.kubeconfig = Secret(texts.kubeconfig);
  config.image = texts.image;
  config.is_image_served = texts.is_image_served;
  return std::make_shared<const PoolConfig>(std::move(config));
}

Result<> run_bootstrap(const Environment& environment, const Arguments& arguments) {
  std::vector<Flag> table = config_server_flags();
  table.push_back({.name = "server-basedir", .fallback = machineconfig::configs_folder});
  table.push_back({.name = "bootstrap-kubeconfig", .fallback = "/etc/kubernetes/kubeconfig"});
  table.push_back({.name = "os-images-dir", .fallback = machineconfig::os_images_folder});
  const Flags flags = TRY(parse_flags("machine-config-server bootstrap", table, arguments));
  TRY(environment.files.read(flags.text("bootstrap-kubeconfig")));
  const std::string& images = flags.text("os-images-dir");
  RenderedFolder rendered(environment.files, flags.text("server-basedir"), flags.text("bootstrap-kubeconfig"), images);
  return serve_configs(environment, flags, rendered, images);
}

}  // namespace slipway::components::machine_config_server
