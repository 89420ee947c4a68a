package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
)

// MakeRegistry makes a directory that the payload's registry serves as it is (storage.filesystem.rootdirectory): every
// image of a layout in its repository, by digest and by tag. Blobs are hard links to those of the layout, so it costs
// directories and a few hundred bytes a blob.
//
// The directory is replaced as a whole, in one step: a registry that runs on it answers with the old release or the new
// one. Two runs, and a build of the layout, wait for each other.
//
//	errors   layout is no image layout, an image in it has no name or is not whole; output is on another file system
func MakeRegistry(layout, output string, say func(string, ...any)) error {
	start := time.Now()
	if _, err := os.Stat(filepath.Join(layout, "index.json")); err != nil {
		return fmt.Errorf("%s is not a release; make it with: make -C payload release: %w", layout, err)
	}
	from, err := OpenLayout(layout)
	if err != nil {
		return err
	}
	defer from.Close()
	to := storage{dir: filepath.Clean(output) + ".new", from: from, blobs: map[v1.Hash]bool{}}
	if err := os.RemoveAll(to.dir); err != nil { // of a run that was killed
		return err
	}
	var index v1.IndexManifest
	if err := readJSON(filepath.Join(layout, "index.json"), &index); err != nil {
		return err
	}
	for _, image := range index.Manifests {
		if err := to.addImage(image); err != nil {
			return fmt.Errorf("image %s: %w", image.Annotations[refNameKey], err)
		}
	}
	if err := swap(to.dir, output); err != nil {
		return fmt.Errorf("replacing %s: %w", output, err)
	}
	say("registry: %d images, %d blobs by hard links, in %s, %s", len(index.Manifests), len(to.blobs), output, since(start))
	return nil
}

// storage is what the registry's filesystem driver calls its root directory:
//
//	docker/registry/v2/blobs/sha256/XX/DIGEST/data
//	docker/registry/v2/repositories/NAME/_layers/sha256/DIGEST/link            this repository has this blob
//	                                     _manifests/revisions/sha256/DIGEST/link    ... and this manifest
//	                                     _manifests/tags/TAG/current/link           which manifest the tag is
//	                                     _manifests/tags/TAG/index/sha256/DIGEST/link   ... or was
type storage struct {
	dir   string
	from  *Layout
	blobs map[v1.Hash]bool // those that are there
}

func (s *storage) addImage(image v1.Descriptor) error {
	name, tag, ok := splitName(image.Annotations[containerdKey])
	if !ok {
		return fmt.Errorf("its annotation %s must be HOST/REPOSITORY:TAG, not %q", containerdKey, image.Annotations[containerdKey])
	}
	repository := filepath.Join(s.dir, "docker/registry/v2/repositories", name)
	var manifest v1.Manifest
	if err := readJSON(s.from.blob(image.Digest), &manifest); err != nil {
		return err
	}
	for _, blob := range append(manifest.Layers, manifest.Config) {
		if err := errors.Join(s.addBlob(blob), writeLink(filepath.Join(repository, "_layers"), blob.Digest)); err != nil {
			return err
		}
	}
	manifests := filepath.Join(repository, "_manifests")
	return errors.Join(s.addBlob(image),
		writeLink(filepath.Join(manifests, "revisions"), image.Digest),
		writeLink(filepath.Join(manifests, "tags", tag, "index"), image.Digest),
		writeWithParents(filepath.Join(manifests, "tags", tag, "current/link"), image.Digest.String()))
}

func (s *storage) addBlob(blob v1.Descriptor) error {
	if s.blobs[blob.Digest] {
		return nil
	}
	if info, err := os.Stat(s.from.blob(blob.Digest)); err != nil || info.Size() != blob.Size {
		return errors.Join(fmt.Errorf("its blob %s is not whole", blob.Digest), err)
	}
	s.blobs[blob.Digest] = true
	dir := filepath.Join(s.dir, "docker/registry/v2/blobs", blob.Digest.Algorithm, blob.Digest.Hex[:2], blob.Digest.Hex)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Link(s.from.blob(blob.Digest), filepath.Join(dir, "data"))
}

func writeLink(dir string, digest v1.Hash) error {
	return writeWithParents(filepath.Join(dir, digest.Algorithm, digest.Hex, "link"), digest.String())
}

func writeWithParents(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

func readJSON(name string, document any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, document); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// splitName takes "host/a/b:tag" apart into "a/b", which a registry calls the repository, and "tag".
func splitName(image string) (repository, tag string, ok bool) {
	_, rest, _ := strings.Cut(image, "/")
	colon := strings.LastIndex(rest, ":")
	if colon <= 0 || colon == len(rest)-1 {
		return "", "", false
	}
	return rest[:colon], rest[colon+1:], true
}

// swap puts a new directory in the place of an old one in one step, and removes that.
func swap(fresh, dir string) error {
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(fresh, dir)
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(fresh)
}
