package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

const goodTable = `repository: registry.slipway.invalid/slipway/release
layers:
  base: {tar: base.tar, made_by: make base}
  tool:
    files: {/usr/bin/tool: bin/tool}
    links: {/usr/bin/tool: [/usr/bin/other, /start]}
components:
  tool:
    layers: [base, tool]
    entrypoint: [/usr/bin/tool]
    versions: [kubernetes]
    description: A tool
release:
  layers: [base, tool]
  entrypoint: [/start]
  description: All of it
`

func TestTableReportsEveryMistakeWithItsLine(t *testing.T) {
	versions := map[string]string{"kubernetes": "1.2.3"}
	cases := []struct {
		name, old, new string
		want           []string // each somewhere in the message; none: no error
	}{
		{"good", "", "", nil},
		{"unknown layer", "layers: [base, tool]\n    entry", "layers: [base, tol]\n    entry", []string{`:9: components.tool.layers: there is no layer "tol"; layers are: base, tool`}},
		{"unknown field", "tar: base.tar", "tarball: base.tar", []string{"line 3", "tarball"}},
		{"unknown version", "[kubernetes]", "[kubernets]", []string{":11: components.tool.versions: the version of", "--version-of kubernets=VERSION"}},
		{"hides a link of Debian", "{/usr/bin/tool: bin/tool}", "{/bin/tool: bin/tool}", []string{":5: layers.tool.files", "write /usr/bin/tool"}},
		{"climbs out", "/start]}", "/../start]}", []string{":6: layers.tool.links", "absolute path"}},
		{"CRDs beside files", "    links: {", "    crds: /usr/share/crds\n    links: {", nil},
		{"CRDs beside a tar", "tar: base.tar,", "tar: base.tar, crds: /usr/share/crds,", []string{":3: layers.base: must have either"}},
		{"CRDs nowhere", "    links: {", "    crds: share/crds\n    links: {", []string{":6: layers.tool.crds", "absolute path"}},
		{"a command alone", "entrypoint: [/usr/bin/tool]", "command: [/usr/bin/tool]", nil},
		{"entrypoint and command", "    versions:", "    command: [/x]\n    versions:", []string{":8: components.tool: must have"}},
		{"extensions", "    entrypoint: [/usr/bin/tool]\n", "    extensions: true\n", nil},
		{"extensions that start", "    versions:", "    extensions: true\n    versions:", []string{":8: components.tool: must have"}},
		{"neither entrypoint nor command", "    entrypoint: [/usr/bin/tool]\n", "", []string{":8: components.tool: must have"}},
		{"no description", "    description: A tool\n", "", []string{":8: components.tool: must have"}},
		{"empty layer", "tar: base.tar, ", "", []string{":3: layers.base: must have either"}},
		{"taken name", "  tool:\n    layers", "  release:\n    layers", []string{":8: components.release"}},
		{"two mistakes", "[base, tool]", "[bose, tool]", []string{":9:", ":14:"}},
		{"twice", "  description: All of it\n", "  description: All of it\n  description: Again\n", []string{"already defined"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			file := writeFile(t, filepath.Join(t.TempDir(), "components.yaml"), strings.ReplaceAll(goodTable, c.old, c.new))
			_, err := ReadTable(file, versions)
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("error is %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}
