#include "data/data.h"

#include "base/template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace slipway {
namespace {

// The names of OpenShift's bootstrap machine (openshift/installer data/data/bootstrap), which users and tools know, and those
// that slipway adds.
constexpr std::string_view expected[] = {
    "files/etc/journal-gateway/haproxy.cfg",
    "files/etc/kubernetes/kubelet-container.conf.d/10-container.conf",
    "files/etc/kubernetes/kubelet.conf",
    "files/etc/motd",
    "files/etc/systemd/system.conf.d/10-default-env-godebug.conf",
    "files/usr/local/bin/approve-csr.sh",
    "files/usr/local/bin/bootkube.sh",
    "files/usr/local/bin/bootstrap-cluster-gather.sh",
    "files/usr/local/bin/bootstrap-service-record.sh",
    "files/usr/local/bin/bootstrap-verify-api-server-urls.sh",
    "files/usr/local/bin/crio-configure.sh",
    "files/usr/local/bin/installer-gather.sh",
    "files/usr/local/bin/installer-masters-gather.sh",
    "files/usr/local/bin/journal-gateway-tls.sh",
    "files/usr/local/bin/journal-gatewayd.sh",
    "files/usr/local/bin/kubelet-pause-image.sh",
    "files/usr/local/bin/kubelet.sh",
    "files/usr/local/bin/release-image-download.sh",
    "files/usr/local/bin/release-image.sh",
    "files/usr/local/bin/report-progress.sh",
    "files/usr/local/bin/wait-for-ha-api.sh",
    "units/approve-csr.service",
    "units/bootkube.service",
    "units/chown-gatewayd-key.service",
    "units/crio-configure.service",
    "units/journal-gateway-tls.service",
    "units/kubelet.service",
    "units/progress.service",
    "units/release-image.service",
    "units/systemd-journal-gatewayd.service.d/certs.conf",
    "units/systemd-journal-gatewayd.socket",
    "units/zincati.service.d/okd-machine-os-disabled.conf",
};

TEST(BootstrapData, HasTheNamesThatAreKnown) {
  std::vector<std::string_view> paths;
  for (const data::File& file : data::bootstrap()) paths.push_back(file.path);
  EXPECT_TRUE(std::ranges::equal(paths, expected)) << testing::PrintToString(paths);
}

TEST(BootstrapData, HasNoOtherHoles) {
  const std::set<std::string> known = {"RELEASE_IMAGE",  "CLUSTER_DOMAIN",    "API_HOST",      "API_INT_HOST",
                                       "SLIPWAY_IMAGES", "BOOTSTRAP_NODE_IP", "NODE_IP_FAMILY"};
  std::set<std::string> used;
  for (const data::File& file : data::bootstrap()) {
    for (const std::string& hole : template_holes(file.content)) {
      EXPECT_TRUE(known.contains(hole)) << file.path << ": " << hole;
      used.insert(hole);
    }
  }
  EXPECT_EQ(used, known);
}

// Ignition does not enable a unit without [Install]. The enabled units start the other ones.
TEST(BootstrapData, EnablesWhatPullsInTheRest) {
  std::set<std::string_view> enabled;
  for (const data::File& file : data::bootstrap()) {
    if (file.path.starts_with("units/") && (file.content.empty() || file.content.find("WantedBy=") != std::string_view::npos)) {
      enabled.insert(file.path.substr(6));
    }
  }
  EXPECT_EQ(enabled,
            (std::set<std::string_view>{"approve-csr.service", "chown-gatewayd-key.service", "journal-gateway-tls.service",
                                        "kubelet.service", "progress.service", "systemd-journal-gatewayd.socket"}));
}

}  // namespace
}  // namespace slipway
