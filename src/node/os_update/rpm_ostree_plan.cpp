#include "node/os_update/rpm_ostree_plan.h"

#include "base/text.h"
#include "machineconfig/update_plan.h"

#include <algorithm>
#include <set>
#include <utility>

namespace slipway::node {

namespace {

using machineconfig::MachineConfig;
using Names = std::vector<std::string>;

// The kernel of an image, and the one that replaces it.
const Names& default_kernel() {
  static const Names packages = {"kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-modules-extra"};
  return packages;
}
const Names& realtime_kernel() {
  static const Names packages = {"kernel-rt-core", "kernel-rt-modules", "kernel-rt-modules-extra"};
  return packages;
}

struct Extension {
  std::string_view name;
  Names packages;
};

const std::vector<Extension>& known_extensions() {
  static const std::vector<Extension> table = {
      {"ipsec", {"NetworkManager-libreswan", "libreswan"}},
      {"kerberos", {"krb5-workstation", "libkadm5"}},
      {"kernel-devel", {"kernel-devel", "kernel-headers"}},
      {machineconfig::realtime_extension, realtime_kernel()},
      {"sandboxed-containers", {"kata-containers"}},
      {"sysstat", {"sysstat"}},
      {"two-node-ha", {"fence-agents-all", "pacemaker", "pcs"}},
      {"usbguard", {"usbguard"}},
  };
  return table;
}

bool contains(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

Names without(const Names& names, const Names& others) {
  Names rest;
  std::ranges::copy_if(names, std::back_inserter(rest), [&](const std::string& name) { return !contains(others, name); });
  return rest;
}

Names common(const Names& names, const Names& others) { return without(names, without(names, others)); }

void append(Names& argv, std::string_view option, const Names& values) {
  for (const std::string& value : values) argv.push_back(std::string(option) + value);
}

struct Packages {
  Names of_extensions, of_kernel;
};

Result<Packages> packages_of_config(const MachineConfig& config) {
  TRY(machineconfig::check_kernel_type(config));
  const Names all = TRY(packages_of(machineconfig::wanted_extensions(config)));
  return Packages{.of_extensions = without(all, realtime_kernel()), .of_kernel = common(all, realtime_kernel())};
}

}  // namespace

Result<Names> packages_of(const Names& extensions) {
  Names packages, unknown;
  for (const std::string& name : extensions) {
    const auto found = std::ranges::find(known_extensions(), name, &Extension::name);
    if (found == known_extensions().end()) {
      unknown.push_back(name);
    } else {
      append(packages, "", without(found->packages, packages));
    }
  }
  if (unknown.empty()) return packages;
  Names known;
  for (const Extension& each : known_extensions()) known.emplace_back(each.name);
  return error(Code::invalid, "extensions: {}: unknown on machines with rpm-ostree; known are {}", join(unknown, ", "),
               join(known, ", "));
}

Names argument_options(const Names& from, const Names& to) {
  Names removed = single_arguments(from), added = single_arguments(to);
  if (removed == added) return {};
  Names only_removed = removed, only_added;
  for (const std::string& argument : added) {
    const auto same = std::ranges::find(only_removed, argument);
    if (same == only_removed.end()) {
      only_added.push_back(argument);
    } else {
      only_removed.erase(same);
    }
  }
  const bool differs_only_in_order = only_removed.empty() && only_added.empty();
  Names options;
  append(options, "--delete-if-present=", differs_only_in_order ? removed : only_removed);
  append(options, "--append=", differs_only_in_order ? added : only_added);
  return options;
}

// The kernel of the image returns first, because the repository of the other one may be gone. Each command continues with the
// deployment that the one before has staged.
Result<std::vector<Names>> rpm_ostree_commands(const MachineConfig& from, const MachineConfig& to, const HostDeployment& booted) {
  const Packages before = TRY(packages_of_config(from)), after = TRY(packages_of_config(to));
  const Names added = without(after.of_extensions, booted.packages);
  const Names removed = common(without(before.of_extensions, after.of_extensions), booted.packages);
  std::vector<Names> commands;
  if (after.of_kernel.empty() && !before.of_kernel.empty()) {
    const Names restored = common(default_kernel(), booted.base_removals);
    if (!restored.empty()) {
      Names reset = {"rpm-ostree", "override", "reset"};
      append(reset, "", restored);
      append(reset, "--uninstall=", common(before.of_kernel, booted.packages));
      commands.push_back(std::move(reset));
    }
  }
  if (needs_image(to, booted)) {
    Names rebase = {"rpm-ostree", "rebase", "--experimental", image_in_storage(to.os_image_url)};
    append(rebase, "--uninstall=", removed);
    commands.push_back(std::move(rebase));
  } else if (!removed.empty()) {
    Names uninstall = {"rpm-ostree", "uninstall"};
    append(uninstall, "", removed);
    commands.push_back(std::move(uninstall));
  }
  if (!added.empty()) {
    Names install = {"rpm-ostree", "install", "--idempotent", "--allow-inactive"};
    append(install, "", added);
    commands.push_back(std::move(install));
  }
  if (const Names missing = without(after.of_kernel, booted.packages); !missing.empty()) {
    Names replace = {"rpm-ostree", "override", "remove"};
    append(replace, "", without(default_kernel(), booted.base_removals));
    append(replace, "--install=", missing);
    commands.push_back(std::move(replace));
  }
  if (const Names options = argument_options(from.kernel_arguments, to.kernel_arguments); !options.empty()) {
    Names arguments = {"rpm-ostree", "kargs"};
    append(arguments, "", options);
    commands.push_back(std::move(arguments));
  }
  return commands;
}

std::string image_in_storage(std::string_view image) {
  return "ostree-unverified-image:containers-storage:" + std::string(image);
}

// A repository is enabled unless its file says something else.
Names enabled_repositories(std::string_view file) {
  Names enabled;
  bool is_main = true;
  for (const std::string_view raw : split(file, '\n')) {
    const std::string_view line = trim(raw);
    if (line.starts_with('[') && line.ends_with(']')) {
      const std::string_view name = line.substr(1, line.size() - 2);
      is_main = name == "main";
      if (!is_main) enabled.emplace_back(name);
      continue;
    }
    const std::size_t equals = line.find('=');
    if (is_main || equals == std::string_view::npos || trim(line.substr(0, equals)) != "enabled") continue;
    const std::string value = to_lower(trim(line.substr(equals + 1)));
    if ((value == "0" || value == "false" || value == "no") && !enabled.empty()) {
      enabled.pop_back();
      is_main = true;  // the rest of the section does not matter
    }
  }
  return enabled;
}

// "NAME-VERSION-RELEASE.ARCHITECTURE.rpm": neither the version nor the release has a hyphen.
Names missing_packages(const Names& packages, const Names& files) {
  std::set<std::string, std::less<>> names;
  for (const std::string& file : files) {
    const std::size_t release = file.rfind('-');
    if (!file.ends_with(".rpm") || release == std::string::npos || release == 0) continue;
    const std::size_t version = file.rfind('-', release - 1);
    if (version != std::string::npos) names.insert(file.substr(0, version));
  }
  Names missing;
  std::ranges::copy_if(packages, std::back_inserter(missing),
                       [&](const std::string& package) { return !names.contains(package); });
  return missing;
}

}  // namespace slipway::node
