#!/usr/bin/env bash
# Says whether the names of the API lead to a server that is ready. bootkube.service checks the same in its stages
# resolve-api-url, resolve-api-int-url, check-api-url and check-api-int-url; this is for people who look for a failure.

set -uo pipefail
status=0
for host in '{{API_HOST}}' '{{API_INT_HOST}}'; do
    if ! addresses=$(getent ahosts "$host" | awk '!seen[$1]++ { printf "%s ", $1 }') || [[ -z $addresses ]]; then
        echo "$host: the name has no address"
        status=1
        continue
    fi
    # Who the server is does not matter here, and nothing is sent to it.
    answer=$(curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{http_code}' "https://$host:6443/readyz")
    echo "$host: $addresses, /readyz answers $answer"
    [[ $answer == 200 ]] || status=1
done
exit "$status"
