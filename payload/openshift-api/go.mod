module slipway/payload/openshift-api

go 1.26.0

require github.com/openshift/api v0.0.0-20260810132456-8f52beb625b5
