#!/usr/bin/env bash
# Writes the pause image of the release into the environment file that OpenShift's kubelet unit reads.

set -euo pipefail
PRE_COMMAND=kubelet-pause-image
. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh

pause_image=$(image_for pod)
mkdir -p /etc/kubernetes
echo "MACHINE_CONFIG_INFRA_IMAGE=$pause_image" >/etc/kubernetes/kubelet-pause-image-override
