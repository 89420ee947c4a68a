package openshiftconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// filteredFlags hold lists of names of which upstream refuses the unknown ones.
var filteredFlags = []string{
	"authorization-mode", "controllers", "disable-admission-plugins", "enable-admission-plugins", "feature-gates",
}

// dropUnknownToKubernetes takes the names that the linked Kubernetes does not know out of filteredFlags.
func (t *translation) dropUnknownToKubernetes() {
	known := t.in.Known
	t.filterNames("enable-admission-plugins", "admission plugins", known.AdmissionPlugins)
	t.filterNames("disable-admission-plugins", "admission plugins", known.AdmissionPlugins)
	t.filterNames("authorization-mode", "authorization modes", known.AuthorizationModes)
	t.filterNames("controllers", "controllers", append([]string{"*"}, known.Controllers...))
	t.filterGates()

	// Upstream allows everybody everything when it is told no mode.
	if t.in.Program == "kube-apiserver" && len(t.flags["authorization-mode"]) == 0 && !t.isGiven("authorization-config") {
		t.flags["authorization-mode"] = []string{"RBAC", "Node"}
	}
	// Node answers kubelets from its own graph; asking it first spares RBAC most of their requests.
	slices.SortStableFunc(t.flags["authorization-mode"], func(a, b string) int {
		return boolOrder(a == "Node", b == "Node")
	})
}

func (t *translation) filterNames(flag, what string, known []string) {
	var kept, dropped []string
	for _, name := range splitList(t.flags[flag]) {
		if slices.Contains(known, strings.TrimPrefix(name, "-")) {
			kept = appendNew(kept, name)
		} else {
			dropped = appendNew(dropped, name)
		}
	}
	if len(dropped) > 0 {
		t.warn("dropped %s that Kubernetes does not know: %s", what, strings.Join(dropped, ", "))
	}
	t.set(flag, kept)
}

func (t *translation) filterGates() {
	chosen := map[string]bool{}
	var names, unknown, locked []string
	for _, item := range splitList(t.flags["feature-gates"]) {
		name, text, _ := strings.Cut(item, "=")
		on, err := strconv.ParseBool(text)
		if err != nil {
			t.doc.problem("feature-gates", "%q is not NAME=true or NAME=false; correct it", item)
			continue
		}
		gate, known := t.in.Known.FeatureGates[name]
		switch {
		case !known:
			unknown = appendNew(unknown, name)
		case gate.Locked && gate.Default != on:
			locked = appendNew(locked, fmt.Sprintf("%s=%t", name, on))
		default:
			names = appendNew(names, name)
			chosen[name] = on
		}
	}
	if len(unknown) > 0 {
		t.warn("dropped feature gates that Kubernetes does not know: %s", strings.Join(unknown, ", "))
	}
	if len(locked) > 0 {
		t.warn("dropped feature gates that Kubernetes has locked to the other value: %s", strings.Join(locked, ", "))
	}

	// OpenShift's list of gates is made for another version: a gate may be off that one which is on needs, and upstream
	// refuses that pair. AllAlpha and AllBeta turn on more than can be seen here, and are left to upstream.
	_, allAlpha := chosen["AllAlpha"]
	_, allBeta := chosen["AllBeta"]
	for !allAlpha && !allBeta {
		broken, needed := t.brokenGate(chosen)
		if broken == "" {
			break
		}
		names = appendNew(names, broken)
		chosen[broken] = false
		t.warn("turned off feature gate %s: it needs %s, which is off", broken, needed)
	}

	var kept []string
	for _, name := range names {
		kept = append(kept, fmt.Sprintf("%s=%t", name, chosen[name]))
	}
	t.set("feature-gates", kept)
}

// brokenGate returns the first gate that is on without one that it needs, or nothing.
func (t *translation) brokenGate(chosen map[string]bool) (broken, needed string) {
	gates := t.in.Known.FeatureGates
	isOn := func(name string) bool {
		if on, decided := chosen[name]; decided {
			return on
		}
		return gates[name].Default
	}
	for _, name := range sortedKeys(gates) {
		if !isOn(name) || gates[name].Locked {
			continue
		}
		for _, needed := range gates[name].Needs {
			if !isOn(needed) {
				return name, needed
			}
		}
	}
	return "", ""
}

func (t *translation) warn(format string, arguments ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, arguments...))
}

// set gives a flag its values, or takes it away when there are none.
func (t *translation) set(flag string, values []string) {
	if len(values) == 0 {
		delete(t.flags, flag)
		return
	}
	t.flags[flag] = values
}

// splitList takes a list whose items may be lists with commas.
func splitList(values []string) []string {
	var out []string
	for _, value := range values {
		for _, item := range strings.Split(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				out = append(out, item)
			}
		}
	}
	return out
}

func appendNew(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

// boolOrder sorts true before false.
func boolOrder(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
