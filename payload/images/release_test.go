package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestImageReferencesNameByDigest(t *testing.T) {
	digest, size := sha256Of([]byte("manifest"))
	image := v1.Descriptor{Digest: digest, Size: size}
	tree := Tree{}
	err := addDocuments(tree, "1.0.0", "A release", []tag{makeTag("a", "example.invalid/r", "kubernetes=1.2.3", image), makeTag("b", "example.invalid/r", "", image)})
	if err != nil {
		t.Fatal(err)
	}
	text := tree["/release-manifests/image-references"].data
	var stream struct {
		Kind, APIVersion string
		Metadata         struct{ Name string }
		Spec             struct{ Tags []tag }
	}
	if err := json.Unmarshal(text, &stream); err != nil {
		t.Fatal(err)
	}
	if stream.Kind != "ImageStream" || stream.APIVersion != "image.openshift.io/v1" || stream.Metadata.Name != "1.0.0" {
		t.Errorf("document is %s", text)
	}
	a, b := stream.Spec.Tags[0], stream.Spec.Tags[1]
	if a.From.Kind != "DockerImage" || a.From.Name != "example.invalid/r@"+digest.String() {
		t.Errorf("tag a is from %+v", a.From)
	}
	if a.Annotations["io.openshift.build.versions"] != "kubernetes=1.2.3" || b.Annotations != nil {
		t.Errorf("annotations are %v and %v", a.Annotations, b.Annotations)
	}
}

func TestCRDsGoWhereTheyAreApplied(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"config/0000_10_config-operator_01_dnses-Default.crd.yaml", "config/0000_00_cluster-version-operator_01_x.crd.yaml", "routes.crd.yaml"} {
		writeFile(t, filepath.Join(dir, name), name)
	}
	read := func(list string) ([]string, error) {
		tree := Tree{}
		err := addCRDs(tree, writeFile(t, filepath.Join(t.TempDir(), "crds.txt"), list), Inputs{dir}, releaseCRD)
		var names []string
		for name := range tree.Names() {
			names = append(names, name)
		}
		slices.Sort(names)
		return names, err
	}
	got, err := read(`# comment
config/0000_10_config-operator_01_dnses-Default.crd.yaml
config/0000_00_cluster-version-operator_01_x.crd.yaml   # its own

routes.crd.yaml  0000_50_ingress_01_routes.crd.yaml
`)
	want := []string{
		"/manifests/0000_00_cluster-version-operator_01_x.crd.yaml",
		"/release-manifests/0000_10_config-operator_01_dnses-Default.crd.yaml",
		"/release-manifests/0000_50_ingress_01_routes.crd.yaml",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("files are %v (%v), want %v", got, err, want)
	}

	_, err = read("routes.crd.yaml\n\ngone.crd.yaml 0000_10_a_b.crd.yaml\nroutes.crd.yaml 0000_10_a_b.crd.yaml\n")
	for _, want := range []string{
		`crds.txt:1: "routes.crd.yaml" is no manifest name`, "crds.txt:3: input gone.crd.yaml is not in", "crds.txt:4: 0000_10_a_b.crd.yaml is in the list twice"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for args, want := range map[string]string{
		"--components c --crds d --inputs i --output o":                            "--version is missing",
		"--components c --crds d --output o --version 1":                           "--inputs is missing",
		"--components c --crds d --inputs i --output o --version 1 --version-of k": "NAME=VERSION",
		"--components c --crds d --inputs i --output o --version 1 more":           `unexpected argument "more"`,
	} {
		if _, err := parseBuild(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", args, err, want)
		}
	}
}
