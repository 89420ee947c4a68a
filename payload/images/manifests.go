package main

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	manifestsDir       = "/release-manifests/"
	versionPlaceholder = "0.0.1-snapshot" // in a manifest, for the version of the release
)

// componentName is what may stand behind "REPOSITORY:" in a manifest.
var componentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*`)

// fillManifests returns the manifests of a tree with what is known only when the release is made: REPOSITORY:COMPONENT becomes
// the image of that component, and the placeholder the version.
//
//	image    the reference of a component's image, by digest; false when there is no such component
//	errors   every name that is none, with its file and line
func fillManifests(tree Tree, repository, version string, image func(component string) (string, bool)) (Tree, error) {
	filled := Tree{}
	var wrong problems
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if !strings.HasPrefix(name, manifestsDir) {
			continue
		}
		text := tree[name].data
		if source := tree[name].source; source != "" {
			var err error
			if text, err = os.ReadFile(source); err != nil {
				return nil, err
			}
		}
		filled[name] = entry{data: fillManifest(text, repository, version, func(component string, line int) string {
			reference, ok := image(component)
			if !ok {
				wrong.add("%s:%d: there is no component %q; components are the names in components.yaml", name, line, component)
			}
			return reference
		})}
	}
	return filled, wrong.err()
}

func fillManifest(text []byte, repository, version string, image func(component string, line int) string) []byte {
	var out bytes.Buffer
	line := 1
	for first := true; ; first = false {
		before, behind, found := bytes.Cut(text, []byte(repository+":"))
		component := ""
		if !first {
			component = string(componentName.Find(before))
			out.WriteString(image(component, line))
		}
		out.Write(before[len(component):])
		line += bytes.Count(before, []byte("\n"))
		if !found {
			break
		}
		text = behind
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(versionPlaceholder), []byte(version))
}
