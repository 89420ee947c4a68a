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
	ReleaseHost    string      `json:"releaseHost"`    // host of the release's pull specs
	ReleaseStorage string      `json:"releaseStorage"` // storage of distribution, read-only; empty: no release
	Store          string      `json:"store"`          // folder of the user's images: STORE/own and STORE/mirrored
	MachinesSocket uintptr     `json:"machinesSocket"` // listening TCP socket (inherited file descriptor): HTTP, GET and HEAD
	People         *pushConfig `json:"people"`         // users of the host and others; null: they cannot push
	Builders       *pushConfig `json:"builders"`       // machines that build images; null: they cannot push
	UpstreamLogins string      `json:"upstreamLogins"` // for upstream registries; docker config {"auths": {HOST: ...}}
	Authorities    string      `json:"authorities"`    // PEM; for upstream registries, in addition to the system's authorities
	Offline        bool        `json:"offline"`        // serve what is stored, connect to no upstream registry
}

// pushConfig configures a socket for clients that push images. All requests need a login.
type pushConfig struct {
	Socket      uintptr `json:"socket"`      // listening TCP socket (inherited file descriptor): HTTPS
	Name        string  `json:"name"`        // HOST:PORT of the pushed images' names
	Certificate string  `json:"certificate"` // PEM
	Key         string  `json:"key"`         // PEM
	Logins      string  `json:"logins"`      // people: htpasswd file with bcrypt entries; builders: builders_login.go
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
	sides, err := newCluster(config, isRemote, http.ProxyFromEnvironment)
	if err != nil {
		return err
	}
	// The starter waits for the first "listening on": then all sockets must be all right.
	type socket struct {
		net.Listener
		handler http.Handler
		suffix  string
	}
	listener, err := inherited(config.MachinesSocket)
	if err != nil {
		return err
	}
	sockets := []socket{{listener, sides.machines, ""}}
	for _, push := range []struct {
		config  *pushConfig
		handler http.Handler
	}{{config.People, sides.people}, {config.Builders, sides.builders}} {
		if push.config == nil {
			continue
		}
		listener, err := push.config.listen()
		if err != nil {
			return err
		}
		sockets = append(sockets, socket{listener, push.handler, ", tls"})
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
	check := func(name string, p *pushConfig) {
		if p == nil {
			return
		}
		need(p.Socket > 2, name+".socket: must be the number of an inherited file descriptor")
		need(isHost(p.Name), fmt.Sprintf("%s.name: %q must be a host name with or without a port", name, p.Name))
		need(p.Certificate != "" && p.Key != "", name+": certificate or key is missing")
		need(p.Logins != "", name+".logins: is missing")
	}
	check("people", c.People)
	check("builders", c.Builders)
	need(c.People == nil || c.Builders == nil || c.People.Name != c.Builders.Name, "builders.name: is the name of people")
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

func (p *pushConfig) listen() (net.Listener, error) {
	certificate, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", p.Name, err)
	}
	listener, err := inherited(p.Socket)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}), nil
}

// sides are the handlers of the sockets; nil if the config does not have the socket.
type sides struct {
	machines, people, builders http.Handler
}

// newCluster makes the handlers of all sockets.
//
//	allowed  the addresses that upstream registries may have
//	proxy    the proxy for a request to an upstream registry, as in http.Transport
func newCluster(config *clusterConfig, allowed addressPolicy, proxy proxyFunc) (*sides, error) {
	own, err := openStore(filepath.Join(config.Store, "own"))
	if err != nil {
		return nil, err
	}
	mirrored, err := openStore(filepath.Join(config.Store, "mirrored"))
	if err != nil {
		return nil, err
	}
	upstream, err := newUpstream(config, allowed, proxy)
	if err != nil {
		return nil, err
	}
	release, err := openRelease(config.ReleaseStorage)
	if err != nil {
		return nil, err
	}
	machines := &machinesHandler{
		releaseHost: config.ReleaseHost,
		release:     release,
		own:         own,
		mirror:      newMirror(mirrored, upstream, config.Offline),
	}
	made := &sides{machines: machines}
	var ofBuilders string
	if config.Builders != nil {
		login, err := readLogin(config.Builders.Logins)
		if err != nil {
			return nil, fmt.Errorf("logins of %s: %w", config.Builders.Name, err)
		}
		machines.buildersHost = config.Builders.Name
		ofBuilders = encodeHost(config.Builders.Name)
		made.builders = &buildersHandler{host: ofBuilders, login: login, store: own, app: writableApp(own.folder, "")}
	}
	if config.People != nil {
		app, err := config.People.app(own)
		if err != nil {
			return nil, err
		}
		machines.peopleHost = config.People.Name
		made.people = &peopleHandler{host: encodeHost(config.People.Name), ofBuilders: ofBuilders, app: app}
	}
	return made, nil
}

// app takes images into the store. Without its file of logins, distribution would write one with a random password, and the password
// into its log.
func (p *pushConfig) app(own *store) (http.Handler, error) {
	if _, err := os.Stat(p.Logins); err != nil {
		return nil, fmt.Errorf("logins of %s: %w", p.Name, err)
	}
	return writableApp(own.folder, p.Logins), nil
}
