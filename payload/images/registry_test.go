package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// sampleLayout publishes images of one layer each, "etcd" as example.invalid/a/b:etcd.
func sampleLayout(t *testing.T, dir string, names ...string) (digests []v1.Hash) {
	t.Helper()
	layout, err := OpenLayout(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer layout.Close()
	store := func(mediaType types.MediaType, document any) v1.Descriptor {
		blob, err := layout.WriteJSON(mediaType, document)
		if err != nil {
			t.Fatal(err)
		}
		return blob
	}
	index, keep := v1.IndexManifest{SchemaVersion: 2}, map[v1.Hash]bool{}
	for _, name := range names {
		layer, config := store(types.OCILayer, "layer of "+name), store(types.OCIConfigJSON, "config of "+name)
		image := store(types.OCIManifestSchema1, v1.Manifest{SchemaVersion: 2, Config: config, Layers: []v1.Descriptor{layer}})
		image.Annotations = map[string]string{refNameKey: name, containerdKey: "example.invalid/a/b:" + name}
		index.Manifests = append(index.Manifests, image)
		keep[layer.Digest], keep[config.Digest], keep[image.Digest] = true, true, true
		digests = append(digests, image.Digest)
	}
	if err := layout.Publish(&index, keep); err != nil {
		t.Fatal(err)
	}
	return digests
}

func makeRegistry(t *testing.T, layout, output string) {
	t.Helper()
	if err := MakeRegistry(layout, output, t.Logf); err != nil {
		t.Fatal(err)
	}
}

func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			relative, _ := filepath.Rel(dir, name)
			names = append(names, relative)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestRegistryStorage(t *testing.T) {
	dir := t.TempDir()
	layout, output := filepath.Join(dir, "layout"), filepath.Join(dir, "registry")
	etcd := sampleLayout(t, layout, "etcd")[0]
	makeRegistry(t, layout, output)

	repository := filepath.Join(output, "docker/registry/v2/repositories/a/b")
	for _, link := range []string{
		"_manifests/revisions/sha256/" + etcd.Hex + "/link", "_manifests/tags/etcd/current/link", "_manifests/tags/etcd/index/sha256/" + etcd.Hex + "/link"} {
		if text, err := os.ReadFile(filepath.Join(repository, link)); err != nil || string(text) != etcd.String() {
			t.Errorf("%s is %q (%v), want %s", link, text, err, etcd)
		}
	}
	if layers := filesBelow(t, filepath.Join(repository, "_layers")); len(layers) != 2 {
		t.Errorf("the repository has %v, want a layer and a config", layers)
	}
	blobs := filepath.Join(output, "docker/registry/v2/blobs")
	names := filesBelow(t, blobs)
	for _, name := range names {
		parts := strings.Split(name, "/")
		here, err := os.Stat(filepath.Join(blobs, name))
		there, err2 := os.Stat(filepath.Join(layout, "blobs", parts[0], parts[2]))
		if err != nil || err2 != nil || !os.SameFile(here, there) || parts[1] != parts[2][:2] || parts[3] != "data" {
			t.Errorf("%s is not a hard link of the layout's blob", name)
		}
	}
	if len(names) != 3 {
		t.Errorf("blobs are %v, want manifest, config and layer", names)
	}
}

func TestRegistryStorageIsReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	layout, output := filepath.Join(dir, "layout"), filepath.Join(dir, "registry")
	sampleLayout(t, layout, "etcd", "pod")
	writeFile(t, filepath.Join(output+".new", "docker/half-written"), "by a run that was killed")
	makeRegistry(t, layout, output)
	first := filesBelow(t, output)
	makeRegistry(t, layout, output)
	if again := filesBelow(t, output); !slices.Equal(first, again) {
		t.Errorf("a second run changed\n%v\nto\n%v", first, again)
	}
	sampleLayout(t, layout, "coredns")
	makeRegistry(t, layout, output)
	if names := fmt.Sprint(filesBelow(t, output)); strings.Contains(names, "etcd") || strings.Contains(names, "half") || !strings.Contains(names, "coredns") {
		t.Errorf("after another release there are %v", names)
	}
	if _, err := os.Stat(output + ".new"); err == nil {
		t.Error("the old directory was not removed")
	}
}

func TestRegistryOfWhatIsNoRelease(t *testing.T) {
	dir := t.TempDir()
	layout, output := filepath.Join(dir, "layout"), filepath.Join(dir, "registry")
	if err := MakeRegistry(layout, output, t.Logf); err == nil || !strings.Contains(err.Error(), layout+" is not a release; make it with: make") {
		t.Errorf("error is %v", err)
	}
	sampleLayout(t, layout, "etcd")
	blobs := filesBelow(t, filepath.Join(layout, "blobs/sha256"))
	for _, blob := range blobs {
		name := filepath.Join(layout, "blobs/sha256", blob)
		if text, _ := os.ReadFile(name); string(text) == `"layer of etcd"` {
			os.WriteFile(name, []byte("cut"), 0o644)
		}
	}
	if err := MakeRegistry(layout, output, t.Logf); err == nil || !strings.Contains(err.Error(), "image etcd: its blob sha256:") {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(output); err == nil {
		t.Error("half a registry was left")
	}
}
