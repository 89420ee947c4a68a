package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"
)

// The compressed bytes are part of the digests that a release promises. They come from this library at the version of
// go.mod, not from the Go toolchain, whose compressor changes between versions.
const gzipLevel = 6

// compressor names what the compressed bytes of a content depend on. A layout made by another one starts afresh: its
// layers would have other digests than those of a release that is made from nothing.
func compressor() string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/klauspost/compress" {
				version = module.Version
			}
		}
	}
	return fmt.Sprintf("klauspost/compress %s, gzip level %d", version, gzipLevel)
}

// Built is a layer in the layout.
type Built struct {
	Blob    v1.Descriptor
	Content v1.Hash // digest of the uncompressed tar, the "diff id" of image configs
	Names   map[string]bool
}

// layerSource is where the tar of a layer comes from: a file, or a tree.
type layerSource struct {
	name   string
	tar    string
	tree   Tree
	weight int64 // bytes, about
}

func (s layerSource) writeTar(w io.Writer) error {
	if s.tar == "" {
		return s.tree.WriteTar(w)
	}
	file, err := os.Open(s.tar)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

// names lists the paths in the layer. Errors: the tar is not whole.
func (s layerSource) names() (map[string]bool, error) {
	if s.tar == "" {
		return s.tree.Names(), nil
	}
	return tarNames(s.tar)
}

// BuildLayer puts a layer into the layout, unless it is there.
//
// Whether it is there is asked by the digest of its uncompressed tar, which is needed anyway and covers definition and
// inputs alike: there is no time stamp to be wrong. Reading costs a tenth of compressing.
//
//	errors   an input cannot be read, or changes while it is read
//	threads  several, one a layer
func BuildLayer(source layerSource, layout *Layout, say func(string, ...any)) (built Built, err error) {
	start := time.Now()
	if built.Names, err = source.names(); err != nil {
		return built, err
	}
	content := newMeter(io.Discard)
	if err := source.writeTar(content); err != nil {
		return built, err
	}
	built.Content = content.digest()
	var known bool
	if built.Blob, known = layout.Known(built.Content); known {
		say("layer %s: unchanged, %s gzip, %s", source.name, size(built.Blob.Size), since(start))
		return built, nil
	}

	temporary, err := os.CreateTemp(filepath.Join(layout.dir, "blobs", "sha256"), "layer-*.new")
	if err != nil {
		return built, err
	}
	defer os.Remove(temporary.Name()) // not there any more when all went well
	defer temporary.Close()
	again, compressed, err := compress(source, temporary)
	if err != nil {
		return built, err
	}
	if again.digest() != built.Content {
		return built, fmt.Errorf("its inputs changed while they were read; run again when nothing writes them")
	}
	built.Blob = descriptor(types.OCILayer, compressed.digest(), compressed.size)
	if err := layout.AddLayer(temporary.Name(), built.Content, built.Blob); err != nil {
		return built, err
	}
	say("layer %s: %s -> %s gzip, %s", source.name, size(content.size), size(compressed.size), since(start))
	return built, nil
}

func compress(source layerSource, file *os.File) (content, compressed *meter, err error) {
	compressed = newMeter(file)
	zip, err := gzip.NewWriterLevel(compressed, gzipLevel)
	if err != nil {
		return nil, nil, err
	}
	content = newMeter(zip)
	if err := source.writeTar(content); err != nil {
		return nil, nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, nil, err
	}
	return content, compressed, file.Chmod(0o644)
}

// meter counts and digests what passes through it.
type meter struct {
	out  io.Writer
	sum  hash.Hash
	size int64
}

func newMeter(out io.Writer) *meter { return &meter{out: out, sum: sha256.New()} }

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.out.Write(p)
	m.sum.Write(p[:n])
	m.size += int64(n)
	return n, err
}

func (m *meter) digest() v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(m.sum.Sum(nil))}
}

func sha256Of(data []byte) (v1.Hash, int64) {
	sum := sha256.Sum256(data)
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum[:])}, int64(len(data))
}

func descriptor(mediaType types.MediaType, digest v1.Hash, size int64) v1.Descriptor {
	return v1.Descriptor{MediaType: mediaType, Digest: digest, Size: size}
}

func size(bytes int64) string {
	if bytes < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

func since(start time.Time) string { return fmt.Sprintf("%.1f s", time.Since(start).Seconds()) }
