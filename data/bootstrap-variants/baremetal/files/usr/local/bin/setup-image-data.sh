#!/usr/bin/env bash
# Makes the pull secret a secret of podman, for the container that looks into the machine OS of the release.

set -euo pipefail
podman secret rm pull-secret >/dev/null 2>&1 || true
podman secret create pull-secret /root/.docker/config.json >/dev/null
