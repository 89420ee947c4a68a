package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/distribution/distribution/v3/registry/api/errcode"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/sirupsen/logrus"
)

// failure is why a machine does not get a target. Its sentence is the answer's body. The events of a pod have it only if the
// request was not a HEAD.
type failure struct {
	target target
	code   errcode.ErrorCode // decides the status of the answer
	reason string            // without any URL, since those of redirects can have credentials
}

func (f *failure) Error() string {
	if f.code == errcode.ErrorCodeUnknown {
		return fmt.Sprintf("%s: %s", f.target, f.reason)
	}
	hint := fmt.Sprintf("run %q", "slipway image load "+f.target.String())
	if f.target.kind == blobs {
		hint = `run "slipway image load" for the image`
	}
	return fmt.Sprintf("%s: not loaded, and %s (%s)", f.target, f.reason, hint)
}

// unpushed is the failure of a target with the host that builders push to. People cannot load images with this host.
type unpushed struct{ failure }

func (u *unpushed) Error() string { return fmt.Sprintf("%s: %s", u.target, u.reason) }
func (u *unpushed) Unwrap() error { return &u.failure }

// serveFailure answers with the JSON of distribution's errors.
func serveFailure(w http.ResponseWriter, err error) {
	code := errcode.ErrorCodeUnknown
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	errcode.ServeJSON(w, code.WithMessage(err.Error()))
}

func logFailure(err error) { logrus.Warn(err.Error()) }

// offline: upstream registries are not asked.
func (t target) offline() error {
	return &failure{t, errcode.ErrorCodeUnavailable, "the cluster is offline"}
}

// busy: all downloads at a time are under way.
func (t target) busy() error {
	return &failure{t, errcode.ErrorCodeUnavailable, "other downloads did not end"}
}

// unreachable: the connection to the upstream registry failed.
func (t target) unreachable(err error) error {
	return &failure{t, errcode.ErrorCodeUnavailable, fmt.Sprintf("registry %s cannot be reached: %v", t.host, err)}
}

// interrupted: the upstream registry stopped sending.
func (t target) interrupted(err error) error {
	return &failure{t, errcode.ErrorCodeUnavailable, fmt.Sprintf("registry %s did not send all of it: %v", t.host, err)}
}

// unusable: the upstream registry's answer is not what it should be.
func (t target) unusable(err error) error {
	return &failure{t, errcode.ErrorCodeUnavailable, fmt.Sprintf("the answer of registry %s cannot be used: %v", t.host, err)}
}

// answered: the upstream registry's status is not 200.
func (t target) answered(status int) error {
	switch status {
	case http.StatusNotFound:
		code := errcode.ErrorCodeManifestUnknown
		if t.kind == blobs {
			code = errcode.ErrorCodeBlobUnknown
		}
		return &failure{t, code, fmt.Sprintf("registry %s does not have it", t.host)}
	case http.StatusUnauthorized, http.StatusForbidden:
		return &failure{t, errcode.ErrorCodeDenied,
			fmt.Sprintf("registry %s denies access: the pull secret has no valid login for %s", t.host, t.host)}
	}
	return &failure{t, errcode.ErrorCodeUnavailable,
		fmt.Sprintf("registry %s answered %d %s", t.host, status, http.StatusText(status))}
}

// unpushed: no machine has pushed it.
func (t target) unpushed() error {
	code := errcode.ErrorCodeManifestUnknown
	if t.kind == blobs {
		code = errcode.ErrorCodeBlobUnknown
	}
	return &unpushed{failure{t, code, "no machine of the cluster has pushed it"}}
}

// failed: a request to the upstream registry or to its token server failed.
func (t target) failed(err error) error {
	var status *transport.Error
	if errors.As(err, &status) {
		return t.answered(status.StatusCode)
	}
	var refused *refusedAddress
	if errors.As(err, &refused) {
		return &failure{t, errcode.ErrorCodeDenied, fmt.Sprintf(
			"registry %s has the address %s: loopback, link-local and multicast addresses are refused, and private ones of "+
				"other hosts that it names", t.host, refused.address)}
	}
	var request *url.Error
	if errors.As(err, &request) {
		return t.unreachable(request.Err)
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, context.Canceled) {
		return t.unreachable(err)
	}
	// The library's other errors quote what a server said that the registry has named.
	return t.unusable(errors.New("the login failed"))
}

// unstored: the store cannot be written. Returns nil for nil.
func (t target) unstored(err error) error {
	if err == nil {
		return nil
	}
	return &failure{t, errcode.ErrorCodeUnknown, fmt.Sprintf("the store cannot be written: %v", err)}
}
