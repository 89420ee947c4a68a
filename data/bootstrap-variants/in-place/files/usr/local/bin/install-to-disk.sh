#!/usr/bin/env bash
# Installs this machine to its disk with the config that bootkube.service wrote, and reboots it from there.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
cd /opt/openshift

record_service_stage_start wait-for-bootkube
until [[ -e .bootkube.done ]]; do
    sleep 5
done
record_service_stage_success

record_service_stage_start install-to-disk
coreos-installer install --copy-network --ignition-file=master.ign {{INSTALLATION_DISKS}}
record_service_stage_success

shutdown --reboot +1 "The machine is installed and boots from {{INSTALLATION_DISK}}."
touch .install-to-disk.done
