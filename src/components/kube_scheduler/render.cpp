#include "components/kube_scheduler/render.h"

#include "base/yaml.h"
#include "components/render/document.h"
#include "components/render/flags.h"

namespace slipway::components::kube_scheduler {

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("cluster-kube-scheduler-operator render", render_flags("kube-scheduler"), arguments));
  sys::Files& files = environment.files;
  const TemplateValues values = template_values(flags);
  Findings findings;
  // The scheduler uses its default gates. This only checks that given manifests have a FeatureGate for the version.
  const std::vector<std::string> paths = list_of(flags, "rendered-manifest-files");
  if (!paths.empty()) feature_gates(load_manifests(files, paths, findings), flags.text("payload-version"), findings);
  const Json made_config = TRY(fill_document("kube_scheduler/config.yaml", values));
  const Json config = layered(files, flags, made_config, findings);
  TRY(findings.to_result());
  RenderedFiles rendered = TRY(fill_folder("kube_scheduler/manifests", "manifests", values));
  std::string pod = TRY(fill_text("kube_scheduler/pod.yaml", values));
  rendered.push_back({"bootstrap-manifests/kube-scheduler-pod.yaml", std::move(pod)});
  TRY(write_rendered(files, flags.text("asset-output-dir"), rendered));
  return files.write(flags.text("config-output-file"), emit_yaml(config), 0644);
}

}  // namespace slipway::components::kube_scheduler
