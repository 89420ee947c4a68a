// cluster_network_tool network|dns: prints what the operator would create from the objects on standard input (YAML), as a JSON
// list.
#include "base/yaml.h"
#include "components/dns/operator.h"
#include "components/network/operator.h"

#include <cstdio>
#include <iostream>
#include <iterator>

namespace {

using namespace slipway;

Result<Json> run(std::string_view which) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  components::View view;
  for (const YamlDocument& document : TRY(parse_yaml_documents(text, "standard input"))) view.put(document.value);
  const components::WorkloadOperator work = which == "dns"
                                                ? components::dns::make_operator("coredns")
                                                : components::network::make_operator({"flannel", "kube-proxy", "policy-agent"});
  JsonArray objects;
  for (const components::DesiredObject& desired : TRY(work.desired_state(view.snapshot(), WallTime())).plan.desired_objects)
    objects.push_back(desired.object);
  return Json(std::move(objects));
}

}  // namespace

int main(int argc, char** argv) {
  const Result<Json> made = run(argc > 1 ? argv[1] : "");
  if (!made.ok()) {
    fmt::print(stderr, "{}\n", made.error().message());
    return 1;
  }
  fmt::print("{}", emit_json(made.value(), JsonStyle::pretty));
  return 0;
}
