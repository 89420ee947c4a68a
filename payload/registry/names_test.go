package main

import (
	"strings"
	"testing"
)

const someDigest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestSplitHost(t *testing.T) {
	for path, want := range map[string][2]string{
		"/v2/quay.io/team/app/manifests/1":         {"quay.io", "/v2/team/app/manifests/1"},
		"/v2/localhost__5000/app/manifests/1":      {"localhost:5000", "/v2/app/manifests/1"},
		"/v2/docker.io/v2/docker.io/x/manifests/1": {"docker.io", "/v2/v2/docker.io/x/manifests/1"},
		"/v2/slipway/release/manifests/1":          {"", "/v2/slipway/release/manifests/1"},
		"/v2/quay.io/manifests/1":                  {"", "/v2/quay.io/manifests/1"},
		"/v2/":                                     {"", "/v2/"},
	} {
		if host, rest := splitHost(path); host != want[0] || rest != want[1] {
			t.Errorf("%s: %q %q", path, host, rest)
		}
	}
}

func TestMachineTarget(t *testing.T) {
	cases := []struct {
		path, host string
		stored     string // repository in a store; empty: an error
		reference  string
		message    string // how messages call it, or a part of the error
	}{
		{"/v2/library/app/manifests/dev", "docker.io", "docker.io/library/app", "dev", "docker.io/library/app:dev"},
		{"/v2/a/manifests/" + someDigest, "quay.io", "quay.io/a", someDigest, "quay.io/a@" + someDigest},
		{"/v2/a/blobs/" + someDigest, "localhost:5000", "localhost__5000/a", someDigest, "blob " + someDigest + " of localhost:5000/a"},
		{"/v2/a/b/c/d/manifests/1.0", "10.0.0.1:8443", "10.0.0.1__8443/a/b/c/d", "1.0", "10.0.0.1:8443/a/b/c/d:1.0"},
		{"/v2/manifests/blobs/manifests/x", "Example.COM", "example.com/manifests/blobs", "x", "example.com/manifests/blobs:x"},
		{"/v2/a/manifests/x", "my-registry", "my-registry/a", "x", "my-registry/a:x"},

		{"/v2/a/manifests/x", "a..b", "", "", `ns: "a..b" must be`},
		{"/v2/a/manifests/x", "a/b", "", "", "ns:"},
		{"/v2/a/manifests/x", "user@host", "", "", "ns:"},
		{"/v2/a/manifests/x", "[::1]:5000", "", "", "ns:"},
		{"/v2/a/manifests/x", "host:", "", "", "ns:"},
		{"/v2/a/manifests/x", "host:5000:5000", "", "", "ns:"},
		{"/v2/a/manifests/x", "host__5000", "", "", "ns:"},
		{"/v2/host:1/a/manifests/x", "docker.io", "", "", "invalid reference format"},
		{"/v2/a/manifests/sha256:" + strings.Repeat("a", 40), "docker.io", "", "", "invalid checksum digest length"},
		{"/v2/a/blobs/md5:" + strings.Repeat("a", 32), "docker.io", "", "", "unsupported digest algorithm"},
		{"/v2/" + strings.Repeat("a/", 130) + "a/manifests/x", "docker.io", "", "", "must not be more than 255"},
		{"/v2/../a/manifests/x", "docker.io", "", "", "neither a manifest nor a blob"},
		{"/v2/a/tags/list", "docker.io", "", "", "neither a manifest nor a blob"},
		{"/v2/_catalog", "docker.io", "", "", "neither a manifest nor a blob"},
		{"/v2/", "docker.io", "", "", "neither a manifest nor a blob"},
	}
	for _, c := range cases {
		got, notFound, err := machineTarget(c.path, c.host)
		switch {
		case c.stored == "":
			if err == nil || !strings.Contains(err.Error(), c.message) || notFound != strings.HasPrefix(c.message, "neither") {
				t.Errorf("%s?ns=%s: error is %v (not found: %t)", c.path, c.host, err, notFound)
			}
		case err != nil:
			t.Errorf("%s?ns=%s: %v", c.path, c.host, err)
		case got.stored.Name() != c.stored || got.reference() != c.reference || got.String() != c.message:
			t.Errorf("%s?ns=%s is %s %s, %q", c.path, c.host, got.stored.Name(), got.reference(), got)
		}
	}
}

func TestPeoplePath(t *testing.T) {
	for path, want := range map[string]string{
		"/v2/":                                       "/v2/",
		"/v2/_catalog":                               "/v2/_catalog",
		"/v2/app/manifests/dev":                      "/v2/127.0.0.1__5000/app/manifests/dev",
		"/v2/team/app/blobs/uploads/":                "/v2/127.0.0.1__5000/team/app/blobs/uploads/",
		"/v2/app/blobs/uploads/0-1":                  "/v2/127.0.0.1__5000/app/blobs/uploads/0-1",
		"/v2/app/blobs/" + someDigest:                "/v2/127.0.0.1__5000/app/blobs/" + someDigest,
		"/v2/app/tags/list":                          "/v2/127.0.0.1__5000/app/tags/list",
		"/v2/my.app/manifests/dev":                   "/v2/127.0.0.1__5000/my.app/manifests/dev", // not a host: nothing follows
		"/v2/localhost/manifests/dev":                "/v2/127.0.0.1__5000/localhost/manifests/dev",
		"/v2/localhost/app/manifests/dev":            "/v2/localhost/app/manifests/dev",
		"/v2/docker.io/library/app/manifests/dev":    "/v2/docker.io/library/app/manifests/dev",
		"/v2/127.0.0.1__5000/app/blobs/uploads/":     "/v2/127.0.0.1__5000/app/blobs/uploads/",
		"/v2/registry__5000/app/manifests/dev":       "/v2/registry__5000/app/manifests/dev",
		"/v2/registry.test:5000/app/manifests/dev":   "/v2/registry.test__5000/app/manifests/dev",
		"/v2/manifests/manifests/manifests/manifest": "/v2/127.0.0.1__5000/manifests/manifests/manifests/manifest",
		"/nothing": "/nothing",
	} {
		if got := peoplePath(path, "127.0.0.1__5000"); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
