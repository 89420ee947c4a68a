module a.slipway/first

go 1.26.0

require k8s.io/kubectl v0.0.0
