package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	releaseName    = "release"   // the release image among the components
	manifestsLayer = "manifests" // its own layer
)

// tag is one component in image-references.
type tag struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations,omitempty"`
	From        struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"from"`
}

func makeTag(name, repository, versions string, image v1.Descriptor) tag {
	t := tag{Name: name}
	if versions != "" {
		t.Annotations = map[string]string{versionsKey: versions}
	}
	t.From.Kind, t.From.Name = "DockerImage", repository+"@"+image.Digest.String()
	return t
}

// addDocuments puts the two documents into the tree that make an image a release: which image a component name stands
// for, and which version this is.
func addDocuments(tree Tree, version, description string, tags []tag) error {
	references, err := json.MarshalIndent(map[string]any{
		"kind":       "ImageStream",
		"apiVersion": "image.openshift.io/v1",
		"metadata":   map[string]any{"name": version},
		"spec":       map[string]any{"lookupPolicy": map[string]any{"local": false}, "tags": tags},
	}, "", "  ")
	if err != nil {
		return err
	}
	metadata, err := json.MarshalIndent(map[string]any{
		"kind":     "cincinnati-metadata-v0",
		"version":  version,
		"previous": []string{},
		"metadata": map[string]string{"description": description},
	}, "", "  ")
	tree["/release-manifests/image-references"] = entry{data: references}
	tree["/release-manifests/release-metadata"] = entry{data: metadata}
	return err
}

// Manifests are applied in the order of their names; group 1 is the component that a manifest belongs to.
var manifestName = regexp.MustCompile(`^0000_[0-9]{2}_([a-z0-9-]+?)_.*\.crd\.yaml$`)

// addCRDs puts the CRDs of a list into a tree, byte by byte as they are.
//
//	list     a line a CRD: its path among the inputs and, where its file name is no manifest name, the one it gets; # comments
//	place    says where one goes, by its component and its manifest name
//	errors   every line that names no file or no manifest name
func addCRDs(tree Tree, list string, inputs Inputs, place func(component, name string) string) error {
	file, err := os.Open(list)
	if err != nil {
		return fmt.Errorf("reading the list of CRDs: %w", err)
	}
	defer file.Close()
	var wrong problems
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		source, err := inputs.Find(fields[0], "")
		if err != nil {
			wrong.add("%s:%d: %w", list, number, err)
		}
		component, name, err := crdName(fields)
		target := place(component, name)
		if err != nil {
			wrong.add("%s:%d: %w", list, number, err)
		} else if _, twice := tree[target]; twice {
			wrong.add("%s:%d: %s is in the list twice", list, number, path.Base(target))
		}
		tree[target] = entry{source: source}
	}
	return errors.Join(wrong.err(), lines.Err())
}

// crdName is the manifest name of a line of the list, and the component in it.
func crdName(fields []string) (component, name string, err error) {
	name = fields[len(fields)-1]
	if len(fields) == 1 {
		name = path.Base(name)
	}
	match := manifestName.FindStringSubmatch(name)
	if match == nil || len(fields) > 2 {
		return "", "", fmt.Errorf("%q is no manifest name (0000_NN_COMPONENT_....crd.yaml); write one behind the path", name)
	}
	return match[1], name, nil
}

// releaseCRD says where the release image has a CRD: the cluster-version-operator's own in /manifests, which its render
// command reads.
func releaseCRD(component, name string) string {
	if component == "cluster-version-operator" {
		return "/manifests/" + name
	}
	return "/release-manifests/" + name
}
