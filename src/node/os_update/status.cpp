#include "node/os_update/status.h"

#include "base/number.h"
#include "base/text.h"
#include "node/os_update/image.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::node {

namespace {

constexpr const char* grub_environment_file = "/boot/grub/grubenv";

// What a table says about one deployment. `index` counts from the newest.
std::string state_of(const std::vector<Deployment>& deployments, std::size_t index, std::optional<int> attempts_left) {
  if (deployments[index].booted) return "booted";
  if (index != 0) return "";
  if (!attempts_left) return "boots next";
  if (*attempts_left == 0) return "did not boot three times";
  return fmt::format("boots next, {} of 3 attempts left", *attempts_left);
}

std::string conclusion(const std::vector<Deployment>& deployments, std::optional<int> attempts_left) {
  if (deployments.empty()) return "This machine has no deployments.\n";
  const bool newest_booted = deployments.front().booted;
  if (newest_booted && attempts_left) {
    return fmt::format(
        "The newest deployment is booted, but it has not started completely. The boot loader has {} of 3 attempts left.\n",
        *attempts_left);
  }
  if (newest_booted || !attempts_left || *attempts_left > 0) return "";
  return "The boot loader uses the deployment before the newest one until the next deployment. Why the newest one failed: "
         "journalctl --list-boots, then journalctl --boot=ID; or the log of the machine's console.\n";
}

}  // namespace

std::optional<int> parse_attempts_left(std::string_view grub_environment) {
  constexpr std::string_view name = "boot_counter=";
  for (const std::string_view line : split(grub_environment, '\n')) {
    if (line.starts_with(name)) return parse_number<int>(line.substr(name.size()));
  }
  return std::nullopt;
}

std::string describe_deployments(const std::vector<Deployment>& deployments, std::optional<int> attempts_left) {
  std::size_t width = std::string_view("VERSION").size();
  for (const Deployment& each : deployments) width = std::max(width, each.version.size());
  std::string text = fmt::format("{:<12}  {:<{}}  STATE\n", "COMMIT", "VERSION", width);
  for (std::size_t index = 0; index < deployments.size(); ++index) {
    const Deployment& each = deployments[index];
    const std::string line = fmt::format("{:<12}  {:<{}}  {}", each.commit.substr(0, 12), each.version, width,
                                         state_of(deployments, index, attempts_left));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + conclusion(deployments, attempts_left);
}

Result<std::optional<int>> attempts_left(const Environment& environment) {
  const std::optional<std::string> text = TRY(environment.files.read_if_exists(grub_environment_file));
  return text ? parse_attempts_left(*text) : std::nullopt;
}

Result<> show_os_status(const Environment& environment) {
  std::vector<Deployment> deployments = TRY(read_deployments(environment));
  if (deployments.empty())
    return error(Code::not_found, "ostree admin status lists no deployment; this machine is no OSTree system");
  for (Deployment& each : deployments) {
    const Extensions extensions = TRY(extensions_of(environment, each.commit));
    if (!extensions.names.empty()) each.version += " with " + join(extensions.names, ", ");
  }
  environment.print(describe_deployments(deployments, TRY(attempts_left(environment))));
  return Ok{};
}

}  // namespace slipway::node
