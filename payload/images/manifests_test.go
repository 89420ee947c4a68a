package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const daemonSet = `kind: DaemonSet
metadata: {annotations: {version: "0.0.1-snapshot"}}
containers:
- image: example.invalid/r:etcd
  env: [{name: IMAGE, value: "example.invalid/r:pod"}, {name: VERSION, value: 0.0.1-snapshot}]
- image: example.invalid/r:etcd # and example.invalid/r without a component
`

func TestManifestsGetDigestsAndVersion(t *testing.T) {
	digests := map[string]string{"etcd": "example.invalid/r@sha256:1", "pod": "example.invalid/r@sha256:2"}
	image := func(component string) (string, bool) { digest, ok := digests[component]; return digest, ok }
	file := writeFile(t, filepath.Join(t.TempDir(), "0000_20_a.yaml"), daemonSet)
	plain := writeFile(t, filepath.Join(t.TempDir(), "plain.yaml"), "kind: Namespace\n")
	tree := Tree{
		"/release-manifests/0000_20_a.yaml":        entry{source: file},
		"/release-manifests/plain.yaml":            entry{source: plain},
		"/usr/share/slipway/debian-packages.txt":   entry{source: file},
		"/release-manifests/0000_21_in_memory.yml": entry{data: []byte("example.invalid/r:pod")},
	}
	filled, err := fillManifests(tree, "example.invalid/r", "1.2.3", image)
	if err != nil || len(filled) != 3 {
		t.Fatalf("filled are %v (%v), want the three manifests", filled.Names(), err)
	}
	want := `kind: DaemonSet
metadata: {annotations: {version: "1.2.3"}}
containers:
- image: example.invalid/r@sha256:1
  env: [{name: IMAGE, value: "example.invalid/r@sha256:2"}, {name: VERSION, value: 1.2.3}]
- image: example.invalid/r@sha256:1 # and example.invalid/r without a component
`
	if got := string(filled["/release-manifests/0000_20_a.yaml"].data); got != want {
		t.Errorf("manifest is\n%s\nwant\n%s", got, want)
	}
	if got := string(filled["/release-manifests/plain.yaml"].data); got != "kind: Namespace\n" {
		t.Errorf("a manifest without names became %q", got)
	}
	if got := string(filled["/release-manifests/0000_21_in_memory.yml"].data); got != "example.invalid/r@sha256:2" {
		t.Errorf("a manifest in memory became %q", got)
	}
}

func TestManifestsNameEveryUnknownComponent(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "a.yaml"), "example.invalid/r:etcd\n\nexample.invalid/r:ectd example.invalid/r:\n")
	_, err := fillManifests(Tree{"/release-manifests/a.yaml": entry{source: file}}, "example.invalid/r", "1", func(component string) (string, bool) {
		return "", component == "etcd"
	})
	for _, want := range []string{`/release-manifests/a.yaml:3: there is no component "ectd"`, `/release-manifests/a.yaml:3: there is no component ""`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), `"etcd"`) {
		t.Errorf("a known component is in: %v", err)
	}
}

const smallTable = `repository: example.invalid/r
layers:
  tool: {files: {/usr/bin/tool: bin/tool}}
components:
  tool: {layers: [tool], entrypoint: [/usr/bin/tool], description: A tool}
release: {layers: [tool], entrypoint: [/usr/bin/tool], description: All of it, files: {/release-manifests: manifests}}
`

// A release of one component; manifest is one of its manifests, crd its one CRD.
func buildSmallRelease(t *testing.T, manifest, crd string) (output string, err error) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bin", "tool"), "#!/bin/sh\n")
	writeFile(t, filepath.Join(dir, "manifests", "0000_20_a.yaml"), manifest)
	writeFile(t, filepath.Join(dir, "0000_10_a_b.crd.yaml"), crd)
	output = filepath.Join(t.TempDir(), "release")
	return output, Build(Options{
		Components: writeFile(t, filepath.Join(dir, "components.yaml"), smallTable),
		CRDs:       writeFile(t, filepath.Join(dir, "crds.txt"), "0000_10_a_b.crd.yaml\n"),
		Output:     output,
		Version:    "1.2.3",
		Inputs:     Inputs{dir},
		Versions:   map[string]string{},
	}, t.Logf)
}

// fileOf finds a file in any of the layers of a layout.
func fileOf(t *testing.T, layout, name string) string {
	t.Helper()
	blobs, err := filepath.Glob(filepath.Join(layout, "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, blob := range blobs {
		file, err := os.Open(blob)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			continue
		}
		for in := tar.NewReader(unzipped); ; {
			h, err := in.Next()
			if err != nil {
				break
			}
			if h.Name == name {
				text, err := io.ReadAll(in)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
		}
	}
	t.Fatalf("%s is in no layer", name)
	return ""
}

func TestReleaseNamesTheImagesThatItHas(t *testing.T) {
	layout, err := buildSmallRelease(t, "image: example.invalid/r:tool # 0.0.1-snapshot\n", "example.invalid/r:tool 0.0.1-snapshot\n")
	if err != nil {
		t.Fatal(err)
	}
	got := fileOf(t, layout, "release-manifests/0000_20_a.yaml")
	if !regexp.MustCompile(`^image: example\.invalid/r@sha256:[0-9a-f]{64} # 1\.2\.3\n$`).MatchString(got) {
		t.Errorf("manifest is %q", got)
	}
	var stream struct{ Spec struct{ Tags []tag } }
	if err := json.Unmarshal([]byte(fileOf(t, layout, "release-manifests/image-references")), &stream); err != nil {
		t.Fatal(err)
	}
	if want := stream.Spec.Tags[0].From.Name; !strings.Contains(got, want) {
		t.Errorf("manifest is %q, image-references has %s", got, want)
	}
	if got := fileOf(t, layout, "release-manifests/0000_10_a_b.crd.yaml"); got != "example.invalid/r:tool 0.0.1-snapshot\n" {
		t.Errorf("a CRD became %q", got)
	}
}

func TestReleaseIsNotBegunWithAnUnknownImage(t *testing.T) {
	layout, err := buildSmallRelease(t, "image: example.invalid/r:tol\n", "")
	if err == nil || !strings.Contains(err.Error(), `0000_20_a.yaml:1: there is no component "tol"`) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(layout); err == nil {
		t.Error("a layout was made")
	}
}
