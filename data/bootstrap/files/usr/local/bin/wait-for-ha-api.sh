#!/usr/bin/env bash
# For manual use. KUBECONFIG: returns when at least two machines serve the API, or at once in a cluster with one control plane
# machine. report-progress.sh waits for the same itself.

set -euo pipefail
kubeconfig="${1:?the path of a kubeconfig is needed}"
ask() { kubectl --kubeconfig="$kubeconfig" "$@"; }

topology=$(ask get infrastructures.config.openshift.io cluster --output=jsonpath='{.status.controlPlaneTopology}')
if [[ $topology != HighlyAvailable ]]; then
    echo "the control plane is $topology: one API server is enough"
    exit 0
fi
coproc ask get endpoints kubernetes --namespace=default --watch --output=jsonpath='{range .subsets[*].addresses[*]}{.ip}{" "}{end}{"\n"}'
watcher=$COPROC_PID
trap 'kill "$watcher" 2>/dev/null || true' EXIT
while read -r -a addresses <&"${COPROC[0]}"; do
    echo "API servers: ${addresses[*]:-none}"
    if [[ ${#addresses[@]} -ge 2 ]]; then
        exit 0
    fi
done
echo "the API server ended the watch" >&2
exit 1
