#include "components/ingress/render.h"

#include "base/yaml.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::ingress {
namespace {

using testing_support::OperatorEnvironment;

TEST(IngressRender, WritesCrdAndNamespaceUnderThePrefix) {
  OperatorEnvironment world;
  const std::string crd = "/usr/share/bootkube/manifests/manifests/0000_50_ingress_00_ingresscontrollers-Default.crd.yaml";
  world.put(crd, "kind: CustomResourceDefinition\n");
  const Result<> done = run_render(world.environment(), {"--prefix=cluster-ingress-", "-o", "/out"});
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.names("/out"), (std::vector<std::string>{"cluster-ingress-00-custom-resource-definition.yaml",
                                                           "cluster-ingress-00-namespace.yaml"}));
  EXPECT_EQ(world.files.info("/out").value()->mode, 0750u);
  EXPECT_EQ(world.files.info("/out/cluster-ingress-00-namespace.yaml").value()->mode, 0640u);
  const auto space = parse_yaml(world.text("/out/cluster-ingress-00-namespace.yaml"), "x");
  EXPECT_EQ(find_string(space.value().value, {"metadata", "name"}), "openshift-ingress-operator");
}

}  // namespace
}  // namespace slipway::components::ingress
