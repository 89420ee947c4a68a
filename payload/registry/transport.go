package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

const (
	connectTimeout = 10 * time.Second
	headerTimeout  = 30 * time.Second
)

type (
	addressPolicy func(netip.Addr) bool
	proxyFunc     func(*http.Request) (*url.URL, error)
)

// isRemote is the policy for upstream registries. Pods decide which host is asked. They must not reach services of this
// machine or of its cloud (169.254.169.254). Private networks are allowed: companies have registries there.
func isRemote(address netip.Addr) bool {
	return address.Unmap().IsGlobalUnicast() // neither loopback nor link-local, unspecified or multicast
}

// refusedAddress is the error of a connection that the policy forbids.
type refusedAddress struct{ address netip.Addr }

func (r *refusedAddress) Error() string { return fmt.Sprintf("address %s is refused", r.address) }

// guardedTransport makes HTTPS requests to addresses that are allowed, or through the proxy, whose own address may be any.
type guardedTransport struct {
	allowed         addressPolicy
	proxy           proxyFunc
	direct, proxied *http.Transport
}

func newTransport(roots *x509.CertPool, allowed addressPolicy, proxy proxyFunc) *guardedTransport {
	dialer := &net.Dialer{Timeout: connectTimeout}
	guarded := *dialer
	guarded.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		resolved, err := netip.ParseAddrPort(address)
		if err == nil && !allowed(resolved.Addr()) {
			err = &refusedAddress{resolved.Addr()}
		}
		return err
	}
	transport := func(dialer *net.Dialer, proxy proxyFunc) *http.Transport {
		return &http.Transport{
			Proxy:                 proxy,
			DialContext:           dialer.DialContext,
			TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:   connectTimeout,
			ResponseHeaderTimeout: headerTimeout,
			IdleConnTimeout:       90 * time.Second,
			ForceAttemptHTTP2:     true,
		}
	}
	return &guardedTransport{allowed: allowed, proxy: proxy, direct: transport(&guarded, nil), proxied: transport(dialer, proxy)}
}

func (g *guardedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		return nil, errors.New("plain HTTP is not used for upstream registries")
	}
	// The proxy resolves names; an address in the URL can be checked here.
	if address, err := netip.ParseAddr(r.URL.Hostname()); err == nil && !g.allowed(address) {
		return nil, &refusedAddress{address}
	}
	proxy, err := g.proxy(r)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		return g.proxied.RoundTrip(r)
	}
	return g.direct.RoundTrip(r)
}
