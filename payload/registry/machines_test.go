package main

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestImageIsMirroredOnce(t *testing.T) {
	upstream := startUpstream(t)
	image := push(t, upstream.Server, "library/app:dev", "a layer")
	c := startCluster(t, upstream)
	upstream.requests = map[string]int{}

	for range 2 {
		head := c.ask(t, http.MethodHead, "/v2/library/app/manifests/dev", upstream.host)
		if head.status != http.StatusOK || head.header.Get("Docker-Content-Digest") != digestOf(t, image) {
			t.Fatalf("HEAD of the tag: %d %v", head.status, head.header)
		}
		for _, reference := range []string{"dev", digestOf(t, image)} {
			if got := c.wants(t, "/v2/library/app/manifests/"+reference, upstream.host); got != digestOf(t, image) {
				t.Errorf("manifest %s is %s", reference, got)
			}
		}
		if got := c.wants(t, "/v2/library/app/blobs/"+layerOf("a layer"), upstream.host); got != layerOf("a layer") {
			t.Errorf("the layer is %s", got)
		}
	}
	for path, want := range map[string]int{
		"HEAD /v2/library/app/manifests/dev":                  4, // each request for a tag asks what it is now
		"GET /v2/library/app/manifests/" + digestOf(t, image): 1,
		"GET /v2/library/app/blobs/" + layerOf("a layer"):     1,
	} {
		if got := upstream.requests[path]; got != want {
			t.Errorf("%d requests %s, want %d", got, path, want)
		}
	}
}

func TestBlobHeadersAndRanges(t *testing.T) {
	upstream := startUpstream(t)
	push(t, upstream.Server, "app:dev", "0123456789")
	c := startCluster(t, upstream)
	path := "/v2/app/blobs/" + layerOf("0123456789")

	head := c.ask(t, http.MethodHead, path, upstream.host)
	if head.status != http.StatusOK || head.header.Get("Content-Length") != "10" || upstream.count("GET", path) != 0 {
		t.Errorf("HEAD: %d %v, %d GET requests upstream", head.status, head.header, upstream.count("GET", path))
	}
	part := c.ask(t, http.MethodGet, path, upstream.host, "Range", "bytes=2-4")
	if part.status != http.StatusPartialContent || part.body != "234" {
		t.Errorf("range: %d %q", part.status, part.body)
	}

	push(t, upstream.Server, "app:dev", "other")
	path = "/v2/app/blobs/" + layerOf("other")
	streamed, stored := c.ask(t, http.MethodGet, path, upstream.host), c.ask(t, http.MethodGet, path, upstream.host)
	for _, name := range []string{"Content-Length", "Content-Type", "Docker-Content-Digest", "Etag"} {
		if streamed.header.Get(name) == "" || streamed.header.Get(name) != stored.header.Get(name) {
			t.Errorf("%s is %q while it is stored, %q afterwards", name, streamed.header.Get(name), stored.header.Get(name))
		}
	}
	if streamed.body != "other" || stored.body != "other" {
		t.Errorf("content is %q, then %q", streamed.body, stored.body)
	}
}

func TestOwnImagesComeFirst(t *testing.T) {
	upstream := startUpstream(t)
	push(t, upstream.Server, "app:dev", "of the registry")
	c := startCluster(t, upstream)
	own := push(t, c.people, encodeHost(upstream.host)+"/app:dev", "pushed", dev)

	before := upstream.total()
	if got := c.wants(t, "/v2/app/manifests/dev", upstream.host); got != digestOf(t, own) {
		t.Errorf("the tag is %s, want the pushed %s", got, digestOf(t, own))
	}
	c.wants(t, "/v2/app/blobs/"+layerOf("pushed"), upstream.host)
	if upstream.total() != before {
		t.Error("the upstream registry was asked for an image that people pushed")
	}
	c.wants(t, "/v2/app/blobs/"+layerOf("of the registry"), upstream.host)
}

func TestTagMovesUpstream(t *testing.T) {
	upstream := startUpstream(t)
	first := push(t, upstream.Server, "app:dev", "1")
	c := startCluster(t, upstream)
	c.wants(t, "/v2/app/manifests/dev", upstream.host)
	second := push(t, upstream.Server, "app:dev", "2")
	if got := c.wants(t, "/v2/app/manifests/dev", upstream.host); got != digestOf(t, second) {
		t.Errorf("the tag is %s, want %s", got, digestOf(t, second))
	}
	push(t, upstream.Server, "app:dev", "1") // back to one that is stored
	if got := c.wants(t, "/v2/app/manifests/dev", upstream.host); got != digestOf(t, first) {
		t.Errorf("the tag is %s, want %s", got, digestOf(t, first))
	}
	if got := upstream.count("GET", "/v2/app/manifests/"+digestOf(t, first)); got != 1 {
		t.Errorf("the first manifest was fetched %d times", got)
	}
}

func TestRegistryThatSendsNoDigest(t *testing.T) {
	upstream := startUpstream(t)
	image := push(t, upstream.Server, "app:dev", "1")
	upstream.answer(func(w http.ResponseWriter, r *http.Request) bool { return r.Method == http.MethodHead }) // an empty 200
	c := startCluster(t, upstream)
	if got := c.wants(t, "/v2/app/manifests/dev", upstream.host); got != digestOf(t, image) {
		t.Errorf("the tag is %s, want %s", got, digestOf(t, image))
	}
}

func TestUpstreamIsGone(t *testing.T) {
	upstream := startUpstream(t)
	image := push(t, upstream.Server, "app:dev", "1")
	c := startCluster(t, upstream)
	c.wants(t, "/v2/app/manifests/dev", upstream.host)
	upstream.Close()

	if got := c.wants(t, "/v2/app/manifests/dev", upstream.host); got != digestOf(t, image) {
		t.Errorf("the tag is %s, want the stored %s", got, digestOf(t, image))
	}
	other := c.ask(t, http.MethodGet, "/v2/app/manifests/other", upstream.host)
	want := upstream.host + "/app:other: not loaded, and registry " + upstream.host + " cannot be reached: dial tcp " +
		upstream.host + `: connect: connection refused (run \"slipway image load ` + upstream.host + `/app:other\")`
	if body := `{"errors":[{"code":"UNAVAILABLE","message":"` + want + `"}]}` + "\n"; other.status != 503 || other.body != body {
		t.Errorf("unknown tag: %d %s\nwant %s", other.status, other.body, body)
	}
	c.expectLog(t,
		upstream.host+"/app:dev: serving the stored image, because registry "+upstream.host+" cannot be reached: dial tcp ",
		strings.ReplaceAll(want, `\"`, `"`))
}

func TestAnswersThatAreNotImages(t *testing.T) {
	upstream := startUpstream(t)
	push(t, upstream.Server, "app:dev", "1")
	c := startCluster(t, upstream)
	status := 0
	upstream.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v2/" {
			return false
		}
		w.WriteHeader(status)
		return true
	})
	cases := []struct {
		path           string
		upstream, want int
		code, sentence string
	}{
		{"/v2/app/manifests/x", 404, 404, "MANIFEST_UNKNOWN", "app:x: not loaded, and registry HOST does not have it (run"},
		{"/v2/app/blobs/" + someDigest, 404, 404, "BLOB_UNKNOWN", "not loaded, and registry HOST does not have it (run"},
		{"/v2/app/manifests/x", 401, 403, "DENIED",
			"app:x: not loaded, and registry HOST denies access: the pull secret has no valid login for HOST"},
		{"/v2/app/manifests/x", 403, 403, "DENIED", "the pull secret has no valid login"},
		{"/v2/app/manifests/x", 429, 503, "UNAVAILABLE", "app:x: not loaded, and registry HOST answered 429 Too Many Requests (run"},
		{"/v2/app/manifests/x", 200, 503, "UNAVAILABLE", "app:x: not loaded, and the answer of registry HOST cannot be used: "},
		{"/v2/app/manifests/" + someDigest[:70] + "0", 200, 503, "UNAVAILABLE", "cannot be used: the manifest has the digest"},
	}
	for _, test := range cases {
		status = test.upstream
		got, sentence := c.ask(t, http.MethodGet, test.path, upstream.host), strings.ReplaceAll(test.sentence, "HOST", upstream.host)
		start := `{"errors":[{"code":"` + test.code + `"`
		if got.status != test.want || !strings.HasPrefix(got.body, start) || !strings.Contains(got.body, sentence) {
			t.Errorf("%s, upstream answers %d: %d %s", test.path, test.upstream, got.status, got.body)
		}
		if lines := c.logged(); !strings.Contains(lines[len(lines)-1], sentence) {
			t.Errorf("%s, upstream answers %d: log is %q", test.path, test.upstream, lines[len(lines)-1])
		}
	}
}

func TestRequestsThatAreNotOfMachines(t *testing.T) {
	c := startCluster(t)
	for _, test := range []struct {
		method, path, host string
		want               int
	}{
		{"PUT", "/v2/app/manifests/x", "docker.io", 405},
		{"POST", "/v2/app/blobs/uploads/", "docker.io", 405},
		{"DELETE", "/v2/app/manifests/x", "", 405},
		{"GET", "/v2/app/manifests/x", "a b", 400},
		{"GET", "/v2/app/manifests/x", "169.254.169.254/x", 400},
		{"GET", "/v2/app/tags/list", "docker.io", 404},
		{"GET", "/v2/app/manifests/x", "", 404},             // there is no release
		{"GET", "/v2/app/manifests/x", "release.test", 404}, // neither under its name
	} {
		if got := c.ask(t, test.method, test.path, test.host); got.status != test.want {
			t.Errorf("%s %s?ns=%s: %d, want %d", test.method, test.path, test.host, got.status, test.want)
		}
	}
}

func TestReleaseIsServedAndLogged(t *testing.T) {
	// The release of one cluster is what people have pushed to another one.
	maker := startCluster(t)
	image := push(t, maker.people, "slipway/release:1", "a layer", dev)
	storage := filepath.Join(maker.config.Store, "own")
	c := startClusterWith(t, nil, nil, func(config *clusterConfig) { config.ReleaseStorage = storage })
	for _, host := range []string{"", "release.test"} {
		if got := c.wants(t, "/v2/127.0.0.1__5000/slipway/release/manifests/1", host); got != digestOf(t, image) {
			t.Errorf("ns=%s: the release is %s, want %s", host, got, digestOf(t, image))
		}
		entry := c.logs.LastEntry()
		uri, _ := entry.Data["http.request.uri"].(string)
		if entry.Message != "response completed" || !strings.HasSuffix(uri, "/1?ns="+host) {
			t.Errorf("log is %q %v", entry.Message, entry.Data)
		}
	}
}

// The images of a newer release have the name of the one that the cluster was created with.
func TestPushedReleaseIsServedAfterTheOwnOne(t *testing.T) {
	maker := startCluster(t)
	running := push(t, maker.people, "slipway/release:1", "running", dev)
	storage := filepath.Join(maker.config.Store, "own")
	c := startClusterWith(t, nil, nil, func(config *clusterConfig) { config.ReleaseStorage = storage })
	const path = "/v2/127.0.0.1__5000/slipway/release/" // the release's repository in that storage
	absent := c.ask(t, http.MethodGet, path+"manifests/"+digestOf(t, imageOf(t, "newer")), "release.test")
	if absent.status != http.StatusNotFound || !strings.Contains(absent.body, "MANIFEST_UNKNOWN") {
		t.Errorf("a release that nobody pushed: %d %s", absent.status, absent.body)
	}

	newer := push(t, c.people, "release.test/127.0.0.1__5000/slipway/release:1", "newer", dev)
	for what, want := range map[string]string{
		"manifests/" + digestOf(t, running): digestOf(t, running),
		"manifests/" + digestOf(t, newer):   digestOf(t, newer),
		"blobs/" + layerOf("running"):       layerOf("running"),
		"blobs/" + layerOf("newer"):         layerOf("newer"),
		"manifests/1":                       digestOf(t, running), // the pushed tag replaces nothing
	} {
		if got := c.wants(t, path+what, "release.test"); got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}

	push(t, c.people, "release.test/127.0.0.1__5000/slipway/release:2", "running", dev)
	hex := strings.TrimPrefix(digestOf(t, running), "sha256:")
	pushed := filepath.Join(c.config.Store, "own/docker/registry/v2/blobs/sha256", hex[:2], hex, "data")
	check(t, os.WriteFile(pushed, []byte("{}"), 0o600))
	if got := c.wants(t, path+"manifests/"+digestOf(t, running), "release.test"); got != digestOf(t, running) {
		t.Errorf("the running release is replaced by what was pushed: %s", got)
	}
	push(t, c.people, "release.test/127.0.0.1__5000/slipway/release:other", "other", dev)
	if got := c.ask(t, http.MethodGet, path+"manifests/other", "release.test"); got.status != http.StatusNotFound {
		t.Errorf("a tag that only people pushed: %d", got.status)
	}
	if err := pushImage(c.people, "release.test/127.0.0.1__5000/slipway/release:3", newer); err == nil {
		t.Error("a push without a login succeeded")
	}
}

func TestOneDownloadForTenClients(t *testing.T) {
	content := randomContent(20 << 20)
	upstream := startUpstream(t)
	push(t, upstream.Server, "app:dev", content)
	c := startCluster(t, upstream)
	path := "/v2/app/blobs/" + layerOf(content)
	upstream.answer(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && r.URL.Path == path {
			time.Sleep(300 * time.Millisecond) // the others come while the first one waits
		}
		return false
	})
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			if got := c.wants(t, path, upstream.host); got != layerOf(content) {
				t.Errorf("the blob is %s, want %s", got, layerOf(content))
			}
		})
	}
	wait.Wait()
	if got := upstream.count("GET", path); got != 1 {
		t.Errorf("the blob was fetched %d times", got)
	}
}

func TestDownloadsAreLimited(t *testing.T) {
	upstream := startUpstream(t)
	for i := range 3 * maxDownloads {
		push(t, upstream.Server, "app:dev", strconv.Itoa(i))
	}
	c := startCluster(t, upstream)
	var now, most atomic.Int32
	upstream.answer(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(50 * time.Millisecond)
			now.Add(-1)
		}
		return false
	})
	var wait sync.WaitGroup
	for i := range 3 * maxDownloads {
		wait.Go(func() { c.wants(t, "/v2/app/blobs/"+layerOf(strconv.Itoa(i)), upstream.host) })
	}
	wait.Wait()
	if most.Load() < 2 || most.Load() > maxDownloads {
		t.Errorf("%d downloads at a time, the limit is %d", most.Load(), maxDownloads)
	}
}

func TestDownloadGoesOnWithoutItsClient(t *testing.T) {
	content := randomContent(4 << 20)
	upstream := startUpstream(t)
	push(t, upstream.Server, "app:dev", content)
	c := startCluster(t, upstream)
	path := "/v2/app/blobs/" + layerOf(content)
	left := make(chan bool)
	upstream.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Path != path {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		io.WriteString(w, content[:1<<20])
		w.(http.Flusher).Flush()
		<-left
		io.WriteString(w, content[1<<20:])
		return true
	})
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.machines.URL+path+"?ns="+upstream.host, nil)
	check(t, err)
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	if _, err := io.ReadFull(response.Body, make([]byte, 1000)); err != nil {
		t.Fatalf("the client does not get bytes during the download: %v", err)
	}
	leave()
	response.Body.Close()
	close(left)
	if got := c.wants(t, path, upstream.host); got != layerOf(content) { // waits for the download
		t.Errorf("the blob is %s, want %s", got, layerOf(content))
	}
	if got := upstream.count("GET", path); got != 1 {
		t.Errorf("the blob was fetched %d times", got)
	}
}

func TestDamagedBlobIsNotStored(t *testing.T) {
	content := randomContent(200_000)
	upstream := startUpstream(t)
	push(t, upstream.Server, "app:dev", content)
	c := startCluster(t, upstream)
	path := "/v2/app/blobs/" + layerOf(content)
	for _, test := range []struct {
		name, log, sent string
		stall           time.Duration
	}{
		{"other content", "the content does not have this digest", "x" + content[1:], 0},
		{"connection lost", "did not send all of it: unexpected EOF", content[:100_000], 0},
		{"no more data", "did not send all of it: no data for 100ms", content[:100_000], 100 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.handler.mirror.upstream.stall = cmp.Or(test.stall, time.Minute)
			upstream.answer(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet || r.URL.Path != path {
					return false
				}
				w.Header().Set("Content-Length", strconv.Itoa(len(content)))
				io.WriteString(w, test.sent)
				w.(http.Flusher).Flush()
				if test.stall > 0 {
					<-r.Context().Done()
				}
				return true
			})
			got := c.ask(t, http.MethodGet, path, upstream.host)
			if got.status == http.StatusOK && got.err == nil {
				t.Errorf("the client got %d bytes and no error", len(got.body))
			}
			if lines := c.logged(); !strings.Contains(lines[len(lines)-1], test.log) {
				t.Errorf("log is %q, want %q", lines[len(lines)-1], test.log)
			}
			if left := filesBelow(t, filepath.Join(c.config.Store, "mirrored")); len(left) > 0 {
				t.Errorf("left in the store: %q", left)
			}
		})
	}
	upstream.answer(nil)
	if got := c.wants(t, path, upstream.host); got != layerOf(content) {
		t.Errorf("the blob is %s, want %s", got, layerOf(content))
	}
}

func filesBelow(t *testing.T, folder string) (names []string) {
	t.Helper()
	check(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimPrefix(name, folder))
		}
		return err
	}))
	return names
}

func TestInterruptedUploadsAreRemovedAtStart(t *testing.T) {
	folder, ctx := t.TempDir(), context.Background()
	store, err := openStore(folder)
	check(t, err)
	// A name with a UUID looks similar to an upload in the storage.
	named, _, err := machineTarget("/v2/550e8400-e29b-41d4-a716-446655440000/app/blobs/"+layerOf("whole"), "ttl.sh")
	check(t, err)
	repository, err := store.images.Repository(ctx, named.stored)
	check(t, err)
	_, err = repository.Blobs(ctx).Put(ctx, "", []byte("whole"))
	check(t, err)
	whole := filesBelow(t, folder)
	upload, err := repository.Blobs(ctx).Create(ctx)
	check(t, err)
	_, err = upload.Write([]byte("a part"))
	check(t, err)
	check(t, upload.Close())
	if left := filesBelow(t, folder); len(left) == len(whole) {
		t.Fatal("the upload is not in the storage")
	}

	store, err = openStore(folder)
	check(t, err)
	if left := filesBelow(t, folder); !slices.Equal(left, whole) {
		t.Errorf("the storage has %q, want %q", left, whole)
	}
	if !store.has(named) {
		t.Error("a stored blob is lost")
	}
}

func TestLoginGoesToItsHostOnly(t *testing.T) {
	const basic = "Basic ZGV2OnNlY3JldA=="
	var mutex sync.Mutex
	seen := map[string][]string{} // Authorization headers by host
	record := func(r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		if login := r.Header.Get("Authorization"); login != "" {
			seen[r.Host] = append(seen[r.Host], login)
		}
	}
	private, public := startUpstream(t), startUpstream(t)
	push(t, private.Server, "app:dev", "private", dev)
	push(t, public.Server, "app:dev", "public")
	private.answer(func(w http.ResponseWriter, r *http.Request) bool {
		record(r)
		switch {
		case r.Header.Get("Authorization") != basic:
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.Contains(r.URL.Path, "/blobs/"): // content comes from another host
			http.Redirect(w, r, public.URL+"/v2/app/blobs/"+layerOf("private"), http.StatusTemporaryRedirect)
		default:
			return false
		}
		return true
	})
	public.answer(func(w http.ResponseWriter, r *http.Request) bool {
		record(r)
		if r.URL.Path == "/v2/app/blobs/"+layerOf("private") {
			io.WriteString(w, "private")
			return true
		}
		return false
	})
	logins := writeFile(t, []byte(`{"auths":{"https://`+private.host+`/v1/":{"auth":"ZGV2OnNlY3JldA=="},"bad.test":{"auth":"%"}}}`))
	allowAll := func(netip.Addr) bool { return true }
	c := startClusterWith(t, allowAll, nil, func(config *clusterConfig) { config.UpstreamLogins = logins }, private)
	c.wants(t, "/v2/app/manifests/dev", private.host)
	if got := c.wants(t, "/v2/app/blobs/"+layerOf("private"), private.host); got != layerOf("private") {
		t.Errorf("the blob is %s", got)
	}
	c.wants(t, "/v2/app/manifests/dev", public.host)
	if len(seen[private.host]) == 0 || len(seen[public.host]) != 0 {
		t.Errorf("logins were sent to: %v", seen)
	}

	without := startCluster(t, private)
	if got := without.ask(t, http.MethodGet, "/v2/app/manifests/dev", private.host); got.status != http.StatusForbidden {
		t.Errorf("without the login: %d %s", got.status, got.body)
	}
	for _, c := range []*cluster{c, without} {
		for _, entry := range c.logs.AllEntries() {
			if line, _ := entry.String(); strings.Contains(line, "dev:secret") || strings.Contains(line, "ZGV2OnNlY3JldA") {
				t.Errorf("a login is in the log: %s", line)
			}
		}
	}
}

func TestOffline(t *testing.T) {
	upstream := startUpstream(t)
	image := push(t, upstream.Server, "app:dev", "1")
	online := startCluster(t, upstream)
	online.wants(t, "/v2/app/manifests/dev", upstream.host)
	before := upstream.total()

	c := startClusterWith(t, func(netip.Addr) bool { return true }, nil,
		func(config *clusterConfig) { config.Store, config.Offline = online.config.Store, true }, upstream)
	if got := c.wants(t, "/v2/app/manifests/dev", upstream.host); got != digestOf(t, image) {
		t.Errorf("the tag is %s, want %s", got, digestOf(t, image))
	}
	missing := c.ask(t, http.MethodGet, "/v2/library/app/manifests/dev", "docker.io")
	want := `docker.io/library/app:dev: not loaded, and the cluster is offline (run "slipway image load docker.io/library/app:dev")`
	if missing.status != 503 || !strings.Contains(missing.body, "UNAVAILABLE") {
		t.Errorf("missing image: %d %s", missing.status, missing.body)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if got := c.ask(t, method, "/v2/app/blobs/"+layerOf("1"), upstream.host); got.status != 503 {
			t.Errorf("%s of a missing blob: %d", method, got.status)
		}
	}
	c.expectLog(t, want)
	if upstream.total() != before {
		t.Error("the upstream registry was asked")
	}
}

// expectLog looks for warnings that start with the lines.
func (c *cluster) expectLog(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !slices.ContainsFunc(c.logged(), func(logged string) bool { return strings.HasPrefix(logged, line) }) {
			t.Errorf("log is %q\nwant %q", c.logged(), line)
		}
	}
}

// podman does not send "ns". Its configuration on a machine puts the registry before the name.
func TestTheRegistryMayBeInThePath(t *testing.T) {
	upstream := startUpstream(t)
	image := push(t, upstream.Server, "team/app:1", "a layer")
	c := startCluster(t, upstream)
	path := "/v2/" + encodeHost(upstream.host) + "/team/app"
	if got := c.wants(t, path+"/manifests/1", ""); got != digestOf(t, image) {
		t.Errorf("%s, want %s", got, digestOf(t, image))
	}
	c.wants(t, path+"/blobs/"+layerOf("a layer"), "")
	push(t, c.builders, "os/master:1", "of builders", build)
	c.wants(t, "/v2/registry.demo.test__5443/os/master/manifests/1", "")
	if got := c.ask(t, http.MethodGet, "/v2/"+encodeHost(upstream.host)+"/team/other/manifests/1", ""); got.status != http.StatusNotFound {
		t.Errorf("an image that does not exist: %d", got.status)
	}
}
