#include "components/render/flags.h"

#include "base/sorted_keys.h"
#include "base/text.h"
#include "components/render/document.h"

#include <algorithm>

namespace slipway::components {

std::vector<Flag> render_flags(std::string_view component, const std::vector<Flag>& more) {
  std::vector<Flag> flags = {
      {.name = "asset-input-dir", .required = true},
      {.name = "asset-output-dir", .required = true},
      {.name = "config-output-file", .required = true},
      {.name = "config-override-files", .repeats = true},
      {.name = "rendered-manifest-files", .repeats = true},
      {.name = "payload-version"},
      {.name = "manifest-namespace", .fallback = fmt::format("openshift-{}", component)},
      {.name = "manifest-image", .required = true},
      {.name = "manifest-operator-image"},
      {.name = "manifest-image-pull-policy", .fallback = "IfNotPresent"},
      {.name = "manifest-config-host-path", .fallback = "/etc/kubernetes/bootstrap-configs"},
      {.name = "manifest-config-file-name", .fallback = fmt::format("{}-config.yaml", component)},
      {.name = "manifest-secrets-host-path", .fallback = "/etc/kubernetes/bootstrap-secrets"},
      {.name = "manifest-cloud-provider-host-path", .fallback = "/etc/kubernetes/cloud"},
  };
  for (const Flag& flag : more) {
    const auto shared = std::ranges::find(flags, flag.name, &Flag::name);
    if (shared == flags.end())
      flags.push_back(flag);
    else
      *shared = flag;
  }
  return flags;
}

std::vector<std::string> list_of(const Flags& flags, std::string_view name) {
  std::vector<std::string> all;
  for (const std::string& value : flags.texts(name)) {
    for (std::string_view part : split(value, ',')) {
      if (!part.empty()) all.emplace_back(part);
    }
  }
  return all;
}

TemplateValues template_values(const Flags& flags) {
  return {{"NAMESPACE", flags.text("manifest-namespace")},
          {"IMAGE", quoted(flags.text("manifest-image"))},
          {"OPERATOR_IMAGE", quoted(flags.text("manifest-operator-image"))},
          {"PULL_POLICY", flags.text("manifest-image-pull-policy")},
          {"CONFIG_FOLDER", quoted(flags.text("manifest-config-host-path"))},
          {"CONFIG_FILE", flags.text("manifest-config-file-name")},
          {"SECRETS_FOLDER", quoted(flags.text("manifest-secrets-host-path"))},
          {"CLOUD_FOLDER", quoted(flags.text("manifest-cloud-provider-host-path"))}};
}

Json layered(sys::Files& files, const Flags& flags, Json config, Findings& findings) {
  for (const std::string& path : list_of(flags, "config-override-files")) {
    config = merge_layers(std::move(config), read_document(files, path, findings));
  }
  return sorted_keys(config);
}

}  // namespace slipway::components
