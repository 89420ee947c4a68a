// Types of API objects and their paths.
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>

namespace slipway::kube {

struct ResourceType {
  std::string group;  // "" for the core group
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;

  std::string api_version() const;  // "v1", "apps/v1"
  bool operator==(const ResourceType&) const = default;
};

// The path of a group and version: "/api/v1" or "/apis/apps/v1".
std::string root_of(std::string_view api_version);

// "/apis/apps/v1/namespaces/kube-system/deployments/dns/status"; an empty name or namespace is omitted.
std::string path_of(const ResourceType& type, std::string_view namespace_name, std::string_view name = {},
                    std::string_view subresource = {});

// The domain of API groups, annotations and labels that are slipway's own. Types with this group are records of one program and
// exist in its memory only; annotations of this domain are on objects of the cluster.
inline constexpr std::string_view private_domain = "slipway.internal";

// Types that slipway names itself; others are found by discovery (mapper.h). Defined in the header so that tables of other files
// can contain them. A new type also gets a row in types.cpp.
namespace types {
inline const ResourceType namespaces{"", "v1", "namespaces", "Namespace", false};
inline const ResourceType nodes{"", "v1", "nodes", "Node", false};
inline const ResourceType pods{"", "v1", "pods", "Pod"};
inline const ResourceType services{"", "v1", "services", "Service"};
inline const ResourceType endpoints{"", "v1", "endpoints", "Endpoints"};
inline const ResourceType config_maps{"", "v1", "configmaps", "ConfigMap"};
inline const ResourceType secrets{"", "v1", "secrets", "Secret"};
inline const ResourceType service_accounts{"", "v1", "serviceaccounts", "ServiceAccount"};
inline const ResourceType events{"", "v1", "events", "Event"};

inline const ResourceType volumes{"", "v1", "persistentvolumes", "PersistentVolume", false};
inline const ResourceType volume_claims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};
inline const ResourceType resource_quotas{"", "v1", "resourcequotas", "ResourceQuota"};

inline const ResourceType deployments{"apps", "v1", "deployments", "Deployment"};
inline const ResourceType daemon_sets{"apps", "v1", "daemonsets", "DaemonSet"};
inline const ResourceType stateful_sets{"apps", "v1", "statefulsets", "StatefulSet"};
inline const ResourceType jobs{"batch", "v1", "jobs", "Job"};
inline const ResourceType cron_jobs{"batch", "v1", "cronjobs", "CronJob"};
inline const ResourceType pod_disruption_budgets{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"};
inline const ResourceType network_policies{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"};
inline const ResourceType ingress_classes{"networking.k8s.io", "v1", "ingressclasses", "IngressClass", false};
// Not to be confused with `ingresses`, the settings of the cluster.
inline const ResourceType ingress_objects{"networking.k8s.io", "v1", "ingresses", "Ingress"};
inline const ResourceType priority_classes{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false};
inline const ResourceType storage_classes{"storage.k8s.io", "v1", "storageclasses", "StorageClass", false};
inline const ResourceType storage_drivers{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", false};
inline const ResourceType storage_capacities{"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"};
inline const ResourceType api_services{"apiregistration.k8s.io", "v1", "apiservices", "APIService", false};
inline const ResourceType admission_policies{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
                                             "ValidatingAdmissionPolicy", false};
inline const ResourceType admission_policy_bindings{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
                                                    "ValidatingAdmissionPolicyBinding", false};
inline const ResourceType mutating_webhooks{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                            "MutatingWebhookConfiguration", false};
inline const ResourceType validating_webhooks{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                              "ValidatingWebhookConfiguration", false};
inline const ResourceType endpoint_slices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"};
inline const ResourceType leases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline const ResourceType certificate_requests{"certificates.k8s.io", "v1", "certificatesigningrequests",
                                               "CertificateSigningRequest", false};
inline const ResourceType roles{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
inline const ResourceType role_bindings{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"};
inline const ResourceType cluster_roles{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false};
inline const ResourceType cluster_role_bindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding",
                                                false};
inline const ResourceType custom_resource_definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                                      "CustomResourceDefinition", false};
inline const ResourceType token_reviews{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", false};
inline const ResourceType subject_access_reviews{"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview",
                                                 false};

inline const ResourceType cluster_versions{"config.openshift.io", "v1", "clusterversions", "ClusterVersion", false};
inline const ResourceType cluster_operators{"config.openshift.io", "v1", "clusteroperators", "ClusterOperator", false};
inline const ResourceType infrastructures{"config.openshift.io", "v1", "infrastructures", "Infrastructure", false};
inline const ResourceType networks{"config.openshift.io", "v1", "networks", "Network", false};
inline const ResourceType etcds{"operator.openshift.io", "v1", "etcds", "Etcd", false};
inline const ResourceType etcd_backups{"operator.openshift.io", "v1alpha1", "etcdbackups", "EtcdBackup", false};
inline const ResourceType kube_apiservers{"operator.openshift.io", "v1", "kubeapiservers", "KubeAPIServer", false};
inline const ResourceType kube_controller_managers{"operator.openshift.io", "v1", "kubecontrollermanagers",
                                                   "KubeControllerManager", false};
inline const ResourceType kube_schedulers{"operator.openshift.io", "v1", "kubeschedulers", "KubeScheduler", false};
inline const ResourceType feature_gates{"config.openshift.io", "v1", "featuregates", "FeatureGate", false};
inline const ResourceType schedulers{"config.openshift.io", "v1", "schedulers", "Scheduler", false};
inline const ResourceType dnses{"config.openshift.io", "v1", "dnses", "DNS", false};
inline const ResourceType ingresses{"config.openshift.io", "v1", "ingresses", "Ingress", false};
inline const ResourceType api_servers{"config.openshift.io", "v1", "apiservers", "APIServer", false};
inline const ResourceType authentications{"config.openshift.io", "v1", "authentications", "Authentication", false};
inline const ResourceType images{"config.openshift.io", "v1", "images", "Image", false};
inline const ResourceType node_settings{"config.openshift.io", "v1", "nodes", "Node", false};
inline const ResourceType backups{"config.openshift.io", "v1alpha1", "backups", "Backup", false};
inline const ResourceType proxies{"config.openshift.io", "v1", "proxies", "Proxy", false};

// Operator settings.
inline const ResourceType config_settings{"operator.openshift.io", "v1", "configs", "Config", false};
inline const ResourceType network_settings{"operator.openshift.io", "v1", "networks", "Network", false};
inline const ResourceType dns_settings{"operator.openshift.io", "v1", "dnses", "DNS", false};
inline const ResourceType credential_settings{"operator.openshift.io", "v1", "cloudcredentials", "CloudCredential", false};
inline const ResourceType ingress_controllers{"operator.openshift.io", "v1", "ingresscontrollers", "IngressController"};
inline const ResourceType storages{"operator.openshift.io", "v1", "storages", "Storage", false};
inline const ResourceType service_cas{"operator.openshift.io", "v1", "servicecas", "ServiceCA", false};
inline const ResourceType machine_configurations{"operator.openshift.io", "v1", "machineconfigurations", "MachineConfiguration",
                                                 false};

inline const ResourceType routes{"route.openshift.io", "v1", "routes", "Route"};
inline const ResourceType machine_configs{"machineconfiguration.openshift.io", "v1", "machineconfigs", "MachineConfig", false};
inline const ResourceType machine_config_pools{"machineconfiguration.openshift.io", "v1", "machineconfigpools",
                                               "MachineConfigPool", false};
inline const ResourceType controller_configs{"machineconfiguration.openshift.io", "v1", "controllerconfigs", "ControllerConfig",
                                             false};
inline const ResourceType machine_config_nodes{"machineconfiguration.openshift.io", "v1", "machineconfignodes",
                                               "MachineConfigNode", false};
inline const ResourceType machine_os_configs{"machineconfiguration.openshift.io", "v1", "machineosconfigs", "MachineOSConfig",
                                             false};
inline const ResourceType machine_os_builds{"machineconfiguration.openshift.io", "v1", "machineosbuilds", "MachineOSBuild",
                                            false};
inline const ResourceType kubelet_configs{"machineconfiguration.openshift.io", "v1", "kubeletconfigs", "KubeletConfig", false};
inline const ResourceType runtime_configs{"machineconfiguration.openshift.io", "v1", "containerruntimeconfigs",
                                          "ContainerRuntimeConfig", false};
inline const ResourceType credentials_requests{"cloudcredential.openshift.io", "v1", "credentialsrequests", "CredentialsRequest"};
}  // namespace types

// The type of an object, by its apiVersion and kind; null for types without a name above.
const ResourceType* find_type(const Json& object);

}  // namespace slipway::kube
