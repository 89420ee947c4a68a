#!/usr/bin/env bash
# KUBECONFIG: lets the machines of this cluster join, and no others, until the bootstrap is done.

set -euo pipefail
exec /usr/local/bin/slipway-node approve-csr "$1" --machines=/opt/openshift/manifests/machine-addresses.yaml --until=/opt/openshift/.bootkube.done
