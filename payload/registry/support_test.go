package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/opencontainers/go-digest"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
)

func TestMain(m *testing.M) {
	logrus.SetOutput(io.Discard)
	os.Exit(m.Run())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, text []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(name, text, 0o600))
	return name
}

// upstreamRegistry is a registry with TLS that counts requests.
type upstreamRegistry struct {
	*httptest.Server
	host string

	// answers, if set, is asked first, and tells whether it has answered.
	answers func(w http.ResponseWriter, r *http.Request) bool

	mutex    sync.Mutex
	requests map[string]int // "GET /v2/app/blobs/sha256:..."
}

func startUpstream(t *testing.T) *upstreamRegistry {
	t.Helper()
	u := &upstreamRegistry{requests: map[string]int{}}
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	u.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mutex.Lock()
		u.requests[r.Method+" "+r.URL.Path]++
		answers := u.answers
		u.mutex.Unlock()
		if answers == nil || !answers(w, r) {
			images.ServeHTTP(w, r)
		}
	}))
	u.Config.ErrorLog = log.New(io.Discard, "", 0)
	u.StartTLS()
	t.Cleanup(u.Close)
	u.host = strings.TrimPrefix(u.URL, "https://")
	return u
}

func (u *upstreamRegistry) count(method, path string) int {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.requests[method+" "+path]
}

func (u *upstreamRegistry) total() (sum int) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for _, count := range u.requests {
		sum += count
	}
	return sum
}

func (u *upstreamRegistry) answer(answers func(http.ResponseWriter, *http.Request) bool) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.answers = answers
}

// push pushes an image of one layer with that content to HOST/REPOSITORY:TAG.
func push(t *testing.T, server *httptest.Server, repository, content string, options ...remote.Option) v1.Image {
	t.Helper()
	image := imageOf(t, content)
	check(t, pushImage(server, repository, image, options...))
	return image
}

func pushImage(server *httptest.Server, repository string, image v1.Image, options ...remote.Option) error {
	tag, err := name.NewTag(strings.TrimPrefix(server.URL, "https://") + "/" + repository)
	if err != nil {
		return err
	}
	return remote.Write(tag, image, append(options, remote.WithTransport(server.Client().Transport))...)
}

func imageOf(t *testing.T, content string) v1.Image {
	t.Helper()
	layer := static.NewLayer([]byte(content), types.OCILayer)
	image, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layer)
	check(t, err)
	return image
}

func digestOf(t *testing.T, image interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	hash, err := image.Digest()
	check(t, err)
	return hash.String()
}

func layerOf(content string) string { return digest.FromString(content).String() }

func randomContent(size int) string {
	content := make([]byte, size)
	rand.New(rand.NewSource(1)).Read(content)
	return string(content)
}

// cluster is a cluster's registry as machines, people and builders see it.
type cluster struct {
	machines *httptest.Server
	people   *httptest.Server
	builders *httptest.Server
	config   clusterConfig
	handler  *machinesHandler
	logs     *logtest.Hook
}

const (
	htpasswd      = "dev:$2y$04$h8KTyvddMjbsbFksarz33eXX80kKftx80MDmI9F8avf2b0xHulXE2\n"               // secret
	buildersLogin = "build:{SHA256}0604d80622574a8e7a790f6eb600f1a91ef8fa7f29fe974067fc03c4b526080a\n" // other
)

// startCluster serves what startClusterWith does, for upstream registries on the loopback interface.
func startCluster(t *testing.T, upstreams ...*upstreamRegistry) *cluster {
	t.Helper()
	return startClusterWith(t, func(netip.Addr) bool { return true }, nil, nil, upstreams...)
}

func startClusterWith(t *testing.T, allowed addressPolicy, proxy proxyFunc, change func(*clusterConfig),
	upstreams ...*upstreamRegistry) *cluster {
	t.Helper()
	c := &cluster{config: clusterConfig{ReleaseHost: "release.test", Store: t.TempDir()}}
	c.config.People = &pushConfig{Name: "127.0.0.1:5000", Logins: writeFile(t, []byte(htpasswd))}
	c.config.Builders = &pushConfig{Name: "registry.demo.test:5443", Logins: writeFile(t, []byte(buildersLogin))}
	if len(upstreams) > 0 { // all have the same certificate
		block := &pem.Block{Type: "CERTIFICATE", Bytes: upstreams[0].Certificate().Raw}
		c.config.Authorities = writeFile(t, pem.EncodeToMemory(block))
	}
	if change != nil {
		change(&c.config)
	}
	if proxy == nil {
		proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	made, err := newCluster(&c.config, allowed, proxy)
	check(t, err)
	c.handler = made.machines.(*machinesHandler)
	c.machines, c.people = httptest.NewServer(made.machines), httptest.NewTLSServer(made.people)
	c.builders = httptest.NewTLSServer(made.builders)
	c.logs = logtest.NewGlobal()
	t.Cleanup(func() {
		c.machines.Close()
		c.people.Close()
		c.builders.Close()
		logrus.StandardLogger().ReplaceHooks(logrus.LevelHooks{})
	})
	return c
}

type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// ask makes a machine's request.
func (c *cluster) ask(t *testing.T, method, path, host string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequest(method, c.machines.URL+path+"?ns="+url.QueryEscape(host), nil)
	check(t, err)
	request.Header.Set("Accept", strings.Join(manifestTypes, ", "))
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	return answer{response.StatusCode, response.Header, body.String(), err}
}

// wants makes a GET request that must succeed, and returns the digest of the body.
func (c *cluster) wants(t *testing.T, path, host string) string {
	t.Helper()
	got := c.ask(t, http.MethodGet, path, host)
	if got.status != http.StatusOK || got.err != nil {
		t.Fatalf("%s?ns=%s: %d %v %s", path, host, got.status, got.err, got.body)
	}
	return digest.FromString(got.body).String()
}

// logged returns the warnings.
func (c *cluster) logged() (lines []string) {
	for _, entry := range c.logs.AllEntries() {
		if entry.Level == logrus.WarnLevel {
			lines = append(lines, entry.Message)
		}
	}
	return lines
}
