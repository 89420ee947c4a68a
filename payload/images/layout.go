package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Layout is an OCI image layout that is replaced as a whole: blobs are added beside the old ones, then index.json
// changes from the old release to the new one in one rename, then what only the old one used is removed. A kill at any
// moment leaves one of the two. Two programs that write one layout wait for each other.
//
// Threads: Known and AddLayer from any; the others when no other runs.
type Layout struct {
	dir   string
	lock  *os.File
	file  string // of cache
	mutex sync.Mutex
	cache cache // guarded by mutex
}

// cache says which compressed blob stands for which layer content.
type cache struct {
	Compressor string                    `json:"compressor"`
	Layers     map[v1.Hash]v1.Descriptor `json:"layers"`
}

// OpenLayout makes or opens a layout and holds its lock until Close. Time: waits for another writer.
func OpenLayout(dir string) (*Layout, error) {
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return nil, fmt.Errorf("making the image layout: %w", err)
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	l := &Layout{dir: dir, lock: lock, file: filepath.Clean(dir) + ".layers.json"}
	// A cache that cannot be read, or is not ours, costs compressing again, nothing else.
	text, err := os.ReadFile(l.file)
	if err != nil || json.Unmarshal(text, &l.cache) != nil || l.cache.Compressor != compressor() || l.cache.Layers == nil {
		l.cache = cache{Compressor: compressor(), Layers: map[v1.Hash]v1.Descriptor{}}
	}
	return l, nil
}

func (l *Layout) Close() { l.lock.Close() }

func (l *Layout) blob(digest v1.Hash) string {
	return filepath.Join(l.dir, "blobs", digest.Algorithm, digest.Hex)
}

// Known returns the compressed blob made earlier for a layer's content, if it is still there.
func (l *Layout) Known(content v1.Hash) (v1.Descriptor, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	found, ok := l.cache.Layers[content]
	if !ok {
		return found, false
	}
	info, err := os.Stat(l.blob(found.Digest))
	return found, err == nil && info.Size() == found.Size
}

// AddLayer moves a compressed layer into the layout and remembers at once for which content it stands, so that a run that
// is killed has not compressed in vain.
func (l *Layout) AddLayer(file string, content v1.Hash, blob v1.Descriptor) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := os.Rename(file, l.blob(blob.Digest)); err != nil {
		return err
	}
	l.cache.Layers[content] = blob
	return l.saveCache()
}

func (l *Layout) saveCache() error {
	text, err := json.MarshalIndent(l.cache, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(l.file, append(text, '\n'))
}

// WriteJSON stores a document as a blob.
func (l *Layout) WriteJSON(mediaType types.MediaType, document any) (v1.Descriptor, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return l.WriteBlob(mediaType, text)
}

// WriteBlob stores a small blob.
func (l *Layout) WriteBlob(mediaType types.MediaType, text []byte) (v1.Descriptor, error) {
	digest, size := sha256Of(text)
	return descriptor(mediaType, digest, size), replaceFile(l.blob(digest), text)
}

// Publish makes index the content of the layout and removes every blob that is not in keep.
func (l *Layout) Publish(index *v1.IndexManifest, keep map[v1.Hash]bool) error {
	marker := []byte(`{"imageLayoutVersion":"1.0.0"}` + "\n")
	if err := replaceFile(filepath.Join(l.dir, "oci-layout"), marker); err != nil {
		return err
	}
	text, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(l.dir, "index.json"), append(text, '\n')); err != nil {
		return err
	}
	for content, blob := range l.cache.Layers {
		if !keep[blob.Digest] {
			delete(l.cache.Layers, content)
		}
	}
	if err := l.saveCache(); err != nil {
		return err
	}
	return l.sweep(keep)
}

// sweep also removes the half-written files of runs that were killed; the lock says that there is no other run.
func (l *Layout) sweep(keep map[v1.Hash]bool) error {
	blobs, err := os.ReadDir(filepath.Join(l.dir, "blobs", "sha256"))
	if err != nil {
		return err
	}
	for _, blob := range blobs {
		if !keep[v1.Hash{Algorithm: "sha256", Hex: blob.Name()}] {
			if err := os.Remove(filepath.Join(l.dir, "blobs", "sha256", blob.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceFile writes a whole file under a name: readers see the old content or the new one.
func replaceFile(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && string(old) == string(data) {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A fixed name, since only the holder of the lock writes: what a killed run leaves, the next one overwrites.
	temporary := name + ".new"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}
