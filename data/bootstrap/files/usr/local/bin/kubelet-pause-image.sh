#!/usr/bin/env bash
# Leaves the pause image of the release where OpenShift's kubelet unit looks for it, as an environment file.

set -euo pipefail
PRE_COMMAND=kubelet-pause-image
. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh

pause_image=$(image_for pod)
mkdir -p /etc/kubernetes
echo "MACHINE_CONFIG_INFRA_IMAGE=$pause_image" >/etc/kubernetes/kubelet-pause-image-override
