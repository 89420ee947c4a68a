#include "agent/live_config.h"

#include "base/findings.h"
#include "ignition/data_url.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::agent {

namespace {

bool is_root(const ignition::Owner& owner) { return owner.name == "root" || owner.id == 0; }

bool is_in_config(const ignition::Resource& resource) { return !resource.source || resource.source->starts_with("data:"); }

// What a system that runs cannot apply any more.
void refuse_first_boot(const ignition::Config& config, Findings& findings) {
  const auto refuse = [&](bool is_present, std::string_view field) {
    if (is_present) findings.error({}, std::string(field), "only the first boot of a machine can apply it");
  };
  const ignition::ConfigReferences& references = config.ignition.config;
  refuse(!references.merge.empty() || references.replace != ignition::Resource{}, "ignition.config");
  refuse(config.kernel_arguments != ignition::KernelArguments{}, "kernelArguments");
  refuse(!config.storage.disks.empty(), "storage.disks");
  refuse(!config.storage.raid.empty(), "storage.raid");
  refuse(!config.storage.luks.empty(), "storage.luks");
  refuse(!config.storage.filesystems.empty(), "storage.filesystems");
  refuse(!config.storage.links.empty(), "storage.links");
  refuse(!config.passwd.groups.empty(), "passwd.groups");
  refuse(std::ranges::any_of(config.passwd.users, [](const ignition::User& user) { return user.name != "core"; }),
         "passwd.users");
}

Result<std::string> plain_content(const ignition::Resource& resource) {
  if (!resource.compression.value_or("").empty()) return error(Code::invalid, "is compressed, which an appended part cannot be");
  return ignition::decode_data_url(*resource.source);
}

}  // namespace

std::vector<std::string> appended_paths(const ignition::Config& config) {
  std::vector<std::string> paths;
  for (const ignition::File& file : config.storage.files) {
    if (!file.append.empty()) paths.push_back(file.path);
  }
  return paths;
}

Result<machineconfig::MachineConfig> live_config(const ignition::Config& config,
                                                 const std::map<std::string, std::string>& existing) {
  Findings findings;
  refuse_first_boot(config, findings);
  machineconfig::MachineConfig live{.name = "live-bootstrap", .config = config};
  live.config.storage.directories.clear();
  for (std::size_t i = 0; i < live.config.storage.files.size(); ++i) {
    ignition::File& file = live.config.storage.files[i];
    const std::string field = fmt::format("storage.files[{}] ({})", i, file.path);
    if (is_root(file.user)) file.user = {};
    if (is_root(file.group)) file.group = {};
    bool is_complete = is_in_config(file.contents);
    for (const ignition::Resource& part : file.append) is_complete = is_complete && part.source && is_in_config(part);
    if (!is_complete) {
      findings.error({}, field, "its content is not in the config");
      continue;
    }
    if (file.append.empty()) continue;
    std::string content;
    if (file.contents.source) {
      findings.error({}, field, "has contents and appended parts");
      continue;
    }
    if (const auto old = existing.find(file.path); old != existing.end()) content = old->second;
    for (const ignition::Resource& part : file.append) {
      const Result<std::string> more = plain_content(part);
      if (!more.ok()) findings.error({}, field, "{}", more.error().message());
      if (more.ok()) content += more.value();
    }
    file.append.clear();
    file.contents = {.source = ignition::encode_data_url(content)};
  }
  TRY(findings.to_result());
  return live;
}

}  // namespace slipway::agent
