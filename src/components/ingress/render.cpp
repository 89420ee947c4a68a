#include "components/ingress/render.h"

#include "base/flags.h"
#include "data/data.h"

namespace slipway::components::ingress {

namespace {

// The layer openshift-api of the image (images/components.yaml).
constexpr std::string_view crd = "/usr/share/bootkube/manifests/manifests/0000_50_ingress_00_ingresscontrollers-Default.crd.yaml";

}  // namespace

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "output-dir", .required = true, .letter = 'o'}, {.name = "prefix", .letter = 'p'}};
  const Flags flags = TRY(parse_flags("ingress-operator render", table, arguments));
  const std::string& prefix = flags.text("prefix");
  const std::string definition = TRY(environment.files.read(std::string(crd)));
  const std::string_view namespace_text = data::content(data::components(), "ingress/namespace.yaml");
  TRY(environment.files.make_directories(flags.text("output-dir"), 0750));
  const RenderedFiles rendered = {{prefix + "00-custom-resource-definition.yaml", definition, 0640},
                                  {prefix + "00-namespace.yaml", std::string(namespace_text), 0640}};
  return write_rendered(environment.files, flags.text("output-dir"), rendered);
}

}  // namespace slipway::components::ingress
