package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Table is images/components.yaml: what the images of a release are made of.
//
//	repository: registry.slipway.invalid/slipway/release
//	layers:
//	  etcd: {files: {/usr/bin/etcd: bin/etcd}, made_by: make -C payload etcd}
//	components:
//	  etcd: {layers: [debian, etcd], entrypoint: [/usr/bin/etcd], description: The database of the cluster}
//	release: {layers: [debian, slipway], entrypoint: [/usr/bin/cluster-version-operator], description: ...}
type Table struct {
	Repository  string            `yaml:"repository"`
	Environment map[string]string `yaml:"environment"` // of every image
	Layers      map[string]*Layer `yaml:"layers"`
	Components  map[string]*Image `yaml:"components"`
	Release     *Image            `yaml:"release"`
}

// Layer is made once and shared by all images that name it. It has either a tar or files, links and CRDs.
type Layer struct {
	Tar    string              `yaml:"tar"`     // a tar among the inputs, taken as it is
	Files  map[string]string   `yaml:"files"`   // path in the image: path among the inputs, of a file or a directory
	Links  map[string][]string `yaml:"links"`   // path in the image: further names of it
	CRDs   string              `yaml:"crds"`    // directory in the image that gets every CRD of the list (--crds)
	MadeBy string              `yaml:"made_by"` // the command that makes the inputs, for the message about a missing one
}

// Image is one image manifest: layers from the bottom up and how a container of it starts.
type Image struct {
	Layers      []string          `yaml:"layers"`
	Entrypoint  []string          `yaml:"entrypoint"`
	Command     []string          `yaml:"command"` // instead of an entrypoint, for images whose callers name the program
	Environment map[string]string `yaml:"environment"`
	Versions    []string          `yaml:"versions"` // names of --version-of, for the label io.openshift.build.versions
	Labels      map[string]string `yaml:"labels"`
	Extensions  bool              `yaml:"extensions"` // each layer is an extension of the machine OS, by its name; nothing starts it
	Description string            `yaml:"description"`
	Files       map[string]string `yaml:"files"` // release only: more files of its manifests layer, as in Layer
}

// startsRight says whether the image has an entrypoint or a command, or needs none.
func (i *Image) startsRight() bool {
	hasEntrypoint, hasCommand := len(i.Entrypoint) > 0, len(i.Command) > 0
	if i.Extensions {
		return !hasEntrypoint && !hasCommand
	}
	return hasEntrypoint != hasCommand
}

// ReadTable reads and checks a table.
//
//	versions  the names that `versions:` of an image may use
//	errors    what does not parse, or every mistake of the table, each with its line
func ReadTable(file string, versions map[string]string) (*Table, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the table of images: %w", err)
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	var table Table
	if err := decoder.Decode(&table); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var lines yaml.Node
	if err := yaml.Unmarshal(text, &lines); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var wrong problems
	table.check(versions, func(what string, where ...string) {
		wrong.add("%s:%d: %s: %s", file, lineOf(&lines, where...), strings.Join(where, "."), what)
	})
	return &table, wrong.err()
}

// check tells add of every mistake and of the path of the field that has it.
func (t *Table) check(versions map[string]string, add func(what string, where ...string)) {
	if t.Repository == "" {
		add("is missing; it is the name under which the release knows its images", "repository")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Layers)) {
		layer := t.Layers[name]
		if layer == nil || (layer.Tar == "") == (len(layer.Files)+len(layer.Links) == 0 && layer.CRDs == "") {
			add("must have either a tar or files, links and CRDs", "layers", name)
			continue
		}
		if name == manifestsLayer {
			add("this name is the release image's own", "layers", name)
		}
		checkPaths(layer.Files, layer.Links, add, "layers", name)
		if layer.CRDs != "" {
			checkPath(layer.CRDs, add, "layers", name, "crds")
		}
	}
	check := func(image *Image, where ...string) {
		if image == nil || len(image.Layers) == 0 || image.Description == "" || !image.startsRight() {
			add("must have layers, an entrypoint or a command, and a description; an image of extensions has no entrypoint and no command", where...)
			return
		}
		for _, layer := range image.Layers {
			if t.Layers[layer] == nil {
				add(fmt.Sprintf("there is no layer %q; layers are: %s", layer, strings.Join(slices.Sorted(maps.Keys(t.Layers)), ", ")), append(where, "layers")...)
			}
		}
		for _, version := range image.Versions {
			if versions[version] == "" {
				add(fmt.Sprintf("the version of %q is not known; give it with --version-of %s=VERSION", version, version), append(where, "versions")...)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Components)) {
		check(t.Components[name], "components", name)
		if name == releaseName {
			add("this name is the release image's own", "components", name)
		}
		if c := t.Components[name]; c != nil && c.Files != nil {
			add("only the release image has files of its own; a component names a layer", "components", name, "files")
		}
	}
	check(t.Release, "release")
	if t.Release != nil {
		checkPaths(t.Release.Files, nil, add, "release")
	}
}

// In the debian layer these are links into /usr. A directory of that name in a layer above would hide all of it.
var mergedIntoUsr = []string{"/bin/", "/sbin/", "/lib/", "/lib64/"}

func checkPaths(files map[string]string, links map[string][]string, add func(string, ...string), where ...string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		checkPath(name, add, append(where, "files", name)...)
	}
	for _, target := range slices.Sorted(maps.Keys(links)) {
		for _, name := range links[target] {
			checkPath(name, add, append(where, "links", target)...)
		}
	}
}

func checkPath(name string, add func(string, ...string), where ...string) {
	if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
		add(fmt.Sprintf("%q must be an absolute path without '..' or a trailing '/'", name), where...)
	}
	for _, dir := range mergedIntoUsr {
		if strings.HasPrefix(name, dir) {
			add(fmt.Sprintf("%q would hide Debian's link %s; write /usr%s", name, path.Clean(dir), name), where...)
		}
	}
}

// lineOf finds the line of a field, or of the nearest parent that is there.
func lineOf(node *yaml.Node, where ...string) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		return lineOf(node.Content[0], where...)
	}
	if len(where) > 0 && node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key, value := node.Content[i], node.Content[i+1]; key.Value == where[0] {
				if len(where) == 1 || value.Kind != yaml.MappingNode {
					return key.Line
				}
				return max(key.Line, lineOf(value, where[1:]...))
			}
		}
	}
	return node.Line
}
