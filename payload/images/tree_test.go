package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTarDependsOnPathsAndContentsOnly(t *testing.T) {
	make := func(mode os.FileMode, at time.Time) []byte {
		dir := t.TempDir()
		for _, name := range []string{"bin/tool", "data/b.yaml", "data/a.yaml"} {
			file := writeFile(t, filepath.Join(dir, name), "content of "+name)
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
		}
		tree, err := MakeTree(map[string]string{"/usr/bin/tool": "bin/tool", "/data": "data"},
			map[string][]string{"/usr/bin/tool": {"/usr/bin/other", "/start"}}, Inputs{dir}, "")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := tree.WriteTar(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	first, second := make(0o600, time.Unix(1, 0)), make(0o777, time.Now())
	if !bytes.Equal(first, second) {
		t.Fatal("mode or time of the inputs changed the tar")
	}

	var got []string
	for in := tar.NewReader(bytes.NewReader(first)); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%s has an owner or a time: %+v", h.Name, h)
		}
		got = append(got, fmt.Sprintf("%c %o %s %s", h.Typeflag, h.Mode, h.Name, h.Linkname))
	}
	want := []string{
		"5 755 data/ ", "0 644 data/a.yaml ", "0 644 data/b.yaml ", "2 777 start usr/bin/tool",
		"5 755 usr/ ", "5 755 usr/bin/ ", "2 777 usr/bin/other tool", "0 755 usr/bin/tool ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("tar has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMissingInputSaysWhereAndHow(t *testing.T) {
	_, err := Inputs{"/nowhere", "/nor/here"}.Find("bin/tool", "make tool")
	if want := "input bin/tool is not in /nowhere, /nor/here; make it with: make tool"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
