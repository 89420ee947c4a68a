// Package openshiftconfig turns the configuration document of an OpenShift control plane program into command line
// flags of the Kubernetes program of the same name.
//
// OpenShift's fork reads such a document with --openshift-config=FILE; upstream Kubernetes has no such
// flag. Translate is a pure function. Replace reads the document and writes the files that upstream wants
// beside its flags.
package openshiftconfig

import (
	"slices"
	"strings"
)

// Gate is one feature gate as the linked Kubernetes knows it.
type Gate struct {
	Default bool
	Locked  bool     // only Default may be given
	Needs   []string // gates that must be on while this one is on
}

// Known is what the linked Kubernetes accepts. Upstream refuses to start with a name that it does not know, while a
// document of OpenShift names things that only its fork has, so everything else is dropped with a warning.
type Known struct {
	FeatureGates       map[string]Gate
	AdmissionPlugins   []string
	AuthorizationModes []string
	Controllers        []string // names and aliases
}

// Input is all that Translate looks at.
type Input struct {
	Program   string   // kube-apiserver, kube-controller-manager or kube-scheduler
	Path      string   // where the document came from: for messages, and for a scheduler that reads it itself
	Document  []byte   // YAML or JSON
	Arguments []string // what the caller gave besides --openshift-config
	Directory string   // where the caller will put Result.Files
	Known     Known

	// ListDirectory returns the names in a directory in any order, and false for a path that is a file.
	ListDirectory func(path string) (names []string, isDirectory bool, err error)
}

// File is a file that a flag of Result.Arguments refers to.
type File struct {
	Name    string // below Input.Directory
	Content []byte
}

// Result is what the upstream program gets.
type Result struct {
	Arguments []string // in place of Input.Arguments; flags of the document come first, sorted by name
	Files     []File
	Warnings  []string // one sentence each
}

// translation collects the flags of one document.
type translation struct {
	in       Input
	flags    map[string][]string
	files    []File
	warnings []string
	doc      *reader
	caller   callerArguments
}

// Translate makes upstream flags from a document.
//
//	returns   the same result for the same input, whatever the order of the document
//	errors    the document is malformed: every problem in one error, each with file, field and remedy
//
// A flag that the caller gave as well is taken from the caller alone, and what Kubernetes does not know is dropped there too:
// the bootstrap's kube-controller-manager gets its arguments both ways.
func Translate(in Input) (Result, error) {
	doc, err := newReader(in.Path, in.Document)
	if err != nil {
		return Result{}, err
	}
	t := &translation{in: in, flags: map[string][]string{}, doc: doc, caller: splitCallerArguments(in.Arguments)}
	root := doc.root()
	switch in.Program {
	case "kube-apiserver":
		t.expectKind(root, "kubecontrolplane.config.openshift.io/v1", "KubeAPIServerConfig")
		t.apiServer(root)
	case "kube-controller-manager":
		t.expectKind(root, "kubecontrolplane.config.openshift.io/v1", "KubeControllerManagerConfig")
		t.controllerManager(root)
	case "kube-scheduler":
		t.scheduler(root)
	default:
		doc.problem("", "%s reads no such document; give its flags on the command line", in.Program)
	}

	for name := range t.caller.named {
		delete(t.flags, name)
	}
	for _, name := range filteredFlags {
		if values, given := t.caller.filtered[name]; given {
			t.flags[name] = values
		}
	}
	t.dropUnknownToKubernetes()
	if err := doc.err(); err != nil {
		return Result{}, err
	}
	doc.warnAboutUnread(&t.warnings)
	return Result{Arguments: append(t.render(), t.caller.rest...), Files: t.files, Warnings: t.warnings}, nil
}

// isGiven tells whether upstream will get a flag, from the document or from the caller.
func (t *translation) isGiven(flag string) bool {
	_, inDocument := t.flags[flag]
	return inDocument || t.caller.named[flag]
}

func (t *translation) expectKind(root object, apiVersion, kind string) {
	if got := root.text("kind"); got != kind {
		t.doc.problem("kind", "is %q; %s reads a document of kind %s", got, t.in.Program, kind)
	}
	if got := root.text("apiVersion"); got != apiVersion {
		t.doc.problem("apiVersion", "is %q; %s reads documents of %s", got, t.in.Program, apiVersion)
	}
}

// controllerManager covers KubeControllerManagerConfig.
func (t *translation) controllerManager(root object) {
	t.arguments(root, "extendedArguments")
	root.ignore("projectConfig", "serviceServingCert")
}

// scheduler takes upstream's own document, which kube-scheduler reads itself, or one with extendedArguments.
func (t *translation) scheduler(root object) {
	if root.text("kind") == "KubeSchedulerConfiguration" {
		root.ignoreAll()
		t.flags["config"] = []string{t.in.Path}
		return
	}
	root.ignore("apiVersion")
	t.arguments(root, "extendedArguments")
}

// arguments takes a map of flag name to list of values.
func (t *translation) arguments(root object, field string) {
	arguments := root.object(field)
	for _, name := range arguments.names() {
		values := arguments.texts(name)
		if reason, gone := goneArguments[name]; gone {
			t.warn("dropped %s.%s: %s", field, name, reason)
			continue
		}
		if len(values) > 0 {
			t.flags[name] = values
		}
	}
}

// goneArguments are arguments that OpenShift's documents hold and that upstream lacks or is about to lose. Any other
// unknown argument is passed on, so that the program itself refuses a misspelt one.
var goneArguments = map[string]string{
	"enable-logs-handler":                   "deprecated in Kubernetes; the log handler is off without it",
	"kubelet-read-only-port":                "deprecated in Kubernetes; the read-only port is not used",
	"send-retry-after-while-not-ready-once": "only in OpenShift's fork",
	"unsupported-kube-api-over-localhost":   "only in OpenShift's fork",
}

// joinedFlags take several values as one text with commas. Most others take a list either way; some, such as
// service-account-issuer, keep a comma as part of the value, so repeating is the rule.
var joinedFlags = append([]string{"cluster-cidr", "service-cluster-ip-range"}, filteredFlags...)

// render writes the flags sorted by name.
func (t *translation) render() []string {
	var out []string
	for _, name := range sortedKeys(t.flags) {
		values := t.flags[name]
		if slices.Contains(joinedFlags, name) {
			values = []string{strings.Join(values, ",")}
		}
		for _, value := range values {
			out = append(out, "--"+name+"="+value)
		}
	}
	return out
}

// callerArguments is a command line taken apart.
type callerArguments struct {
	named    map[string]bool     // every flag that occurs
	filtered map[string][]string // values of filteredFlags, taken out of rest
	rest     []string
}

func splitCallerArguments(arguments []string) callerArguments {
	out := callerArguments{named: map[string]bool{}, filtered: map[string][]string{}}
	for i := 0; i < len(arguments); i++ {
		name, value, hasValue := flagName(arguments[i])
		if name == "" {
			out.rest = append(out.rest, arguments[i])
			continue
		}
		out.named[name] = true
		if !slices.Contains(filteredFlags, name) {
			out.rest = append(out.rest, arguments[i])
			continue
		}
		if !hasValue && i+1 < len(arguments) {
			i++
			value = arguments[i]
		}
		out.filtered[name] = append(out.filtered[name], strings.Split(value, ",")...)
	}
	return out
}

// flagName takes "--name=value", "--name", "-v=2" and "-v2" apart. The name is empty for what is no flag.
func flagName(argument string) (name, value string, hasValue bool) {
	if long, ok := strings.CutPrefix(argument, "--"); ok {
		name, value, hasValue = strings.Cut(long, "=")
		return strings.ReplaceAll(name, "_", "-"), value, hasValue
	}
	if len(argument) >= 2 && argument[0] == '-' {
		value = strings.TrimPrefix(argument[2:], "=")
		return argument[1:2], value, value != ""
	}
	return "", "", false
}
