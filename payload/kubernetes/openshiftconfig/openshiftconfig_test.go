package openshiftconfig

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// known is a small Kubernetes: enough names to be kept, dropped, locked and dependent.
var known = Known{
	FeatureGates: map[string]Gate{
		"AllAlpha":                  {},
		"ContextualLogging":         {Default: true},
		"DynamicResourceAllocation": {Default: true, Locked: true},
		"DRAChild":                  {Default: true, Needs: []string{"DRAParent"}},
		"DRAGrandchild":             {Default: true, Needs: []string{"DRAChild"}},
		"DRAParent":                 {Default: true},
		"FutureChild":               {Needs: []string{"FutureParent"}},
		"FutureParent":              {},
		"ImageVolume":               {Default: true},
		"MutatingAdmissionPolicy":   {},
		"SELinuxMount":              {},
	},
	AdmissionPlugins: []string{
		"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "DefaultIngressClass", "DefaultStorageClass",
		"DefaultTolerationSeconds", "LimitRanger", "MutatingAdmissionWebhook", "NamespaceLifecycle", "NodeRestriction",
		"OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "PodNodeSelector", "PodTolerationRestriction",
		"Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
	},
	AuthorizationModes: []string{"ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"},
	Controllers:        []string{"bootstrap-signer-controller", "bootstrapsigner", "tokencleaner", "ttl"},
}

// directories is what the fake file system holds; a path with no names is a file.
var directories = map[string][]string{
	"/etc/kubernetes/static-pod-resources/configmaps/sa-token-signing-certs":       {"service-account-002.pub", "service-account-001.pub", "README"},
	"/etc/kubernetes/static-pod-resources/configmaps/bound-sa-token-signing-certs": {"service-account-001.pub"},
	"/keys/one.pem": nil,
	"/keys/none":    {"README"},
}

func fakeList(path string) ([]string, bool, error) {
	names, exists := directories[path]
	if !exists {
		return nil, false, errors.New("stat " + path + ": no such file or directory")
	}
	return slices.Clone(names), names != nil, nil
}

func translate(document string, command ...string) (Result, error) {
	return Translate(Input{
		Program: command[0], Path: "config.yaml", Document: []byte(document), Arguments: command[1:],
		Directory: "/private", Known: known, ListDirectory: fakeList,
	})
}

// Each folder of testdata is a case: config.yaml and command.txt (program, then its arguments, a line each) give flags.txt,
// warnings.txt and files/. ACCEPT=1 writes what came out.
func TestGolden(t *testing.T) {
	cases, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range cases {
		t.Run(entry.Name(), func(t *testing.T) {
			folder := filepath.Join("testdata", entry.Name())
			command := strings.Fields(read(t, folder, "command.txt"))
			result, err := translate(read(t, folder, "config.yaml"), command...)
			if err != nil {
				t.Fatal(err)
			}
			again, err := translate(read(t, folder, "config.yaml"), command...)
			if err != nil || !slices.Equal(again.Arguments, result.Arguments) {
				t.Errorf("a second run differs: %v, %v", again.Arguments, err)
			}

			want := map[string]string{"flags.txt": lines(result.Arguments), "warnings.txt": lines(result.Warnings)}
			for _, file := range result.Files {
				want[filepath.Join("files", file.Name)] = string(file.Content)
			}
			for _, name := range sortedKeys(want) {
				check(t, filepath.Join(folder, name), want[name])
			}
			extra, _ := filepath.Glob(filepath.Join(folder, "files", "*"))
			for _, path := range extra {
				if _, made := want[filepath.Join("files", filepath.Base(path))]; !made {
					t.Errorf("%s was not made", path)
				}
			}
		})
	}
}

// check compares with a golden file; nothing is wanted where there is none.
func check(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("ACCEPT") == "1" {
		os.Remove(path)
		if got != "" {
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\n got:\n%s\nwant:\n%s\n(ACCEPT=1 go test rewrites it)", path, got, want)
	}
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func lines(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return strings.Join(texts, "\n") + "\n"
}

// head begins a document whose kind is right.
const head = "apiVersion: kubecontrolplane.config.openshift.io/v1\nkind: KubeAPIServerConfig\n"

func TestMalformedDocuments(t *testing.T) {
	cases := []struct {
		name, program, document string
		want                    []string // each must be in the error
	}{
		{"not YAML", "kube-apiserver", "a: [", []string{"config.yaml", "not valid YAML"}},
		{"a key twice", "kube-apiserver", head + "kind: X\n", []string{"config.yaml", "kind"}},
		{"empty", "kube-apiserver", "", []string{"config.yaml: is empty"}},
		{"a list", "kube-apiserver", "[1]", []string{"config.yaml: is a list"}},
		{"another kind", "kube-apiserver", "kind: Pod\napiVersion: v1\n",
			[]string{`config.yaml: kind: is "Pod"; kube-apiserver reads a document of kind KubeAPIServerConfig`, `apiVersion: is "v1"`}},
		{"another program", "kubelet", "kind: Pod\n", []string{"kubelet reads no such document"}},
		{"arguments are texts", "kube-apiserver", head + "apiServerArguments:\n  anonymous-auth: [true]\n",
			[]string{"apiServerArguments.anonymous-auth[0]: is true or false; it must be a text (put it in quotes)"}},
		{"arguments are lists", "kube-apiserver", head + "apiServerArguments:\n  event-ttl: 3h\n",
			[]string{"apiServerArguments.event-ttl: is a text; it must be a list"}},
		{"a map is wanted", "kube-apiserver", head + "servingInfo: [1]\n", []string{"servingInfo: is a list; it must be a map"}},
		{"every problem at once", "kube-apiserver", head + "servicesSubnet: 7\nauditConfig: {enabled: maybe}\n",
			[]string{"servicesSubnet: is a number", "auditConfig.enabled: is a text; it must be true or false"}},
		{"number with a fraction", "kube-apiserver", head + "servingInfo: {maxRequestsInFlight: 1.5}\n",
			[]string{"servingInfo.maxRequestsInFlight: is a number; it must be a whole number"}},
		{"bind address", "kube-apiserver", head + "servingInfo: {bindAddress: '::1'}\n",
			[]string{`servingInfo.bindAddress: is "::1"; write ADDRESS:PORT`}},
		{"half a certificate", "kube-apiserver", head + "servingInfo: {namedCertificates: [{certFile: a}]}\n",
			[]string{"servingInfo.namedCertificates[0]: has no certFile or no keyFile"}},
		{"keys that are not there", "kube-apiserver", head + "serviceAccountPublicKeyFiles: [/keys/one.pem, /nowhere]\n",
			[]string{"serviceAccountPublicKeyFiles[1]: stat /nowhere"}},
		{"a directory without keys", "kube-apiserver", head + "serviceAccountPublicKeyFiles: [/keys/none]\n",
			[]string{"serviceAccountPublicKeyFiles: no *.pub file in /keys/none"}},
		{"policy that nobody gives", "kube-apiserver", head + "apiServerArguments: {audit-policy-file: [x.yaml]}\n",
			[]string{`apiServerArguments.audit-policy-file: is "x.yaml"`}},
		{"two admission files", "kube-apiserver", head + "apiServerArguments: {admission-control-config-file: [/a]}\n" +
			"admission: {pluginConfig: {PodSecurity: {location: /b}}}\n", []string{"admission.pluginConfig.PodSecurity", "keep one"}},
		{"plugin without a configuration", "kube-apiserver", head + "admission: {pluginConfig: {PodSecurity: {}}}\n",
			[]string{"admission.pluginConfig.PodSecurity: must have either"}},
		{"two webhooks", "kube-apiserver", head + "authConfig: {webhookTokenAuthenticators: [{configFile: /a}, {configFile: /b}]}\n",
			[]string{"authConfig.webhookTokenAuthenticators: has 2 entries"}},
		{"a gate without a value", "kube-apiserver", head + "apiServerArguments: {feature-gates: [ImageVolume]}\n",
			[]string{`feature-gates: "ImageVolume" is not NAME=true or NAME=false`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			result, err := translate(c.document, c.program)
			if err == nil {
				t.Fatalf("no error, but %v", result.Arguments)
			}
			for _, part := range append(c.want, "config.yaml: ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q\ndoes not say %q", err, part)
				}
			}
		})
	}
}

func TestReplace(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	document := filepath.Join(t.TempDir(), "config.yaml")
	keys := t.TempDir()
	os.WriteFile(filepath.Join(keys, "a.pub"), []byte("key"), 0o600)
	os.WriteFile(document, []byte(head+"auditConfig: {enabled: true, policyConfiguration: {kind: Policy}}\n"+
		"consolePublicURL: https://console\nserviceAccountPublicKeyFiles: ["+keys+"]\n"), 0o600)

	for _, flag := range [][]string{{"--openshift-config=" + document}, {"--openshift-config", document}} {
		var warnings bytes.Buffer
		got, err := Replace("kube-apiserver", append(flag, "-v=2"), func() Known { return known }, &warnings)
		if err != nil {
			t.Fatal(err)
		}
		policy := strings.TrimPrefix(got[0], "--audit-policy-file=")
		want := []string{"--audit-policy-file=" + policy, "--authorization-mode=Node,RBAC",
			"--service-account-key-file=" + filepath.Join(keys, "a.pub"), "-v=2"}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if text := read(t, policy); text != "kind: Policy\n" {
			t.Errorf("policy is %q", text)
		}
		for path, mode := range map[string]os.FileMode{policy: 0o600, filepath.Dir(policy): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v; want mode %o", path, info.Mode(), err, mode)
			}
		}
		if line := warnings.String(); !strings.HasPrefix(line, "kube-apiserver: "+document+": ignored fields") {
			t.Errorf("warning is %q", line)
		}
	}
}

func TestReplaceWithoutTheFlag(t *testing.T) {
	arguments := []string{"--v=2", "openshift-config"}
	got, err := Replace("kubectl", arguments, func() Known { panic("not needed") }, nil)
	if err != nil || !slices.Equal(got, arguments) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReplaceFailures(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	os.WriteFile(bad, []byte("kind: Pod\n"), 0o600)
	cases := map[string][]string{
		"needs the path": {"--openshift-config"},
		"given twice":    {"--openshift-config=a", "--openshift-config=b"},
		"no such file":   {"--openshift-config=/nowhere/config.yaml"},
		bad + ": kind":   {"--openshift-config=" + bad},
	}
	for want, arguments := range cases {
		if _, err := Replace("kube-apiserver", arguments, func() Known { return known }, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error is %v, want %q", arguments, err, want)
		}
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
