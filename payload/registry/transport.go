package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
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

// isRemote is the policy for upstream registries. Pods decide which host is asked. They must not reach services that listen
// for this machine only, or those of its cloud (169.254.169.254). Private networks are allowed: companies have registries there.
func isRemote(address netip.Addr) bool {
	return address.Unmap().IsGlobalUnicast() // neither loopback nor link-local, unspecified or multicast
}

var sharedNetwork = netip.MustParsePrefix("100.64.0.0/10") // of carriers and of some clouds

func isPrivate(address netip.Addr) bool {
	address = address.Unmap()
	return address.IsPrivate() || sharedNetwork.Contains(address)
}

// refusedAddress is the error of a connection that the policy forbids.
type refusedAddress struct{ address netip.Addr }

func (r *refusedAddress) Error() string { return fmt.Sprintf("address %s is refused", r.address) }

// guardedTransport makes HTTPS requests to addresses that are allowed, or through the proxy, whose own address may be any.
type guardedTransport struct {
	allowed addressPolicy
	proxy   proxyFunc
	direct  *http.Transport // to addresses that are allowed
	public  *http.Transport // to those that are not private, either. Connections of direct are not used again here
	proxied *http.Transport
}

func newTransport(roots *x509.CertPool, allowed addressPolicy, proxy proxyFunc) *guardedTransport {
	dialer := &net.Dialer{Timeout: connectTimeout}
	guarded := func(allowed addressPolicy) *net.Dialer {
		with := *dialer
		with.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			resolved, err := netip.ParseAddrPort(address)
			if err == nil && !allowed(resolved.Addr()) {
				err = &refusedAddress{resolved.Addr()}
			}
			return err
		}
		return &with
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
	return &guardedTransport{
		allowed: allowed,
		proxy:   proxy,
		direct:  transport(guarded(allowed), nil),
		public:  transport(guarded(func(a netip.Addr) bool { return allowed(a) && !isPrivate(a) }), nil),
		proxied: transport(dialer, proxy),
	}
}

// registryTransport makes the requests of one registry. The registry decides which other hosts are asked, by redirects and by the
// name of its token server. They may have private addresses only if the registry has one: a registry of the internet could
// otherwise read from private networks.
type registryTransport struct {
	host      string
	guarded   *guardedTransport
	isPrivate atomic.Bool // the last answer of the registry came from a private address
}

func (t *registryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.host {
		return t.guarded.roundTrip(r, !t.isPrivate.Load())
	}
	var peer netip.Addr
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if address, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok {
			peer = address.AddrPort().Addr()
		}
	}}
	response, err := t.guarded.roundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)), false)
	if proxy, failed := t.guarded.proxy(r); err == nil && failed == nil {
		t.isPrivate.Store(proxy == nil && peer.IsValid() && isPrivate(peer)) // behind a proxy, the address is the proxy's
	}
	return response, err
}

func (g *guardedTransport) roundTrip(r *http.Request, onlyPublic bool) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		return nil, errors.New("plain HTTP is not used for upstream registries")
	}
	// The proxy resolves names; an address in the URL can be checked here.
	if address, err := netip.ParseAddr(r.URL.Hostname()); err == nil && (!g.allowed(address) || onlyPublic && isPrivate(address)) {
		return nil, &refusedAddress{address}
	}
	proxy, err := g.proxy(r)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		return g.proxied.RoundTrip(r)
	}
	if onlyPublic {
		return g.public.RoundTrip(r)
	}
	return g.direct.RoundTrip(r)
}
