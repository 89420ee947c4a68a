package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

const (
	answerTimeout = 2 * time.Minute // for a request up to its body, including redirects and the request for a token
	stallTimeout  = time.Minute     // without any byte of a body
	clientAge     = 5 * time.Minute // then logins are read again
)

// upstream asks the registries that images' names start with.
type upstream struct {
	logins    authn.Keychain
	transport *guardedTransport
	stall     time.Duration

	mutex   sync.Mutex
	clients map[name.Repository]func() (*http.Client, error)
	since   time.Time
}

func newUpstream(config *clusterConfig, allowed addressPolicy, proxy proxyFunc) (*upstream, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	if config.Authorities != "" {
		pem, err := os.ReadFile(config.Authorities)
		if err != nil {
			return nil, fmt.Errorf("authorities of upstream registries: %w", err)
		}
		if len(bytes.TrimSpace(pem)) > 0 && !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("authorities of upstream registries: %s has no certificate", config.Authorities)
		}
	}
	logins := logins(config.UpstreamLogins)
	if _, err := logins.read(); err != nil {
		return nil, err
	}
	return &upstream{logins: logins, transport: newTransport(roots, allowed, proxy), stall: stallTimeout}, nil
}

// get requests a manifest or blob. The caller closes the body. Errors: a failure, also for any status but 200.
func (u *upstream) get(method string, t target) (*http.Response, error) {
	registry, err := name.NewRegistry(t.host, name.StrictValidation)
	if err != nil {
		return nil, t.unusable(err)
	}
	repository := registry.Repo(t.name)
	client, err := u.client(repository)
	if err != nil {
		return nil, t.failed(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	url := fmt.Sprintf("https://%s/v2/%s/%s/%s", registry.RegistryStr(), repository.RepositoryStr(), t.kind, t.reference())
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		cancel(nil)
		return nil, t.unusable(err)
	}
	if t.kind == manifests {
		request.Header.Set("Accept", strings.Join(manifestTypes, ", "))
	}
	timer := time.AfterFunc(answerTimeout, func() { cancel(fmt.Errorf("no answer for %v", answerTimeout)) })
	defer timer.Stop()
	response, err := client.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		return nil, t.failed(err)
	}
	response.Body = &body{ReadCloser: response.Body, ctx: ctx, cancel: cancel, stall: u.stall}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, t.answered(response.StatusCode)
	}
	return response, nil
}

// client returns a client that has logged in to the repository's registry. Clients are used again for a while, because
// each new one costs up to two requests.
func (u *upstream) client(repository name.Repository) (*http.Client, error) {
	u.mutex.Lock()
	if time.Since(u.since) > clientAge {
		u.clients, u.since = map[name.Repository]func() (*http.Client, error){}, time.Now()
	}
	client := u.clients[repository]
	if client == nil {
		client = sync.OnceValues(func() (*http.Client, error) { return u.logIn(repository) })
		u.clients[repository] = client
	}
	u.mutex.Unlock()
	ready, err := client()
	if err != nil {
		u.mutex.Lock()
		delete(u.clients, repository)
		u.mutex.Unlock()
	}
	return ready, err
}

func (u *upstream) logIn(repository name.Repository) (*http.Client, error) {
	login, err := u.logins.Resolve(repository)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	scopes := []string{repository.Scope(transport.PullScope)}
	from := &registryTransport{host: repository.RegistryStr(), guarded: u.transport}
	with, err := transport.NewWithContext(ctx, repository.Registry, login, from, scopes)
	return &http.Client{Transport: with}, err
}

// body ends a request whose body does not go on.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	stall  time.Duration
}

func (b *body) Read(p []byte) (int, error) {
	timer := time.AfterFunc(b.stall, func() { b.cancel(fmt.Errorf("no data for %v", b.stall)) })
	defer timer.Stop()
	n, err := b.ReadCloser.Read(p)
	if cause := context.Cause(b.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}
