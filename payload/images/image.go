package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	machineOS       = "machine-os"
	imageVersionKey = "org.opencontainers.image.version"
	versionsKey     = "io.openshift.build.versions" // label of an image and annotation of its tag: "kubernetes=1.36.3"
	releaseKey      = "io.openshift.release"        // label of the release image: its version
	refNameKey      = "org.opencontainers.image.ref.name"
	containerdKey   = "io.containerd.image.name" // what containerd calls an image that it imports
	descriptionKey  = "io.k8s.description"
	extensionsKey   = "slipway.extensions" // label of an image of extensions: their names, in the order of its layers
)

// images collects the images of a release and every blob that they need.
type images struct {
	table  *Table
	layers map[string]Built
	layout *Layout
	index  *v1.IndexManifest
	blobs  map[v1.Hash]bool
}

func newImages(table *Table, layers map[string]Built, layout *Layout) *images {
	index := &v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	return &images{table: table, layers: layers, layout: layout, index: index, blobs: map[v1.Hash]bool{}}
}

// add stores config and manifest of an image and lists it in the index as name and, for containerd, as repository:tag.
//
//	errors   no layer has the program that a container starts
func (i *images) add(name, tag string, image *Image, labels map[string]string) (v1.Descriptor, error) {
	if !image.Extensions {
		program := slices.Concat(image.Entrypoint, image.Command)[0]
		if !slices.ContainsFunc(image.Layers, func(layer string) bool { return i.layers[layer].Names[program] }) {
			return v1.Descriptor{}, fmt.Errorf("image %s: its program %s is in none of its layers", name, program)
		}
	}
	config := i.config(image, labels)
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1}
	for _, layer := range image.Layers {
		manifest.Layers = append(manifest.Layers, i.layers[layer].Blob)
		i.blobs[i.layers[layer].Blob.Digest] = true
	}
	var err error
	if manifest.Config, err = i.layout.WriteJSON(types.OCIConfigJSON, config); err != nil {
		return v1.Descriptor{}, err
	}
	written, err := i.layout.WriteJSON(types.OCIManifestSchema1, manifest)
	if err != nil {
		return v1.Descriptor{}, err
	}
	i.blobs[manifest.Config.Digest], i.blobs[written.Digest] = true, true
	written.Platform = config.Platform()
	written.Annotations = map[string]string{refNameKey: name, containerdKey: i.table.Repository + ":" + tag}
	i.index.Manifests = append(i.index.Manifests, written)
	return written, nil
}

// config says how a container of the image starts. It names no time and no machine; the architecture is the one this
// program was built for, since the same toolchain built the inputs.
func (i *images) config(image *Image, labels map[string]string) *v1.ConfigFile {
	epoch := v1.Time{Time: time.Unix(0, 0).UTC()}
	config := &v1.ConfigFile{
		Architecture: runtime.GOARCH,
		OS:           "linux",
		Created:      epoch,
		RootFS:       v1.RootFS{Type: "layers"},
		Config:       v1.Config{Entrypoint: image.Entrypoint, Cmd: image.Command, Labels: map[string]string{descriptionKey: image.Description}},
	}
	if image.Extensions {
		config.Config.Labels[extensionsKey] = strings.Join(image.Layers, " ")
	}
	maps.Copy(config.Config.Labels, image.Labels)
	maps.Copy(config.Config.Labels, labels)
	environment := map[string]string{}
	maps.Copy(environment, i.table.Environment)
	maps.Copy(environment, image.Environment)
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		config.Config.Env = append(config.Config.Env, name+"="+environment[name])
	}
	for _, layer := range image.Layers {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, i.layers[layer].Content)
		config.History = append(config.History, v1.History{Created: epoch, CreatedBy: "slipway-images", Comment: "layer " + layer})
	}
	return config
}

// versionsOf returns "kubernetes=1.36.3", or nothing for an image without versions.
func versionsOf(image *Image, versions map[string]string) string {
	var out []string
	for _, name := range image.Versions {
		out = append(out, name+"="+versions[name])
	}
	return strings.Join(out, ",")
}
