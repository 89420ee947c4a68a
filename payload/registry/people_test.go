package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

var dev = remote.WithAuth(&authn.Basic{Username: "dev", Password: "secret"})

func TestPodsUseTheNameOfThePush(t *testing.T) {
	c := startCluster(t)
	for _, test := range []struct{ pushed, host, path string }{
		{"app:dev", "127.0.0.1:5000", "app"},
		{"team/app:dev", "127.0.0.1:5000", "team/app"},
		{"127.0.0.1__5000/other:dev", "127.0.0.1:5000", "other"},
		{"localhost/app:dev", "localhost", "app"},
		{"docker.io/library/app:dev", "docker.io", "library/app"},
		{"registry.test__8443/a/app:dev", "registry.test:8443", "a/app"},
	} {
		image := push(t, c.people, test.pushed, "content of "+test.pushed, dev)
		if got := c.wants(t, "/v2/"+test.path+"/manifests/dev", test.host); got != digestOf(t, image) {
			t.Errorf("%s: %s/%s:dev is %s, want %s", test.pushed, test.host, test.path, got, digestOf(t, image))
		}
	}
	if got := c.ask(t, http.MethodGet, "/v2/app/manifests/other", "127.0.0.1:5000"); got.status != http.StatusNotFound {
		t.Errorf("an image that nobody pushed: %d %s", got.status, got.body)
	}
	c.expectLog(t, "127.0.0.1:5000/app:other: not loaded, and registry 127.0.0.1:5000 does not have it (run")
}

// request makes a people's request.
func (c *cluster) request(t *testing.T, method, path, user, password string) *http.Response {
	t.Helper()
	return requestWith(t, c.people, method, path, user, password, nil)
}

// requestWith sends a form if there is one.
func requestWith(t *testing.T, server *httptest.Server, method, path, user, password string, form url.Values) *http.Response {
	t.Helper()
	request, err := http.NewRequest(method, server.URL+path, strings.NewReader(form.Encode()))
	check(t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	response, err := server.Client().Do(request)
	check(t, err)
	response.Body.Close()
	return response
}

func TestPeopleNeedALogin(t *testing.T) {
	c := startCluster(t)
	image := push(t, c.people, "app:dev", "a layer", dev)
	paths := []string{"/v2/", "/v2/_catalog", "/v2/app/manifests/dev", "/v2/app/tags/list", "/v2/app/blobs/" + layerOf("a layer")}
	for _, login := range [][2]string{{"", ""}, {"dev", "wrong"}, {"other", "secret"}} {
		for _, path := range paths {
			got := c.request(t, http.MethodGet, path, login[0], login[1])
			if got.StatusCode != 401 || got.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s as %q: %d %v", path, login, got.StatusCode, got.Header)
			}
		}
		if got := c.request(t, http.MethodPost, "/v2/app/blobs/uploads/", login[0], login[1]); got.StatusCode != 401 {
			t.Errorf("upload as %q: %d", login, got.StatusCode)
		}
	}
	if err := pushImage(c.people, "app:other", image); err == nil {
		t.Error("a push without a login succeeded")
	}
	if got := c.request(t, http.MethodDelete, "/v2/app/manifests/"+digestOf(t, image), "dev", "secret"); got.StatusCode != 405 {
		t.Errorf("deletion: %d", got.StatusCode)
	}
}

func TestUploadsLeadToTheStoredName(t *testing.T) {
	c := startCluster(t)
	push(t, c.people, "app:dev", "a layer", dev)
	started := c.request(t, http.MethodPost, "/v2/new/blobs/uploads/", "dev", "secret").Header.Get("Location")
	if want := c.people.URL + "/v2/127.0.0.1__5000/new/blobs/uploads/"; !strings.HasPrefix(started, want) {
		t.Errorf("an upload goes to %s, want %s...", started, want)
	}
	// Tools ask the registry to take a layer from an image that they have pushed before.
	mount := url.Values{"mount": {layerOf("a layer")}, "from": {"app"}}
	mounted := c.request(t, http.MethodPost, "/v2/new/blobs/uploads/?"+mount.Encode(), "dev", "secret")
	if mounted.StatusCode != http.StatusCreated {
		t.Errorf("mounting a layer: %d", mounted.StatusCode)
	}
	c.wants(t, "/v2/new/blobs/"+layerOf("a layer"), "127.0.0.1:5000")
}

func TestIndexWithMissingPlatforms(t *testing.T) {
	c := startCluster(t)
	present, absent := imageOf(t, "amd64"), imageOf(t, "arm64")
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		mutate.IndexAddendum{Add: present, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
		mutate.IndexAddendum{Add: absent, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}})
	check(t, pushImage(c.people, "app:amd64", present, dev))
	tag, err := name.NewTag(strings.TrimPrefix(c.people.URL, "https://") + "/app:dev")
	check(t, err)
	check(t, remote.Put(tag, index, dev, remote.WithTransport(c.people.Client().Transport)))
	if got := c.wants(t, "/v2/app/manifests/dev", "127.0.0.1:5000"); got != digestOf(t, index) {
		t.Errorf("the index is %s, want %s", got, digestOf(t, index))
	}
	c.wants(t, "/v2/app/manifests/"+digestOf(t, present), "127.0.0.1:5000")
}

func TestConcurrentPushes(t *testing.T) {
	c := startCluster(t)
	shared := randomContent(1 << 20)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			content := shared
			if i%2 == 0 {
				content += fmt.Sprint(i)
			}
			image := imageOf(t, content)
			repository := fmt.Sprintf("app%d", i/2)
			if err := pushImage(c.people, fmt.Sprintf("%s:%d", repository, i), image, dev); err != nil {
				t.Errorf("push %d: %v", i, err)
				return
			}
			if got := c.wants(t, fmt.Sprintf("/v2/%s/manifests/%d", repository, i), "127.0.0.1:5000"); got != digestOf(t, image) {
				t.Errorf("image %d is %s, want %s", i, got, digestOf(t, image))
			}
			if got := c.wants(t, "/v2/"+repository+"/blobs/"+layerOf(content), "127.0.0.1:5000"); got != layerOf(content) {
				t.Errorf("layer %d is %s, want %s", i, got, layerOf(content))
			}
		})
	}
	wait.Wait()
}
