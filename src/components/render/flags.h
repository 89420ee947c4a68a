// Flags that the render commands of kube-apiserver, kube-controller-manager and kube-scheduler share.
#pragma once

#include "base/flags.h"
#include "base/template.h"
#include "components/render/inputs.h"

namespace slipway::components {

// component: "kube-apiserver". `more` are the command's own flags; a flag of the same name replaces a shared one.
std::vector<Flag> render_flags(std::string_view component, const std::vector<Flag>& more = {});

// The values of a list flag, which may be repeated, separated by commas, or both.
std::vector<std::string> list_of(const Flags& flags, std::string_view name);

// The values of the flags that pods and manifests use: NAMESPACE, IMAGE, OPERATOR_IMAGE, PULL_POLICY, CONFIG_FOLDER, CONFIG_FILE,
// SECRETS_FOLDER, CLOUD_FOLDER.
TemplateValues template_values(const Flags& flags);

// The config merged with the layers of --config-override-files, with sorted keys.
Json layered(sys::Files& files, const Flags& flags, Json config, Findings& findings);

}  // namespace slipway::components
