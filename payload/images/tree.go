package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Inputs are the directories in which the files named by the table are looked up; the first that has a file wins.
type Inputs []string

// Find returns where an input is. Errors: it is in none of the directories; the message says how to make it.
func (in Inputs) Find(name, madeBy string) (string, error) {
	for _, dir := range in {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	hint := ""
	if madeBy != "" {
		hint = "; make it with: " + madeBy
	}
	return "", fmt.Errorf("input %s is not in %s%s", name, strings.Join(in, ", "), hint)
}

// entry is one file or symbolic link of a layer.
type entry struct {
	link   string // target; not a file then
	source string // file on this machine
	data   []byte // content, when there is no source
}

// Tree is the content of a layer by path in the image. Written as a tar, it depends on nothing but paths and contents:
// names are sorted, all owners are 0, all times are 1970, and modes follow from the path, because those of the inputs
// depend on the umask of whoever made them.
type Tree map[string]entry

// MakeTree collects the files and links of a layer. Errors: an input is missing.
func MakeTree(files map[string]string, links map[string][]string, inputs Inputs, madeBy string) (Tree, error) {
	tree := Tree{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		source, err := inputs.Find(files[name], madeBy)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(source, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			below, err := filepath.Rel(source, file)
			tree[path.Join(name, filepath.ToSlash(below))] = entry{source: file}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for target, names := range links {
		for _, name := range names {
			relative, err := filepath.Rel(path.Dir(name), target)
			if err != nil {
				return nil, err
			}
			tree[name] = entry{link: filepath.ToSlash(relative)}
		}
	}
	return tree, nil
}

// WriteTar writes the tree, with the directories that it needs.
func (t Tree) WriteTar(w io.Writer) error {
	out := tar.NewWriter(w)
	done := map[string]bool{"/": true}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if err := writeParents(out, path.Dir(name), done); err != nil {
			return err
		}
		if err := t[name].write(out, name); err != nil {
			return err
		}
	}
	return out.Close()
}

func header(name string, kind byte, mode int64) *tar.Header {
	return &tar.Header{Name: strings.TrimPrefix(name, "/"), Typeflag: kind, Mode: mode, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
}

func writeParents(out *tar.Writer, dir string, done map[string]bool) error {
	if done[dir] {
		return nil
	}
	if err := writeParents(out, path.Dir(dir), done); err != nil {
		return err
	}
	done[dir] = true
	return out.WriteHeader(header(dir+"/", tar.TypeDir, 0o755))
}

func (e entry) write(out *tar.Writer, name string) error {
	if e.link != "" {
		h := header(name, tar.TypeSymlink, 0o777)
		h.Linkname = e.link
		return out.WriteHeader(h)
	}
	content, size := io.Reader(bytes.NewReader(e.data)), int64(len(e.data))
	if e.source != "" {
		file, err := os.Open(e.source)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		content, size = file, info.Size()
	}
	h := header(name, tar.TypeReg, 0o644)
	if base := path.Base(path.Dir(name)); base == "bin" || base == "sbin" {
		h.Mode = 0o755
	}
	h.Size = size
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.Copy(out, content)
	return err
}

// Names returns the paths of the tree; for a layer from a tar, see tarNames.
func (t Tree) Names() map[string]bool {
	names := map[string]bool{}
	for name := range t {
		names[name] = true
	}
	return names
}

// tarNames lists what a tar has. Errors: it is not a whole tar.
func tarNames(file string) (map[string]bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names := map[string]bool{}
	for in := tar.NewReader(f); ; {
		h, err := in.Next()
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		names[path.Clean("/"+h.Name)] = true
	}
}
