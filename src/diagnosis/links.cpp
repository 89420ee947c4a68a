#include "diagnosis/links.h"

#include "base/check.h"

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

using enum Level;

constexpr Milliseconds none{0};
constexpr Milliseconds minute = std::chrono::minutes(1);

constexpr std::array table = {
    // Conditions
    LinkRow{"api-silent", condition, "the API does not answer this host", 3 * minute,
            "look at the machines of the control plane: `slipway machine list`, `slipway machine console NAME`"},
    LinkRow{"release-failing", condition, "ClusterVersion is Failing", minute,
            "read its message: `kubectl describe clusterversion`"},
    LinkRow{"pool-degraded", condition, "a MachineConfigPool is Degraded", Seconds(30),
            "correct or delete the MachineConfig that it names: `kubectl describe machineconfigpool {}`"},
    LinkRow{"pool-stuck", condition, "a MachineConfigPool is Updating for long", 20 * minute,
            "look at its nodes: `kubectl get nodes`, `kubectl describe machineconfigpool {}`"},
    LinkRow{"route-not-admitted", condition, "the router refuses a Route", Seconds(10), "correct the Route as its message says"},
    LinkRow{"route-unclaimed", condition, "no router has taken a Route", minute,
            "check that an IngressController selects its namespace and labels"},

    // Operators
    LinkRow{"operator-unavailable", cluster_operator, "a ClusterOperator is not Available", 5 * minute,
            "read its message: `kubectl describe clusteroperator {}`"},
    LinkRow{"operator-degraded", cluster_operator, "a ClusterOperator is Degraded", 2 * minute,
            "read its message: `kubectl describe clusteroperator {}`"},
    LinkRow{"operator-stuck", cluster_operator, "a ClusterOperator is Progressing for long", 20 * minute,
            "read its message: `kubectl describe clusteroperator {}`"},

    // Revisions and nodes
    LinkRow{"revision-failed", revision, "a static pod's revision failed on a node", Seconds(20),
            "read the log of the pod and of DaemonSet openshift-static-pod-installer/installer on the node"},
    LinkRow{"static-pod-missing", revision, "a node has no pod of a revision", 3 * minute,
            "read the log of DaemonSet openshift-static-pod-installer/installer on the node"},
    LinkRow{"etcd-no-quorum", revision, "so many masters are off that etcd has no majority", none,
            "start the masters; if they are lost, run `slipway restore`"},

    // What pods and Routes need
    LinkRow{"claim-pending", pod, "a PersistentVolumeClaim that a pod uses is Pending", minute,
            "check its StorageClass and the provisioner: `kubectl describe pvc {}`"},
    LinkRow{"claim-lost", pod, "a PersistentVolumeClaim has lost its volume", none,
            "restore the PersistentVolume, or delete the claim and its pods"},
    LinkRow{"service-missing", pod, "the Service of a Route does not exist", Seconds(30),
            "create Service {}, or correct the Route"},
    LinkRow{"service-empty", pod, "the Service of a Route has no ready pod", Seconds(30),
            "check the selector of Service {} and the readiness of its pods"},

    // Pods and containers
    LinkRow{"pod-unschedulable", pod, "no node takes a pod", Seconds(30),
            "free or add resources, or correct the pod's node selector, affinity or tolerations: `kubectl describe pod {}`"},
    LinkRow{"image-not-pulled", pod, "a container's image cannot be pulled", Seconds(20),
            "check the image's name, the registry and the pull secret; `slipway image load` stores an image in the cluster"},
    LinkRow{"container-out-of-memory", pod, "a container used more memory than its limit", none,
            "raise the container's memory limit, or reduce what it uses"},
    LinkRow{"container-crashing", pod, "a container ends again and again", Seconds(10),
            "read its last output: `kubectl logs --previous {}`"},
    LinkRow{"container-not-created", pod, "a container cannot be created", Seconds(30),
            "correct the container's settings, or create the Secret or ConfigMap that it names"},
    LinkRow{"volume-not-mounted", pod, "a volume of a pod cannot be mounted", minute,
            "create what the volume names, or release it on the other node"},
    LinkRow{"pod-network-missing", pod, "the network of a pod cannot be set up", Seconds(30),
            "look at the pods of openshift-flannel on its node"},
    LinkRow{"container-unhealthy", pod, "a container runs and its probe fails", Seconds(90),
            "read its output: `kubectl logs {}`, and the probe: `kubectl describe pod {}`"},
    LinkRow{"init-container-waits", pod, "an init container does not end", 3 * minute, "read its output: `kubectl logs {}`"},
    LinkRow{"pod-not-started", pod, "the containers of a pod are not created", 5 * minute, "`kubectl describe pod {}`"},
    LinkRow{"pod-not-deleted", pod, "a pod that was deleted does not go", minute,
            "check its node and its finalizers; with the node gone: `kubectl delete pod --force`"},
    LinkRow{"not-served", pod, "a master's own etcd or API server does not listen, while the API is silent", minute,
            "read its log below /var/log/pods: `slipway machine shell {}`"},

    // Nodes
    LinkRow{"node-missing", node, "a machine runs and has no Node", 3 * minute,
            "look at its kubelet: `slipway machine shell {} -- journalctl --unit kubelet`"},
    LinkRow{"certificate-pending", node, "a certificate request of a node is not approved", minute,
            "see why with `kubectl describe csr {}`; if the node is yours, add it to the machine table or approve the request"},
    LinkRow{"node-silent", node, "a kubelet has stopped to report", Seconds(40),
            "look at the machine: `slipway machine list`, `slipway machine console {}`"},
    LinkRow{"node-not-ready", node, "a kubelet reports that its node is not Ready", 2 * minute, "`kubectl describe node {}`"},
    LinkRow{"node-pressure", node, "a node lacks disk space, memory or process numbers", Seconds(10),
            "free what the condition names on {}, or give the machine more"},
    LinkRow{"node-without-network", node, "the network of a node is not set up", minute,
            "look at the pods of openshift-flannel on {}"},
    LinkRow{"config-not-applied", node, "a node cannot apply its MachineConfig", none,
            "correct or delete the MachineConfig that the reason names; {} then applies the next one"},
    LinkRow{"drain-waits", node, "a node is not drained for an update", 10 * minute,
            "look for pods on {} that a PodDisruptionBudget protects: `kubectl get poddisruptionbudgets --all-namespaces`"},

    // Machines
    LinkRow{"machine-off", machine, "the platform says that a machine is off", Seconds(10),
            "start it: `slipway machine start {}`"},
    LinkRow{"machine-broken", machine, "a machine could not be started, or its init died", none,
            "read its console: `slipway machine console {}`"},
    LinkRow{"ignition-failed", machine, "Ignition refused a machine's config", none,
            "correct the config and create the machine again; `slipway machine console {}` has the output of Ignition"},
    LinkRow{"ignition-waits", machine, "a machine waits for its config", 3 * minute,
            "check that the machine-config-server (port 22623) runs and that {} reaches it"},
    LinkRow{"machine-boots", machine, "a machine's start takes long", 3 * minute,
            "see what it waits for: `slipway machine shell {} -- systemctl list-jobs`"},
    LinkRow{"machine-mute", machine, "a machine that is on runs no command", minute,
            "look at its console: `slipway machine console {}`; restart it if it hangs: `slipway machine reboot {}`"},
    LinkRow{"no-address", machine, "a machine has no address", Seconds(30),
            "check the DHCP server of its network, or the settings of its interfaces"},
    LinkRow{"disk-full", machine, "a file system of a machine is full", none, "free space on {}"},
    LinkRow{"memory-short", machine, "a machine has almost no memory left", Seconds(10),
            "end what uses it, or give {} more memory"},
    LinkRow{"clock-differs", machine, "a machine's clock differs from the clock of the host that looks", none,
            "set the clock of {}, and check its time server"},
    LinkRow{"runtime-stopped", machine, "containerd of a machine does not run", Seconds(20),
            "`slipway machine shell {} -- journalctl --unit containerd`, then `systemctl restart containerd`"},
    LinkRow{"kubelet-stopped", machine, "the kubelet of a machine does not run", Seconds(20),
            "`slipway machine shell {} -- journalctl --unit kubelet`, then `systemctl restart kubelet`"},
    LinkRow{"kubelet-frozen", machine, "the kubelet or containerd of a machine is stopped by a signal", Seconds(5),
            "continue it: `slipway machine shell {} -- pkill -CONT 'kubelet|containerd'`"},
    LinkRow{"kubelet-hangs", machine, "the kubelet of a machine runs and does not answer its own health check", minute,
            "`slipway machine shell {} -- systemctl restart kubelet`"},

    // Reachability
    LinkRow{"name-wrong", reachability, "on a machine, a name of the API resolves to other addresses", Seconds(5),
            "check /etc/hosts and /etc/resolv.conf of {}, and the records of its DNS server"},
    LinkRow{"port-closed", reachability, "a machine cannot connect to a port of another one, which serves it", Seconds(5),
            "check for a firewall or a broken link between the machines ({})"},
    LinkRow{"registry-closed", reachability, "a machine gets no answer from the registry, and another one does", Seconds(5),
            "check for a firewall or a broken link between {} and the registry"},
    LinkRow{"machine-cut-off", reachability, "a machine reaches no other machine, and others reach each other", Seconds(5),
            "check the network interface of {}, its cable or bridge, and firewalls"},

    // Host
    LinkRow{"registry-silent", host, "no machine gets an answer from the registry", minute,
            "check that the registry runs; on local machines its log is registry.log in the folder of the cluster"},
    LinkRow{"host-short", host, "the owner of local machines lacks file descriptors, threads or memory", Seconds(10),
            "end other programs of this host, or raise its limits"},
    LinkRow{"all-machines-off", host, "every machine of the cluster is off", none,
            "start them: `slipway machine start --cluster NAME`; their owner process may have ended, or this host was restarted"},
    LinkRow{"way-to-api-broken", host, "machines reach the API, and this host does not", minute,
            "check the forwarded port or the load balancer in front of the API, and the server in auth/kubeconfig"},
};

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case condition: return "condition";
    case cluster_operator: return "operator";
    case revision: return "revision";
    case pod: return "pod";
    case node: return "node";
    case machine: return "machine";
    case reachability: return "reachability";
    case host: return "host";
  }
  return "";
}

std::span<const LinkRow> link_rows() { return table; }

Milliseconds patience_of(const LinkRow& row, Situation situation) {
  constexpr int slowness = 5;
  const bool is_of_speed = row.level < machine || row.patience >= minute;
  return situation == Situation::installing && is_of_speed ? row.patience * slowness : row.patience;
}

const LinkRow& link_row(std::string_view name) {
  const auto* row = std::ranges::find(table, name, &LinkRow::name);
  CHECK(row != table.end());
  return *row;
}

}  // namespace slipway::diagnosis
