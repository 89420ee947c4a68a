#include "bootstrap/renders.h"

#include "bootstrap/stages.h"

#include "base/text.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::bootstrap {
namespace {

using config::ImageMode;

using testing_support::MemoryFiles;

Inputs sample_inputs() {
  Inputs inputs{
      .assets = "/opt/openshift", .release_image = "REL", .version = "VERSION", .kubernetes_version = "KUBERNETES_VERSION"};
  for (const std::string_view name : needed_components) inputs.images.emplace(name, std::string(name));
  inputs.images.emplace(node_tuning_operator, node_tuning_operator);
  return inputs;
}

// "NAME IMAGE PROGRAM", then one argument a line: the arguments of ctr after the mounts.
std::string text_of(const Container& container) {
  return fmt::format("{} {} {}\n  {}\n", container.name, container.image, container.program, join(container.arguments, "\n  "));
}

// The commands of OpenShift's bootkube.sh.template, with names of images instead of digests.
TEST(Renders, CommandsAreThoseOfTheContract) {
  Inputs inputs = sample_inputs();
  std::string text = text_of(api_render(inputs).container);
  for (const Render& render : renders(inputs)) text += text_of(render.container);
  text += text_of(cluster_bootstrap(inputs));
  EXPECT_EQ(text, R"(api-render cluster-config-api /usr/bin/render
  --asset-output-dir=/assets/api-bootstrap
  --rendered-manifest-dir=/assets/manifests
  --cluster-profile=self-managed-high-availability
  --payload-version=VERSION
mco-render machine-config-operator machine-config-operator
  bootstrap
  --root-ca=/assets/tls/root-ca.crt
  --kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt
  --config-file=/assets/manifests/cluster-config.yaml
  --dest-dir=/assets/mco-bootstrap
  --pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml
  --release-image=REL
  --image-references=/assets/image-references
  --payload-version=VERSION
etcd-render cluster-etcd-operator /usr/bin/cluster-etcd-operator
  render
  --asset-output-dir=/assets/etcd-bootstrap
  --cluster-configmap-file=/assets/manifests/cluster-config.yaml
  --etcd-image=etcd
  --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml
  --network-config-file=/assets/manifests/cluster-network-02-config.yml
cvo-render REL cluster-version-operator
  render
  --output-dir=/assets/cvo-bootstrap
  --release-image=REL
  --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml
node-tuning-render cluster-node-tuning-operator cluster-node-tuning-operator
  render
  --asset-input-dir=/assets/manifests
  --asset-output-dir=/assets/node-tuning-bootstrap
kube-apiserver-render cluster-kube-apiserver-operator /usr/bin/cluster-kube-apiserver-operator
  render
  --manifest-etcd-serving-ca=etcd-ca-bundle.crt
  --manifest-etcd-server-urls=https://localhost:2379
  --manifest-image=hyperkube
  --manifest-operator-image=cluster-kube-apiserver-operator
  --asset-input-dir=/assets/tls
  --asset-output-dir=/assets/kube-apiserver-bootstrap
  --config-output-file=/assets/kube-apiserver-bootstrap/config
  --cluster-config-file=/assets/manifests/cluster-network-02-config.yml
  --cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml
  --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml
  --rendered-manifest-files=/assets/manifests
  --payload-version=VERSION
  --operand-kubernetes-version=KUBERNETES_VERSION
kube-controller-render cluster-kube-controller-manager-operator /usr/bin/cluster-kube-controller-manager-operator
  render
  --cluster-policy-controller-image=cluster-policy-controller
  --manifest-image=hyperkube
  --asset-input-dir=/assets/tls
  --asset-output-dir=/assets/kube-controller-manager-bootstrap
  --config-output-file=/assets/kube-controller-manager-bootstrap/config
  --cpc-config-output-file=/assets/kube-controller-manager-bootstrap/cpc-config
  --cluster-config-file=/assets/manifests/cluster-network-02-config.yml
  --rendered-manifest-files=/assets/manifests
  --payload-version=VERSION
kube-scheduler-render cluster-kube-scheduler-operator /usr/bin/cluster-kube-scheduler-operator
  render
  --manifest-image=hyperkube
  --asset-input-dir=/assets/tls
  --asset-output-dir=/assets/kube-scheduler-bootstrap
  --config-output-file=/assets/kube-scheduler-bootstrap/config
config-render cluster-config-operator /usr/bin/cluster-config-operator
  render
  --skip-api-rendering
  --cluster-infrastructure-input-file=/assets/manifests/cluster-infrastructure-02-config.yml
  --cloud-provider-config-output-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml
  --config-output-file=/assets/config-bootstrap/config
  --asset-input-dir=/assets/tls
  --asset-output-dir=/assets/config-bootstrap
  --rendered-manifest-files=/assets/manifests
  --payload-version=VERSION
ingress-render cluster-ingress-operator ingress-operator
  render
  --prefix=cluster-ingress-
  --output-dir=/assets/ingress-operator-manifests
cco-render cloud-credential-operator cloud-credential-operator
  render
  --dest-dir=/assets/cco-bootstrap
  --manifests-dir=/assets/manifests
  --cloud-credential-operator-image=cloud-credential-operator
cluster-bootstrap cluster-bootstrap /cluster-bootstrap
  start
  --tear-down-early=false
  --asset-dir=/assets
  --required-pods=openshift-kube-apiserver/kube-apiserver,openshift-kube-scheduler/openshift-kube-scheduler,openshift-kube-controller-manager/kube-controller-manager,openshift-cluster-version/cluster-version-operator
)");
}

TEST(Renders, OptionalFilesAddFlags) {
  Inputs inputs = sample_inputs();
  inputs.has_cloud_config = inputs.has_cloud_ca = inputs.has_custom_dns = true;
  std::string text;
  for (const Render& render : renders(inputs)) {
    text += text_of(render.container);
    if (render.stage == "mco-bootstrap") {
      EXPECT_EQ(render.needs, (std::vector<std::string>{"config-render"}));
    }
  }
  for (const char* flag : {"--cloud-provider-config-input-file=/assets/manifests/cloud-provider-config.yaml",
                           "--cloud-config-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml",
                           "--cloud-provider-ca-file=/assets/tls/cloud-ca-cert.pem",
                           "--cloud-lb-config-file=/assets/manifests/openshift-lb-config.yaml"}) {
    EXPECT_NE(text.find(std::string("  ") + flag + "\n"), std::string::npos) << flag;
  }
}

TEST(Renders, ImageModeGivesMastersMoreTime) {
  Inputs inputs = sample_inputs();
  EXPECT_FALSE(cluster_bootstrap(inputs).arguments.back().starts_with("--required-pods-timeout"));
  for (const ImageMode mode : {ImageMode::build_on_bootstrap, ImageMode::pre_built}) {
    inputs.image_mode = mode;
    EXPECT_EQ(cluster_bootstrap(inputs).arguments.back(), "--required-pods-timeout=80m");
  }
}

TEST(Renders, InPlaceNothingIsWaitedForAndTheMachineIsSeen) {
  Inputs inputs = sample_inputs();
  inputs.in_place = true;
  EXPECT_EQ(cluster_bootstrap(inputs).arguments.back(), "--required-pods=");
  const Container program = bootstrap_in_place(inputs);
  EXPECT_EQ(text_of(program), R"(bootstrap-in-place cluster-bootstrap /cluster-bootstrap
  bootstrap-in-place
  --asset-dir=/assets
  --input=/assets/bootstrap-in-place/master-update.fcc
  --output=/assets/master.ign
)");
  const std::string command = join(command_of(Runtime::podman, program), " ");
  EXPECT_NE(command.find("--volume /opt/openshift:/assets:rw,z --volume /usr/local/bin:/assets/bin:ro "
                         "--volume /var/lib/etcd:/assets/etcd-data:ro --volume /etc/kubernetes:/assets/kubernetes:ro "),
            std::string::npos)
      << command;
}

// Only the first render may see, and change, the manifests that other renders add to.
TEST(Renders, SeeTheFrozenManifests) {
  const Inputs inputs = sample_inputs();
  const std::vector<Mount> frozen = {{"/opt/openshift", "/assets", true},
                                     {"/opt/openshift/frozen/manifests", "/assets/manifests", false}};
  for (const Render& render : renders(inputs)) EXPECT_EQ(render.container.mounts, frozen) << render.stage;
  EXPECT_EQ(api_render(inputs).container.mounts, (std::vector<Mount>{{"/opt/openshift", "/assets", true}}));
  EXPECT_EQ(cluster_bootstrap(inputs).mounts,
            (std::vector<Mount>{{"/opt/openshift", "/assets", true}, {"/etc/kubernetes", "/etc/kubernetes", true}}));
}

// A manifest that starts a pod is copied after all files that the pod reads.
TEST(Renders, StaticPodsAreTheLastCopy) {
  for (const Render& render : renders(sample_inputs())) {
    if (render.stage == "etcd-bootstrap") {
      EXPECT_EQ(render.copies.back().to, "/etc/kubernetes");
    }
    if (render.stage == "mco-bootstrap") {
      EXPECT_EQ(render.copies.back().to, "/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml");
    }
  }
}

TEST(Renders, OnlyTheVersionOperatorsIsToldOfAClusterProfile) {
  Inputs inputs = sample_inputs();
  for (const Render& render : renders(inputs)) EXPECT_TRUE(render.container.environment.empty()) << render.stage;
  inputs.cluster_profile = "ibm-cloud-managed";
  for (const Render& render : renders(inputs)) {
    const bool has_profile = render.container.environment == std::vector<std::string>{"CLUSTER_PROFILE=ibm-cloud-managed"};
    EXPECT_EQ(has_profile, render.stage == "cvo-bootstrap") << render.stage;
  }
}

constexpr const char* references_head =
    R"({"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"0.1.0"},"spec":{"tags":[)";
constexpr const char* metadata = R"({"kind":"cincinnati-metadata-v0","version":"0.1.0"})";
const std::string digest = "@sha256:" + std::string(64, 'a');

std::string image_references(std::string_view without) {
  std::vector<std::string> tags;
  for (const std::string_view name : needed_components) {
    if (name == without) continue;
    const char* versions = name == "hyperkube" ? R"(,"annotations":{"io.openshift.build.versions":"kubernetes=1.36.3"})" : "";
    tags.push_back(fmt::format(R"({{"name":"{}"{},"from":{{"kind":"DockerImage","name":"r.example.com/{}{}"}}}})", name, versions,
                               name, digest));
  }
  return references_head + join(tags, ",") + "]}}";
}

TEST(ReadInputs, TakesVersionsAndImagesFromTheRelease) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/a/image-references", image_references(""), 0644).ok());
  ASSERT_TRUE(files.write("/a/release-metadata", metadata, 0644).ok());
  ASSERT_TRUE(files.write("/a/tls/cloud-ca-cert.pem", "", 0600).ok());
  const Result<Inputs> inputs = read_inputs(files, "/a", "r.example.com/release" + digest);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message();
  EXPECT_EQ(inputs->version, "0.1.0");
  EXPECT_EQ(inputs->kubernetes_version, "1.36.3");
  EXPECT_EQ(inputs->image("etcd"), "r.example.com/etcd" + digest);
  EXPECT_FALSE(inputs->has_image(node_tuning_operator));
  EXPECT_TRUE(inputs->has_cloud_ca);
  EXPECT_FALSE(inputs->has_cloud_config || inputs->has_custom_dns || inputs->has_overrides);
  EXPECT_FALSE(inputs->in_place || inputs->etcd_stopped);
}

TEST(ReadInputs, KnowsASingleNodeByItsTemplate) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/a/image-references", image_references(""), 0644).ok());
  ASSERT_TRUE(files.write("/a/release-metadata", metadata, 0644).ok());
  ASSERT_TRUE(files.write("/a/bootstrap-in-place/master-update.fcc", "", 0600).ok());
  const std::string image = "r.example.com/release" + digest;
  const Result<Inputs> before = read_inputs(files, "/a", image);
  EXPECT_TRUE(before.ok() && before->in_place && !before->etcd_stopped);
  ASSERT_TRUE(files.write("/etc/kubernetes/etcd-member-pod.yaml", "", 0600).ok());
  const Result<Inputs> after = read_inputs(files, "/a", image);
  EXPECT_TRUE(after.ok() && after->etcd_stopped);
}

TEST(ReadInputs, KnowsThePolicyOfImageMode) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/a/image-references", image_references(""), 0644).ok());
  ASSERT_TRUE(files.write("/a/release-metadata", metadata, 0644).ok());
  const auto mode_of = [&](const std::string& text) -> Result<ImageMode> {
    if (!text.empty()) TRY(files.write("/a/image-mode.json", text, 0644));
    return TRY(read_inputs(files, "/a", "r.example.com/release" + digest)).image_mode;
  };
  EXPECT_EQ(mode_of("").value(), ImageMode::none);
  EXPECT_EQ(mode_of(R"({"policy":"None"})").value(), ImageMode::none);
  EXPECT_EQ(mode_of(R"({"policy":"BuildOnBootstrap"})").value(), ImageMode::build_on_bootstrap);
  EXPECT_EQ(mode_of(R"({"policy":"PreBuilt"})").value(), ImageMode::pre_built);
  EXPECT_EQ(mode_of(R"({"policy":"Other"})").error().code(), Code::invalid);
}

TEST(ReadInputs, SaysWhatIsMissing) {
  MemoryFiles files;
  const std::string release = "r.example.com/release" + digest;
  EXPECT_EQ(read_inputs(files, "/a", release).error().code(), Code::not_found);
  EXPECT_NE(read_inputs(files, "/a", "r.example.com/release:1").error().message().find("must have a digest"), std::string::npos);
  ASSERT_TRUE(files.write("/a/release-metadata", metadata, 0644).ok());
  ASSERT_TRUE(files.write("/a/image-references", image_references("hyperkube"), 0644).ok());
  const Result<Inputs> without = read_inputs(files, "/a", release);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().message(), "release 0.1.0: has no hyperkube, which the bootstrap requires");
  std::string references = image_references("");
  references.replace(references.find("kubernetes=1.36.3"), 17, "etcd=3.6.0");
  ASSERT_TRUE(files.write("/a/image-references", references, 0644).ok());
  const Result<Inputs> unversioned = read_inputs(files, "/a", release);
  ASSERT_FALSE(unversioned.ok());
  EXPECT_EQ(unversioned.error().message(), "release 0.1.0: has no version of Kubernetes");
}

}  // namespace
}  // namespace slipway::bootstrap
