#!/usr/bin/env bash
# installer-gather.sh sources this file. It gathers objects of the API.

# FOLDER: gathers into FOLDER/resources; nothing if the API does not answer.
cluster_bootstrap_gather() {
    local folder="$1/resources" kubeconfig=/opt/openshift/auth/kubeconfig kind jobs=()
    [[ ! -s /etc/kubernetes/bootstrap-secrets/kubeconfig ]] || kubeconfig=/etc/kubernetes/bootstrap-secrets/kubeconfig
    ask() { timeout 20 kubectl --kubeconfig="$kubeconfig" --request-timeout=5s "$@"; }

    if [[ ! -s $kubeconfig ]] || ! timeout 5 kubectl --kubeconfig="$kubeconfig" --request-timeout=3s get --raw=/version >/dev/null; then
        echo "API: does not answer, so no objects of the cluster are collected"
        return 0
    fi
    mkdir -p "$folder"
    ask get --raw=/openapi/v2 | gzip >"$folder/openapi.json.gz" &
    jobs+=($!)
    ask get nodes --output=jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}' >"$folder/nodes.list" &
    jobs+=($!)
    ask get nodes --selector=node-role.kubernetes.io/master \
        --output=jsonpath='{range .items[*]}{.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}' >"$folder/masters.list" &
    jobs+=($!)
    ask get pods --all-namespaces --selector=apiserver=true --output=jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}' \
        >"$folder/api-pods" &
    jobs+=($!)
    ask get pods --all-namespaces \
        --output=jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name}{range .spec.containers[*]} {.name}{end}{"\n"}{end}' >"$folder/containers" &
    jobs+=($!)
    # Names only, never the content.
    ask get secrets --all-namespaces --output=custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,TYPE:.type >"$folder/secrets-names.txt" &
    jobs+=($!)
    ask get secrets --all-namespaces --output=jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name} {.metadata.annotations}{"\n"}{end}' |
        grep --invert-match --extended-regexp 'last-applied-configuration|-(token|dockercfg)-' >"$folder/secrets-names-with-annotations.txt" &
    jobs+=($!)
    # Names only: their files and units are the users'.
    ask get machineconfigs --output=custom-columns=NAME:.metadata.name,ROLE:.metadata.labels.machineconfiguration\\.openshift\\.io/role,CREATED:.metadata.creationTimestamp,OS:.spec.osImageURL \
        >"$folder/machineconfigs.txt" &
    jobs+=($!)
    for kind in apiservices clusteroperators clusterversion configmaps csr endpoints events etcds kubeapiserver kubecontrollermanager kubescheduler \
        leases machines machineconfigpools machineconfignodes machineosbuilds machineosconfigs controllerconfigs kubeletconfigs \
        containerruntimeconfigs namespaces nodes openshiftapiserver persistentvolumeclaims pods rolebindings roles routes services deployments daemonsets jobs; do
        ask get "$kind" --all-namespaces --output=json >"$folder/$kind.json" &
        jobs+=($!)
    done
    # Does not wait for all children: the caller may have a log process that ends only with it.
    wait "${jobs[@]}"
    # Kinds that this cluster does not have.
    find "$folder" -type f -empty -delete
}
