#!/usr/bin/env bash
# Serves the journal over HTTPS, for clients with a certificate of the installer's authority.
#
# Debian's gatewayd cannot require client certificates. There it serves this machine only (its socket in the machine OS), and
# journal-gateway-tls.service checks the certificates in front of it.

gatewayd=/usr/lib/systemd/systemd-journal-gatewayd
tls=/opt/openshift/tls
if $gatewayd --trust=$tls/root-ca.crt --version >/dev/null 2>&1; then
    exec $gatewayd --key=$tls/journal-gatewayd.key --cert=$tls/journal-gatewayd.crt --trust=$tls/root-ca.crt
fi
exec $gatewayd
