#include "components/render/manifest_filter.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

// The annotations in addition to the one that includes a manifest, and why the manifest is then left out.
struct Case {
  const char* name;
  JsonObject annotations;
  const char* reason;  // "" if it applies
};

TEST(ManifestFilter, JudgesByEveryAnnotation) {
  const ManifestFilter filter{.exclude_id = "hyper",
                              .gates = ManifestFilter::Names{"On"},
                              .capabilities = ManifestFilter::Names{"Ingress", "Build"},
                              .major = 4};
  const Case cases[] = {
      {"included", {}, ""},
      {"excluded", {{"exclude.release.openshift.io/hyper", "true"}}, "excluded from hyper"},
      {"excluded for others", {{"exclude.release.openshift.io/other", "true"}}, ""},
      {"default", {{"release.openshift.io/feature-set", "OKD, Default"}}, ""},
      {"preview",
       {{"release.openshift.io/feature-set", "TechPreviewNoUpgrade"}},
       "for feature set TechPreviewNoUpgrade, not for Default"},
      {"gates on and off", {{"release.openshift.io/feature-gate", "On,-Off"}}, ""},
      {"gate off", {{"release.openshift.io/feature-gate", "On,Off"}}, "feature gate Off is disabled"},
      {"gate on", {{"release.openshift.io/feature-gate", "-On"}}, "feature gate On is enabled"},
      {"capabilities", {{"capability.openshift.io/name", "Ingress+Build"}}, ""},
      {"capability", {{"capability.openshift.io/name", "Ingress+Console"}}, "capability Console is not enabled"},
      {"major", {{"release.openshift.io/major-version", "4,5"}}, ""},
      {"other major", {{"release.openshift.io/major-version", "5"}}, "for major version 5, not for 4"},
  };
  for (const Case& each : cases) {
    JsonObject annotations = each.annotations;
    annotations["include.release.openshift.io/self-managed-high-availability"] = "true";
    const Json manifest = {{"metadata", {{"annotations", annotations}}}};
    EXPECT_EQ(reason_to_leave_out(manifest, filter).value_or(""), each.reason) << each.name;
  }
}

TEST(ManifestFilter, NeedsAnnotationsAndTheProfile) {
  EXPECT_EQ(reason_to_leave_out(Json{{"metadata", {{"name", "x"}}}}, {}).value_or(""), "has no annotations");
  const Json other = {{"metadata", {{"annotations", {{"include.release.openshift.io/ibm-cloud-managed", "true"}}}}}};
  EXPECT_EQ(reason_to_leave_out(other, {}).value_or(""), "not for cluster profile self-managed-high-availability");
  EXPECT_FALSE(reason_to_leave_out(other, {.profile = "ibm-cloud-managed"}));
}

TEST(ManifestFilter, LeavesAloneWhatItIsNotToldToJudge) {
  const Json manifest = {{"metadata",
                          {{"annotations",
                            {{"include.release.openshift.io/self-managed-high-availability", "true"},
                             {"release.openshift.io/feature-gate", "Off"},
                             {"capability.openshift.io/name", "Console"},
                             {"release.openshift.io/major-version", "9"}}}}}};
  EXPECT_FALSE(reason_to_leave_out(manifest, {}));
}

}  // namespace
}  // namespace slipway::components
