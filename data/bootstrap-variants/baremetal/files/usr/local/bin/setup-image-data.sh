#!/usr/bin/env bash
# Stores the pull secret as a secret of podman, for the container that reads the machine OS of the release.

set -euo pipefail
podman secret rm pull-secret >/dev/null 2>&1 || true
podman secret create pull-secret /root/.docker/config.json >/dev/null
