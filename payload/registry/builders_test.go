package main

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const buildersName = "registry.demo.test:5443"

var build = remote.WithAuth(&authn.Basic{Username: "build", Password: "other"})

func TestMachinesPullWhatBuildersPush(t *testing.T) {
	c := startCluster(t)
	for _, pushed := range []string{"os/master:1", "registry.demo.test__5443/os/worker:1"} {
		image := push(t, c.builders, pushed, "content of "+pushed, build)
		path := "/v2/" + strings.TrimSuffix(strings.TrimPrefix(pushed, "registry.demo.test__5443/"), ":1")
		for _, reference := range []string{"1", digestOf(t, image)} {
			if got := c.wants(t, path+"/manifests/"+reference, buildersName); got != digestOf(t, image) {
				t.Errorf("%s of %s is %s, want %s", reference, pushed, got, digestOf(t, image))
			}
		}
		c.wants(t, path+"/blobs/"+layerOf("content of "+pushed), buildersName)
	}
}

func TestTheHostOfBuildersIsNotAskedOutside(t *testing.T) {
	// An upstream registry with the name of the builders' host.
	upstream := startUpstream(t)
	push(t, upstream.Server, "os/master:1", "of somebody else")
	c := startClusterWith(t, func(netip.Addr) bool { return true }, nil, func(config *clusterConfig) {
		config.Builders.Name = upstream.host
	}, upstream)
	before := upstream.total()
	for path, code := range map[string]string{
		"/v2/os/master/manifests/1":                              "MANIFEST_UNKNOWN",
		"/v2/os/master/blobs/" + layerOf("of somebody else"):     "BLOB_UNKNOWN",
		"/v2/os/master/manifests/" + layerOf("of somebody else"): "MANIFEST_UNKNOWN",
	} {
		if got := c.ask(t, http.MethodGet, path, upstream.host); got.status != http.StatusNotFound || !strings.Contains(got.body, code) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if upstream.total() != before {
		t.Error("the upstream registry was asked")
	}
	c.expectLog(t, upstream.host+"/os/master:1: no machine of the cluster has pushed it")
}

func TestBuildersNeedTheirLogin(t *testing.T) {
	c := startCluster(t)
	push(t, c.builders, "os/master:1", "a layer", build)
	for _, login := range [][2]string{{"", ""}, {"build", "wrong"}, {"dev", "secret"}} {
		for _, path := range []string{"/v2/", "/v2/os/master/manifests/1", "/v2/os/master/tags/list"} {
			got := requestWith(t, c.builders, http.MethodGet, path, login[0], login[1], nil)
			if got.StatusCode != 401 || got.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s as %q: %d %v", path, login, got.StatusCode, got.Header)
			}
		}
		if got := requestWith(t, c.builders, http.MethodPost, "/v2/os/master/blobs/uploads/", login[0], login[1], nil); got.StatusCode != 401 {
			t.Errorf("upload as %q: %d", login, got.StatusCode)
		}
	}
	// The answer has no word about the disk.
	if got := requestWith(t, c.builders, http.MethodPut, "/v2/os/master/blobs/uploads/x", "build", "wrong", nil); got.StatusCode != 401 {
		t.Errorf("a part of an upload: %d", got.StatusCode)
	}
	// Their login is not one of people.
	if got := c.request(t, http.MethodGet, "/v2/", "build", "other"); got.StatusCode != 401 {
		t.Errorf("people's side: %d", got.StatusCode)
	}
	if got := requestWith(t, c.builders, http.MethodDelete, "/v2/os/master/manifests/"+layerOf(""), "build", "other", nil); got.StatusCode != 405 {
		t.Errorf("deletion: %d", got.StatusCode)
	}
}

func TestBuildersHaveNoOtherImages(t *testing.T) {
	c := startCluster(t)
	app := push(t, c.people, "app:1", "of people", dev)
	for _, name := range []string{"127.0.0.1__5000/app", "127.0.0.1:5000/app", "docker.io/library/app", "localhost/app", "registry.demo.test/app"} {
		if err := pushImage(c.builders, name+":1", imageOf(t, "of builders"), build); err == nil && !strings.Contains(name, ":") {
			t.Errorf("a push to %s succeeded", name)
		}
		for _, path := range []string{"/manifests/1", "/tags/list", "/blobs/" + layerOf("of people")} {
			if got := requestWith(t, c.builders, http.MethodGet, "/v2/"+name+path, "build", "other", nil); got.StatusCode != 403 && got.StatusCode != 404 {
				t.Errorf("%s%s: %d", name, path, got.StatusCode)
			}
		}
		got := requestWith(t, c.builders, http.MethodPost, "/v2/"+name+"/blobs/uploads/", "build", "other", nil)
		if got.StatusCode != 403 && got.StatusCode != 404 {
			t.Errorf("upload to %s: %d", name, got.StatusCode)
		}
	}
	if got := requestWith(t, c.builders, http.MethodGet, "/v2/_catalog", "build", "other", nil); got.StatusCode != 403 {
		t.Errorf("the list of repositories: %d", got.StatusCode)
	}
	if got := c.wants(t, "/v2/app/manifests/1", "127.0.0.1:5000"); got != digestOf(t, app) {
		t.Errorf("the image of people is %s, want %s", got, digestOf(t, app))
	}
}

func TestBuildersTakeNoLayersOfOthers(t *testing.T) {
	c := startCluster(t)
	push(t, c.people, "app:1", "of people", dev)
	push(t, c.builders, "os/master:1", "of builders", build)
	mount := func(layer, from string) url.Values { return url.Values{"mount": {layerOf(layer)}, "from": {from}} }
	for _, test := range []struct {
		query, form url.Values
		want        int
	}{
		{mount("of builders", "os/master"), nil, http.StatusCreated},
		{mount("of people", "127.0.0.1__5000/app"), nil, http.StatusAccepted},
		{nil, mount("of people", "127.0.0.1__5000/app"), http.StatusAccepted},
		{mount("of builders", "os/master"), mount("of people", "127.0.0.1__5000/app"), http.StatusCreated},
	} {
		got := requestWith(t, c.builders, http.MethodPost, "/v2/new/blobs/uploads/?"+test.query.Encode(), "build", "other", test.form)
		if got.StatusCode != test.want {
			t.Errorf("?%s %s: %d, want %d", test.query.Encode(), test.form.Encode(), got.StatusCode, test.want)
		}
	}
	for layer, want := range map[string]int{"of builders": 200, "of people": 404} {
		if got := requestWith(t, c.builders, http.MethodGet, "/v2/new/blobs/"+layerOf(layer), "build", "other", nil); got.StatusCode != want {
			t.Errorf("the layer %s: %d, want %d", layer, got.StatusCode, want)
		}
	}
}

// Otherwise builders could replace an image of people.
func TestPeopleOnlyReadImagesOfBuilders(t *testing.T) {
	c := startCluster(t)
	push(t, c.builders, "os/master:1", "of builders", build)
	if got := c.request(t, http.MethodGet, "/v2/registry.demo.test__5443/os/master/tags/list", "dev", "secret"); got.StatusCode != 200 {
		t.Errorf("people read: %d", got.StatusCode)
	}
	if err := pushImage(c.people, "registry.demo.test__5443/os/master:1", imageOf(t, "of people"), dev); err == nil ||
		!strings.Contains(err.Error(), "only machines of the cluster") {
		t.Errorf("people push: %v", err)
	}
}
