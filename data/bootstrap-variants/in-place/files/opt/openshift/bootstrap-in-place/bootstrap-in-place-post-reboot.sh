#!/usr/bin/env bash
# Runs on the installed machine, from its first boot until the cluster is available. Does the remaining work of a bootstrap
# machine, then removes the files that only this work needed, including itself.

set -euo pipefail
export KUBECONFIG=/etc/kubernetes/bootstrap-secrets/kubeconfig
ask() { timeout 60 kubectl --request-timeout=30s "$@"; }
# WHAT COMMAND...: repeats COMMAND until it succeeds.
until_done() {
    local what="$1"
    shift
    until "$@"; do
        echo "waiting: $what"
        sleep 5
    done
}

# The kubelet of slipway's machines waits for its certificate. Here the API server that signs it is one of the kubelet's own static
# pods, so the kubelet starts without a certificate and asks for it itself. Other releases have such a kubelet.
kubelet_dropin=/run/systemd/system/kubelet.service.d/10-in-place.conf
start_kubelet() {
    [[ -x /usr/local/bin/kubelet-start ]] || return 0
    mkdir -p "${kubelet_dropin%/*}"
    cat >"$kubelet_dropin" <<'END'
[Unit]
ConditionPathExists=
[Service]
ExecStart=
ExecStart=/usr/local/bin/kubelet-start --bootstrap-kubeconfig=/etc/kubernetes/kubeconfig
END
    systemctl daemon-reload
    systemctl stop kubelet-certificate.service
    systemctl --no-block restart kubelet.service
}

wait_for_api() { until_done "the API server answers" ask get --raw=/readyz >/dev/null; }

# Programs that wait for the bootstrap look for this object.
report_complete() {
    local status
    status=$(ask get configmap bootstrap --namespace=kube-system --ignore-not-found --output=jsonpath='{.data.status}') || return
    [[ $status == complete ]] || ask create configmap bootstrap --namespace=kube-system --from-literal=status=complete
}

# Pods of the live system hold these Leases and never release them.
delete_leases() {
    ask delete lease version --namespace=openshift-cluster-version --ignore-not-found &&
        ask delete lease,configmap cluster-policy-controller-lock --namespace=openshift-kube-controller-manager --ignore-not-found &&
        ask delete lease,configmap cluster-policy-controller --namespace=openshift-kube-controller-manager --ignore-not-found
}

restore_overrides() {
    ask patch clusterversion version --type=merge --patch-file=/opt/openshift/original_cvo_overrides.patch
}

node() { ask get nodes --output=jsonpath='{.items[0].metadata.name}' 2>/dev/null || true; }
is_ready() {
    [[ $(ask get nodes --output=jsonpath='{.items[0].status.conditions[?(@.type=="Ready")].status}' 2>/dev/null) == True ]]
}

# Approves requests of this machine's kubelet only.
approve() {
    local name signer user own short
    own="system:node:$(hostname)" short="system:node:$(hostname --short)"
    while read -r name signer user; do
        case "$signer $user" in
            "kubernetes.io/kube-apiserver-client-kubelet system:serviceaccount:openshift-machine-config-operator:node-bootstrapper" | \
                "kubernetes.io/kube-apiserver-client-kubelet $own" | "kubernetes.io/kubelet-serving $own" | \
                "kubernetes.io/kube-apiserver-client-kubelet $short" | "kubernetes.io/kubelet-serving $short")
                ask certificate approve "$name" || true
                ;;
        esac
    done < <(ask get csr --output=go-template='{{range .items}}{{if not .status.conditions}}{{.metadata.name}} {{.spec.signerName}} {{.spec.username}}{{"\n"}}{{end}}{{end}}')
}

# Labels the node as a master. The kubelet may not set this label, and operators run only on masters, also the one that sets
# labels.
label() {
    local name
    name=$(node)
    [[ -n $name ]] && ask label node "$name" node-role.kubernetes.io/master= node-role.kubernetes.io/control-plane= --overwrite
}

# Operators replace the first static pods by pods of their revisions, under the same file names. A kubelet that saw the first pods
# end may not start the new ones, and then no API server runs. A restarted kubelet starts them.
with_revision() { grep --files-with-matches revision /etc/kubernetes/manifests/*-pod.yaml || true; }
seen=$(with_revision)
renew_kubelet() {
    local now
    now=$(with_revision)
    [[ $now != "$seen" ]] || return 0
    systemctl restart kubelet.service
    seen=$now
}
wait_for_node() {
    until is_ready && [[ $seen == */kube-apiserver-pod.yaml* ]]; do
        renew_kubelet
        approve || true
        label || true
        sleep 5
    done
}

is_available() {
    [[ $(ask get clusterversion version --output=jsonpath='{.status.conditions[?(@.type=="Available")].status}' 2>/dev/null) == True ]]
}

start_kubelet
wait_for_api
until_done "the bootstrap is reported" report_complete
until_done "leases of the live system are gone" delete_leases
until_done "the overrides of the user are restored" restore_overrides
wait_for_node
echo "node $(node) is ready"
until is_available; do
    renew_kubelet
    approve || true
    sleep 10
done

rm --recursive --force /etc/kubernetes/bootstrap-configs /etc/kubernetes/bootstrap-secrets /opt/openshift/original_cvo_overrides.patch \
    /usr/local/bin/bootstrap-in-place-post-reboot.sh /usr/local/bin/installer-gather.sh /usr/local/bin/installer-masters-gather.sh \
    "$kubelet_dropin"
systemctl daemon-reload
systemctl disable bootkube.service
