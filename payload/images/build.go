package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Options of a build, see usage in main.go.
type Options struct {
	Components, CRDs, Output, Version string
	Inputs                            Inputs
	Versions                          map[string]string
	Key                               string   // file of the private key that signs the release; empty: it is not signed
	Trust                             []string // files of public keys that may sign the releases after it
}

// Build makes the layout of a release. The same table and inputs give the same bytes, wherever and whenever it runs.
func Build(options Options, say func(string, ...any)) error {
	start := time.Now()
	table, err := ReadTable(options.Components, options.Versions)
	if err != nil {
		return err
	}
	// Everything that the inputs may lack is said before the first layer costs time.
	sources, err := layerSources(table, options.CRDs, options.Inputs)
	if err != nil {
		return err
	}
	key, others, err := releaseKeys(options)
	if err != nil {
		return err
	}
	manifests, err := MakeTree(table.Release.Files, nil, options.Inputs, "make -C payload release")
	if err != nil {
		return fmt.Errorf("release image: %w", err)
	}
	// The CRDs stay byte by byte what they are.
	own := maps.Clone(manifests)
	fill := func(image func(component string) (string, bool)) (Tree, error) {
		return fillManifests(own, table.Repository, options.Version, image)
	}
	if _, err := fill(func(component string) (string, bool) { return "", table.Components[component] != nil }); err != nil {
		return fmt.Errorf("release image:\n%w", err)
	}
	if err := addCRDs(manifests, options.CRDs, options.Inputs, releaseCRD); err != nil {
		return fmt.Errorf("release image: %w", err)
	}
	layout, err := OpenLayout(options.Output)
	if err != nil {
		return err
	}
	defer layout.Close()
	layers := map[string]Built{}
	if err := buildLayers(layers, sources, layout, say); err != nil {
		return err
	}

	images := newImages(table, layers, layout)
	var tags []tag
	references := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(table.Components)) {
		component, labels := table.Components[name], map[string]string{}
		versions := versionsOf(component, options.Versions)
		if versions != "" {
			labels[versionsKey] = versions
		}
		if name == machineOS {
			labels[imageVersionKey] = options.Version
		}
		image, err := images.add(name, options.Version+"-"+name, component, labels)
		if err != nil {
			return err
		}
		tags = append(tags, makeTag(name, table.Repository, versions, image))
		references[name] = tags[len(tags)-1].From.Name
	}
	filled, err := fill(func(component string) (string, bool) { return references[component], references[component] != "" })
	if err != nil {
		return fmt.Errorf("release image:\n%w", err)
	}
	maps.Copy(manifests, filled)
	if key != nil {
		if err := addKeys(manifests, key, others); err != nil {
			return err
		}
	}
	if err := addDocuments(manifests, options.Version, table.Release.Description, tags); err != nil {
		return err
	}
	if err := buildLayers(layers, []layerSource{{name: manifestsLayer, tree: manifests}}, layout, say); err != nil {
		return err
	}
	table.Release.Layers = append(table.Release.Layers, manifestsLayer)
	release, err := images.add(releaseName, options.Version, table.Release, map[string]string{releaseKey: options.Version})
	if err != nil {
		return err
	}
	signed := "not signed, because there is no key (make release-key)"
	if key != nil {
		signed = "signed with " + options.Key
		if err := images.sign(key, release.Digest, options.Version); err != nil {
			return err
		}
	}
	if err := layout.Publish(images.index, images.blobs); err != nil {
		return fmt.Errorf("publishing the release in %s: %w", options.Output, err)
	}
	var stored int64
	for _, layer := range layers {
		stored += layer.Blob.Size
	}
	say("release %s: %d components, %d layers, %s in %s, %s", options.Version, len(tags), len(layers), size(stored), options.Output, since(start))
	say("release %s: %s@%s", options.Version, table.Repository, release.Digest)
	say("release %s: %s", options.Version, signed)
	return nil
}

// layerSources finds the inputs of all layers, the biggest layer first, so that no core waits for one that started late.
//
//	errors   every layer that lacks an input
func layerSources(table *Table, crds string, inputs Inputs) (sources []layerSource, err error) {
	var missing problems
	for _, name := range slices.Sorted(maps.Keys(table.Layers)) {
		layer, source := table.Layers[name], layerSource{name: name}
		if layer.Tar != "" {
			source.tar, err = inputs.Find(layer.Tar, layer.MadeBy)
			source.weight = fileSize(source.tar)
		} else {
			source.tree, err = MakeTree(layer.Files, layer.Links, inputs, layer.MadeBy)
			if err == nil && layer.CRDs != "" {
				err = addCRDs(source.tree, crds, inputs, func(_, name string) string { return path.Join(layer.CRDs, name) })
			}
			for _, file := range source.tree {
				source.weight += fileSize(file.source)
			}
		}
		if err != nil {
			missing.add("layer %s: %w", name, err)
		}
		sources = append(sources, source)
	}
	slices.SortStableFunc(sources, func(a, b layerSource) int { return int(b.weight - a.weight) })
	return sources, missing.err()
}

func fileSize(name string) int64 {
	if info, err := os.Stat(name); err == nil {
		return info.Size()
	}
	return 0
}

// buildLayers puts layers into the layout, as many at a time as there are cores. Errors: those of all layers.
func buildLayers(layers map[string]Built, sources []layerSource, layout *Layout, say func(string, ...any)) error {
	built, failed := make([]Built, len(sources)), make([]error, len(sources))
	free := make(chan bool, runtime.NumCPU())
	var wait sync.WaitGroup
	for i, source := range sources {
		free <- true
		wait.Go(func() {
			defer func() { <-free }()
			if built[i], failed[i] = BuildLayer(source, layout, say); failed[i] != nil {
				failed[i] = fmt.Errorf("layer %s: %w", source.name, failed[i])
			}
		})
	}
	wait.Wait()
	for i, source := range sources {
		layers[source.name] = built[i]
	}
	return errors.Join(failed...)
}
