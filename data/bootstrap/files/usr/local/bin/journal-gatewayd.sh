#!/usr/bin/env bash
# The journal over HTTPS, for those who have a certificate of the installer's authority.
#
# Debian's gatewayd cannot ask for certificates. There it serves this machine only, as its socket in the machine OS says, and
# journal-gateway-tls.service stands in front of it.

gatewayd=/usr/lib/systemd/systemd-journal-gatewayd
tls=/opt/openshift/tls
if $gatewayd --trust=$tls/root-ca.crt --version >/dev/null 2>&1; then
    exec $gatewayd --key=$tls/journal-gatewayd.key --cert=$tls/journal-gatewayd.crt --trust=$tls/root-ca.crt
fi
exec $gatewayd
