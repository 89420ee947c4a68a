#!/usr/bin/env bash
# For manual use: prints whether the names of the API resolve to a server that is ready. The stages resolve-api-url,
# resolve-api-int-url, check-api-url and check-api-int-url of bootkube.service check the same.

set -uo pipefail
status=0
for host in '{{API_HOST}}' '{{API_INT_HOST}}'; do
    if ! addresses=$(getent ahosts "$host" | awk '!seen[$1]++ { printf "%s ", $1 }') || [[ -z $addresses ]]; then
        echo "$host: resolves to no address"
        status=1
        continue
    fi
    # The identity of the server does not matter here, and the request contains no secrets.
    answer=$(curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{http_code}' "https://$host:6443/readyz")
    echo "$host: $addresses, /readyz answers $answer"
    [[ $answer == 200 ]] || status=1
done
exit "$status"
