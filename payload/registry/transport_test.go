package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestPolicyForUpstreamRegistries(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "10.0.0.1": true, "192.168.1.1": true, "2606:4700::1": true, "fd12::1": true,
		"127.0.0.1": false, "127.8.8.8": false, "::1": false, "::ffff:127.0.0.1": false, // loopback
		"169.254.169.254": false, "::ffff:169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false, // link-local
		"0.0.0.0": false, "::": false, "224.0.0.1": false, "ff02::1": false, "255.255.255.255": false,
	} {
		if got := isRemote(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t, want %t", address, got, want)
		}
	}
}

func TestForbiddenAddressesAreNotConnected(t *testing.T) {
	upstream := startUpstream(t)
	push(t, upstream.Server, "app:dev", "1")
	c := startClusterWith(t, isRemote, nil, nil, upstream)
	before := upstream.total()
	_, port, err := net.SplitHostPort(upstream.host)
	check(t, err)
	for _, host := range []string{upstream.host, "localhost:" + port, "0.0.0.0:" + port, "169.254.169.254"} {
		got := c.ask(t, http.MethodGet, "/v2/app/manifests/dev", host)
		if got.status != http.StatusForbidden || !strings.Contains(got.body, host+"/app:dev: not loaded, and registry "+host+
			" has the address ") || !strings.Contains(got.body, "loopback, link-local and multicast addresses are refused") {
			t.Errorf("%s: %d %s", host, got.status, got.body)
		}
	}
	if upstream.total() != before {
		t.Error("the registry was connected")
	}
}

// A registry of the internet may not name hosts of private networks, by a redirect or as its token server.
func TestPrivateAddressesOfOtherHosts(t *testing.T) {
	upstream := startUpstream(t)
	c := startCluster(t, upstream)
	for says, answers := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"has the address 10.255.255.1": func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/v2/" {
				return false
			}
			http.Redirect(w, r, "https://10.255.255.1/secret", http.StatusTemporaryRedirect)
			return true
		},
		"the login failed": func(w http.ResponseWriter, r *http.Request) bool { // the library refuses it
			w.Header().Set("WWW-Authenticate", `Bearer realm="https://10.255.255.1/token",service="s"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		},
	} {
		upstream.answer(answers)
		path := fmt.Sprintf("/v2/app%d/blobs/%s", len(says), layerOf("1")) // a client of its own
		got := c.ask(t, http.MethodGet, path, upstream.host)
		if got.status < 400 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", says, got.status, got.body)
		}
	}
}

// The proxy is on the loopback interface, which is forbidden for registries, and connects all names to one registry.
func TestProxy(t *testing.T) {
	upstream := startUpstream(t)
	image := push(t, upstream.Server, "app:dev", "1")
	var connected []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connected = append(connected, r.Method+" "+r.Host)
		registry, err := net.Dial("tcp", upstream.host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		client, buffered, _ := http.NewResponseController(w).Hijack()
		io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(registry, buffered)
		go io.Copy(client, registry)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	check(t, err)
	c := startClusterWith(t, isRemote, http.ProxyURL(address), nil, upstream)

	if got := c.wants(t, "/v2/app/manifests/dev", "example.com"); got != digestOf(t, image) {
		t.Errorf("the manifest is %s, want %s", got, digestOf(t, image))
	}
	if got := c.ask(t, http.MethodGet, "/v2/app/manifests/dev", "169.254.169.254"); got.status != http.StatusForbidden {
		t.Errorf("forbidden address through the proxy: %d %s", got.status, got.body)
	}
	if len(connected) != 1 || connected[0] != "CONNECT example.com:443" {
		t.Errorf("requests to the proxy: %q", connected)
	}
}

// A registry of a private network: the library would try plain HTTP, too.
func TestNoPlainHTTP(t *testing.T) {
	requests := 0
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer plain.Close()
	c := startCluster(t)
	got := c.ask(t, http.MethodGet, "/v2/app/manifests/dev", strings.TrimPrefix(plain.URL, "http://"))
	if got.status != http.StatusServiceUnavailable || requests != 0 {
		t.Errorf("%d %s, %d requests", got.status, got.body, requests)
	}
}
