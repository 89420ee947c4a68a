#!/usr/bin/env bash
# KUBECONFIG: records in the cluster that the bootstrap is complete.

set -euo pipefail
exec /usr/local/bin/slipway-node report-progress "$1"
