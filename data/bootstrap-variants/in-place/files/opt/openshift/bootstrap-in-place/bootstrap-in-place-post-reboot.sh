#!/usr/bin/env bash
# On the installed machine, from its first boot until the cluster is available: finishes what a bootstrap machine would do for its
# masters, then removes what only that needed, itself too.

set -euo pipefail
export KUBECONFIG=/etc/kubernetes/bootstrap-secrets/kubeconfig
ask() { timeout 60 kubectl --request-timeout=30s "$@"; }
# WHAT COMMAND...: until it succeeds.
until_done() {
    local what="$1"
    shift
    until "$@"; do
        echo "not yet: $what"
        sleep 5
    done
}

wait_for_api() { until_done "the API server answers" ask get --raw=/readyz >/dev/null; }

# Who waits for the bootstrap, finds this object.
report_complete() {
    local status
    status=$(ask get configmap bootstrap --namespace=kube-system --ignore-not-found --output=jsonpath='{.data.status}') || return
    [[ $status == complete ]] || ask create configmap bootstrap --namespace=kube-system --from-literal=status=complete
}

# Held by pods of the live system, which never give them back.
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

# Requests for the kubelet of this machine, and no others.
approve() {
    local name signer user own
    own="system:node:$(hostname)"
    while read -r name signer user; do
        case "$signer $user" in
            "kubernetes.io/kube-apiserver-client-kubelet system:serviceaccount:openshift-machine-config-operator:node-bootstrapper" | \
                "kubernetes.io/kube-apiserver-client-kubelet $own" | "kubernetes.io/kubelet-serving $own")
                ask certificate approve "$name" || true
                ;;
        esac
    done < <(ask get csr --output=go-template='{{range .items}}{{if not .status.conditions}}{{.metadata.name}} {{.spec.signerName}} {{.spec.username}}{{"\n"}}{{end}}{{end}}')
}

# What a master is called. Where the kubelet may not say so, nobody else can: operators run on masters only, the one of machines too.
label() {
    local name
    name=$(node)
    [[ -n $name ]] && ask label node "$name" node-role.kubernetes.io/master= node-role.kubernetes.io/control-plane= --overwrite
}

# Operators put pods of their revisions in the places of the first ones, under the same file names. A kubelet that saw those die may
# not start the others, and without them nobody answers here: a fresh one does.
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
    /usr/local/bin/bootstrap-in-place-post-reboot.sh /usr/local/bin/installer-gather.sh /usr/local/bin/installer-masters-gather.sh
systemctl disable bootkube.service
