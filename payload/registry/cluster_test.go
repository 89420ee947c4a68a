package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
)

const goodConfig = `{"releaseHost": "release.test", "releaseStorage": "", "store": "/store", "machinesSocket": 3,
	"people": {"socket": 4, "name": "127.0.0.1:5000", "certificate": "c", "key": "k", "logins": "l"},
	"builders": {"socket": 5, "name": "registry.demo.test:5443", "certificate": "c", "key": "k", "logins": "m"},
	"upstreamLogins": "", "authorities": "", "offline": false}`

func TestConfig(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{`{"socket": 4, "name": "127.0.0.1:5000", "certificate": "c", "key": "k", "logins": "l"}`, "null", ""},
		{`"offline"`, `"ofline"`, `unknown field "ofline"`},
		{`"key"`, `"kye"`, `unknown field "kye"`},
		{`"store": "/store"`, `"store": ""`, "store: is missing"},
		{`"machinesSocket": 3`, `"machinesSocket": 0`, "machinesSocket: must be"},
		{`"127.0.0.1:5000"`, `"https://host"`, "people.name: "},
		{`"l"`, `""`, "people.logins: is missing"},
		{`"socket": 5`, `"socket": 0`, "builders.socket: must be"},
		{`"m"`, `""`, "builders.logins: is missing"},
		{`"registry.demo.test:5443"`, `"127.0.0.1:5000"`, "builders.name: is the name of people"},
		{`"release.test"`, `""`, "releaseHost: is missing"},
		{"}", "", "unexpected EOF"},
	} {
		_, err := readConfig(writeFile(t, []byte(strings.Replace(goodConfig, test.old, test.new, 1))))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want %q", test.new, err, test.want)
		}
	}
}

// listen returns the address of a new socket and a file descriptor that a callee may close.
func listen(t *testing.T) (string, uintptr) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	check(t, err)
	defer file.Close()
	socket, err := syscall.Dup(int(file.Fd()))
	check(t, err)
	return listener.Addr().String(), uintptr(socket)
}

func TestClusterServesInheritedSockets(t *testing.T) {
	machines, machinesSocket := listen(t)
	people, peopleSocket := listen(t)
	builders, buildersSocket := listen(t)
	server := httptest.NewTLSServer(nil) // has a certificate
	server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	check(t, err)
	push := func(socket uintptr, name, logins string) *pushConfig {
		return &pushConfig{
			Socket: socket, Name: name, Logins: writeFile(t, []byte(logins)),
			Certificate: writeFile(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
			Key:         writeFile(t, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		}
	}
	config, err := json.Marshal(clusterConfig{
		ReleaseHost: "release.test", Store: t.TempDir(), MachinesSocket: machinesSocket,
		People: push(peopleSocket, people, htpasswd), Builders: push(buildersSocket, "registry.demo.test:5443", buildersLogin),
	})
	check(t, err)
	logs := logtest.NewGlobal()
	defer logrus.StandardLogger().ReplaceHooks(logrus.LevelHooks{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- runCluster(ctx, writeFile(t, config)) }()

	insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client := &http.Client{Timeout: 30 * time.Second, Transport: insecure}
	for url, want := range map[string]int{
		"http://" + machines + "/v2/app/manifests/x?ns=a..b": 400,
		"https://" + people + "/v2/":                         401,
		"https://dev:secret@" + people + "/v2/":              200,
		"https://dev:secret@" + builders + "/v2/":            401,
		"https://build:other@" + builders + "/v2/":           200,
	} {
		response, err := client.Get(url) // the sockets listen already, so that there is no race with the start
		check(t, err)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", url, response.StatusCode, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	var lines []string
	for _, entry := range logs.AllEntries() {
		if strings.HasPrefix(entry.Message, "listening on") {
			lines = append(lines, entry.Message)
		}
	}
	want := "listening on " + machines + "; listening on " + people + ", tls; listening on " + builders + ", tls"
	if strings.Join(lines, "; ") != want {
		t.Errorf("log is %q, want %q", lines, want)
	}
}

// Otherwise distribution would create the file and log a password.
func TestMissingLoginsAreAnError(t *testing.T) {
	push := &pushConfig{Name: "a:1", Logins: "/nowhere/htpasswd"}
	for _, config := range []*clusterConfig{{People: push}, {Builders: push}} {
		config.ReleaseHost, config.Store = "release.test", t.TempDir()
		if _, err := newCluster(config, isRemote, http.ProxyFromEnvironment); err == nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error is %v", err)
		}
	}
}
