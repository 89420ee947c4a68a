#include "provider/local/ignition.h"

#include "base/text.h"

#include <algorithm>
#include <array>

namespace slipway::provider::local {

namespace {

// In a mount namespace of its own: $root is the deployment, read-only, where the program comes from; $root/run/target is
// what it writes to: the deployment with its /etc, and the disk's /var, filled as the first boot would: homes of users go to
// /var/home, files below /var/lib get parents with their right owners. Then the stages that do not need block devices;
// Ignition labels what it wrote and fails where SELinux is not configured; Debian has none, and OSTree inside the machine would
// take a configuration for a policy that it has to rebuild. So it is there only as long as Ignition runs.
// "disks" has nothing to do unless the config asks for disks, which a machine of this kind does not have, and then it fails.
constexpr std::string_view apply = R"(set -e
deployment=$1 var=$2 config=$3 root=$4
mount --bind "$deployment" "$root"
mount -o remount,bind,ro "$root"
for folder in dev proc sys; do mount --rbind "/$folder" "$root/$folder"; done
mount -t tmpfs -o mode=0755 firmware "$root/run"
mount -t tmpfs firmware "$root/tmp"
mkdir "$root/run/target"
mount --bind "$deployment" "$root/run/target"
mount --bind "$deployment/usr" "$root/run/target/usr"
mount -o remount,bind,ro "$root/run/target/usr"
mount --bind "$var" "$root/run/target/var"
umask 077
cp "$config" "$root/run/config.ign"
umask 022
chroot "$root" systemd-tmpfiles --root=/run/target --create --boot --prefix=/var
selinux=$root/run/target/etc/selinux
mkdir -p "$selinux" "$root/run/bin"
mount -t tmpfs -o mode=0755 firmware "$selinux"
mkdir -p "$selinux/targeted/contexts/files"
printf 'SELINUX=disabled\nSELINUXTYPE=targeted\n' > "$selinux/config"
: > "$selinux/targeted/contexts/files/file_contexts"
printf '#!/bin/sh\n' > "$root/run/bin/setfiles"
chmod 755 "$root/run/bin/setfiles"
for stage in fetch disks files; do
  PATH=/run/bin:$PATH IGNITION_CONFIG_FILE=/run/config.ign chroot "$root" /usr/lib/dracut/modules.d/30ignition/ignition \
    -platform file -stage "$stage" -root /run/target -config-cache /run/ignition.json -log-to-stdout || exit 99
done
umount "$selinux"
rmdir --ignore-fail-on-non-empty "$selinux")";

constexpr std::array levels = {std::string_view("INFO "), std::string_view("NOTICE "), std::string_view("WARNING "),
                               std::string_view("ERROR "), std::string_view("CRITICAL ")};

// Of the script, when Ignition itself failed and not what stands around it.
constexpr int refused_status = 99;

}  // namespace

Result<> run_ignition(const sys::Context& context, sys::Runner& runner, const IgnitionInput& input,
                      const std::function<void(std::string_view)>& told) {
  const std::string os = input.sysroot + input.deployment.path.substr(0, input.deployment.path.rfind("/deploy/"));
  std::vector<std::string> lines;
  const sys::Output output =
      TRY(runner.run(context, {.argv = {"nsenter", "--net=" + input.network_namespace, "--", "unshare", "--mount",
                                        "--propagation=private", "--", "/bin/sh", "-c", std::string(apply), "ignition",
                                        input.sysroot + input.deployment.path, os + "/var", input.config, input.work_folder},
                               .output_limit = 4096,
                               .on_line = [&](sys::Stream stream, std::string_view line) {
                                 const auto shown = stream == sys::Stream::out ? line_for_people(line) : std::nullopt;
                                 if (!shown) return;
                                 lines.push_back(*shown);
                                 told(*shown);
                               }}));
  if (output.status == 0) return Ok{};
  if (output.status == refused_status) return error(Code::invalid, "Ignition gave up: {}", ignition_reason(lines));
  return error(Code::unavailable, "preparing to run Ignition on {}: status {}: {}", input.machine, output.status,
               trim(output.err));
}

std::optional<std::string> line_for_people(std::string_view line) {
  const bool has_level =
      std::any_of(levels.begin(), levels.end(), [&](std::string_view level) { return line.starts_with(level); });
  if (!has_level) return std::nullopt;
  // `Cmd: "useradd" "--password" "..." Stdout: ""`: of a command that failed only the program is shown.
  const std::size_t command = line.find("Cmd: \""), end = line.find(" Stdout: ", command);
  if (command == std::string_view::npos) return std::string(line);
  const std::size_t program_end = line.find('"', command + 6);
  if (program_end == std::string_view::npos || end == std::string_view::npos) return std::string(line.substr(0, command));
  return fmt::format("{} ...{}", line.substr(0, program_end + 1), line.substr(end));
}

std::string ignition_reason(const std::vector<std::string>& lines) {
  if (lines.empty()) return "it said nothing";
  std::string_view reason = lines.back();
  for (std::string_view prefix : {"CRITICAL :", "Ignition failed:"}) {
    if (reason.starts_with(prefix)) reason = trim(reason.substr(prefix.size()));
  }
  return std::string(reason);
}

}  // namespace slipway::provider::local
