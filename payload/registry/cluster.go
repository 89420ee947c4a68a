package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

// clusterConfig is the configuration of "registry cluster", a JSON file. An empty name of a file means: no such file.
type clusterConfig struct {
	ReleaseHost    string        `json:"releaseHost"`    // host of the release's pull specs
	ReleaseStorage string        `json:"releaseStorage"` // storage of distribution, read-only; empty: no release
	Store          string        `json:"store"`          // folder of the user's images: STORE/own and STORE/mirrored
	MachinesSocket uintptr       `json:"machinesSocket"` // listening TCP socket (inherited file descriptor): HTTP, GET and HEAD
	People         *peopleConfig `json:"people"`         // null: no pushes
	UpstreamLogins string        `json:"upstreamLogins"` // for upstream registries; docker config {"auths": {HOST: ...}}
	Authorities    string        `json:"authorities"`    // PEM; for upstream registries, in addition to the system's authorities
	Offline        bool          `json:"offline"`        // serve what is stored, connect to no upstream registry
}

// peopleConfig configures the socket for users of the host and other people who push images. All requests need a login.
type peopleConfig struct {
	Socket      uintptr `json:"socket"`      // listening TCP socket (inherited file descriptor): HTTPS
	Name        string  `json:"name"`        // HOST:PORT of the pushed images' names
	Certificate string  `json:"certificate"` // PEM
	Key         string  `json:"key"`         // PEM
	Logins      string  `json:"logins"`      // htpasswd file with bcrypt entries
}

var clusterCommand = &cobra.Command{
	Use:   "cluster CONFIG.json",
	Short: "Serve the images of a local cluster: its release, pushed images, and those of upstream registries",
	Args:  cobra.ExactArgs(1),
	Run: func(_ *cobra.Command, args []string) {
		logrus.SetFormatter(&logrus.TextFormatter{TimestampFormat: time.RFC3339Nano}) // the same as "registry serve"
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
		defer stop()
		if err := runCluster(ctx, args[0]); err != nil {
			logrus.Fatalf("registry cluster: %v", err)
		}
	},
}

// runCluster serves until ctx ends. A download that is under way then is lost and its leftovers are removed at the next start.
func runCluster(ctx context.Context, file string) error {
	config, err := readConfig(file)
	if err != nil {
		return err
	}
	machines, people, err := newCluster(config, isRemote, http.ProxyFromEnvironment)
	if err != nil {
		return err
	}
	// The starter waits for the first "listening on": then both sockets must be all right.
	type socket struct {
		net.Listener
		handler http.Handler
		suffix  string
	}
	listener, err := inherited(config.MachinesSocket)
	if err != nil {
		return err
	}
	sockets := []socket{{listener, machines, ""}}
	if config.People != nil {
		listener, err := config.People.listen()
		if err != nil {
			return err
		}
		sockets = append(sockets, socket{listener, people, ", tls"})
	}
	failed := make(chan error, len(sockets))
	for _, s := range sockets {
		server := &http.Server{Handler: s.handler, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
		defer server.Close()
		go func() { failed <- server.Serve(s) }()
		logrus.Infof("listening on %v%s", s.Addr(), s.suffix)
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

func readConfig(name string) (*clusterConfig, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder, config := json.NewDecoder(file), &clusterConfig{}
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(config); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return config, nil
}

// check reports all fields that are missing or wrong.
func (c *clusterConfig) check() error {
	var wrong []error
	need := func(ok bool, text string) {
		if !ok {
			wrong = append(wrong, errors.New(text))
		}
	}
	need(c.ReleaseHost != "", "releaseHost: is missing")
	need(c.Store != "", "store: is missing")
	need(c.MachinesSocket > 2, "machinesSocket: must be the number of an inherited file descriptor")
	if p := c.People; p != nil {
		need(p.Socket > 2, "people.socket: must be the number of an inherited file descriptor")
		need(isHost(p.Name), fmt.Sprintf("people.name: %q must be a host name with or without a port", p.Name))
		need(p.Certificate != "" && p.Key != "", "people: certificate or key is missing")
		need(p.Logins != "", "people.logins: is missing")
	}
	return errors.Join(wrong...)
}

// inherited returns a listener for a socket that the process was started with.
func inherited(socket uintptr) (net.Listener, error) {
	file := os.NewFile(socket, fmt.Sprintf("socket %d", socket))
	defer file.Close() // the listener has a copy
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("file descriptor %d is not a listening socket: %w", socket, err)
	}
	return listener, nil
}

func (p *peopleConfig) listen() (net.Listener, error) {
	certificate, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the people's socket: %w", err)
	}
	listener, err := inherited(p.Socket)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}), nil
}

// newCluster makes the handlers of both sockets; people is nil if the config has none.
//
//	allowed  the addresses that upstream registries may have
//	proxy    the proxy for a request to an upstream registry, as in http.Transport
func newCluster(config *clusterConfig, allowed addressPolicy, proxy proxyFunc) (machines, people http.Handler, err error) {
	own, err := openStore(filepath.Join(config.Store, "own"))
	if err != nil {
		return nil, nil, err
	}
	mirrored, err := openStore(filepath.Join(config.Store, "mirrored"))
	if err != nil {
		return nil, nil, err
	}
	upstream, err := newUpstream(config, allowed, proxy)
	if err != nil {
		return nil, nil, err
	}
	release, err := openRelease(config.ReleaseStorage)
	if err != nil {
		return nil, nil, err
	}
	handler := &machinesHandler{
		releaseHost: config.ReleaseHost,
		release:     release,
		own:         own,
		mirror:      newMirror(mirrored, upstream, config.Offline),
	}
	if config.People == nil {
		return handler, nil, nil
	}
	// Without the file, distribution would write one with a random password, and the password into its log.
	if _, err := os.Stat(config.People.Logins); err != nil {
		return nil, nil, fmt.Errorf("logins of the people's socket: %w", err)
	}
	handler.ownHost = config.People.Name
	people = &peopleHandler{host: encodeHost(config.People.Name), app: writableApp(own.folder, config.People.Logins)}
	return handler, people, nil
}
