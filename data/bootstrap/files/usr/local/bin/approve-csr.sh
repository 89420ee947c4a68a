#!/usr/bin/env bash
# KUBECONFIG: approves certificate requests of the machines of this cluster only, until the bootstrap is complete.

set -euo pipefail
exec /usr/local/bin/slipway-node approve-csr "$1" --machines=/opt/openshift/manifests/machine-addresses.yaml --until=/opt/openshift/.bootkube.done
