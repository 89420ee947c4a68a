package main

import (
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/pkg/kubeapiserver/authorizer/modes"
	"k8s.io/kubernetes/pkg/kubeapiserver/options"

	"slipway/payload/kubernetes/openshiftconfig"
)

// knownToKubernetes asks the linked Kubernetes which names it takes. All programs of this file share one set of gates.
func knownToKubernetes() openshiftconfig.Known {
	needs := utilfeature.DefaultMutableFeatureGate.Dependencies()
	gates := map[string]openshiftconfig.Gate{}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		gate := openshiftconfig.Gate{Default: spec.Default, Locked: spec.LockToDefault}
		for _, needed := range needs[name] {
			gate.Needs = append(gate.Needs, string(needed))
		}
		gates[string(name)] = gate
	}
	controllers := controllermanager.KnownControllers()
	for alias := range controllermanager.ControllerAliases() {
		controllers = append(controllers, alias)
	}
	return openshiftconfig.Known{
		FeatureGates:       gates,
		AdmissionPlugins:   options.AllOrderedPlugins,
		AuthorizationModes: modes.AuthorizationModeChoices,
		Controllers:        controllers,
	}
}
