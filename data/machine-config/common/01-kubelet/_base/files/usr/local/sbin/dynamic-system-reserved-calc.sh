#!/bin/sh
# Prints what the kubelet reserves for the system on a machine of this size, as the value of its --system-reserved. Used for
# KubeletConfigs with autoSizingReserved.
#
#   dynamic-system-reserved-calc.sh [GIB OF MEMORY [CPUS]]
set -eu

memory=${1:-$(awk '$1 == "MemTotal:" {print int($2 / 1048576)}' /proc/meminfo)}
cpus=${2:-$(getconf _NPROCESSORS_ONLN)}

# Memory: 1 GiB, and 6 % of what exceeds 8 GiB; above 128 GiB only 2 % of what exceeds 120 GiB. CPUs: 0.06, and 0.012 for each
# further one; at least 0.5.
awk -v memory="$memory" -v cpus="$cpus" 'BEGIN {
    more = memory > 8 ? memory - 8 : 0
    gib = 1 + (more <= 120 ? more * 0.06 : 6.72 + (more - 112) * 0.02)
    cpu = sprintf("%.2f", 0.06 + 0.012 * (cpus - 1))
    if (cpu < 0.5) cpu = 0.5
    printf "cpu=%s,memory=%dGi,ephemeral-storage=1Gi\n", cpu, gib + 0.5
}'
