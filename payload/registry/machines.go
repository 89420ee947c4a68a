package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/distribution/distribution/v3/registry/api/errcode"
)

// machinesHandler serves the machines, whose containerd has it as mirror of all registries: the release, then what people
// and builders pushed, then what is or becomes mirrored. The registry that an image's name starts with is the parameter "ns". Tools
// that do not send it, like podman, have the registry before the name: /v2/quay.io/team/app/manifests/1.
type machinesHandler struct {
	releaseHost  string
	release      *releaseStore
	peopleHost   string // the hosts that people and builders push to have no other images; may be empty
	buildersHost string
	own          *store
	mirror       *mirror
}

func (m *machinesHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		errcode.ServeJSON(w, errcode.ErrorCodeUnsupported)
		return
	}
	host := r.URL.Query().Get("ns")
	if host == "" && !m.isOfRelease(r.URL.Path) {
		var path string
		if host, path = splitHost(r.URL.Path); host != "" {
			r = r.Clone(r.Context())
			r.URL = &url.URL{Path: path}
		}
	}
	if host == "" {
		m.release.app.ServeHTTP(w, r)
		return
	}
	t, notFound, err := machineTarget(r.URL.Path, host)
	if host == m.releaseHost {
		if err == nil && m.isOfAnotherRelease(t) {
			m.own.serve(w, r, t)
		} else {
			m.release.app.ServeHTTP(w, r)
		}
		return
	}
	switch {
	case notFound:
		http.NotFound(w, r)
	case err != nil:
		errcode.ServeJSON(w, errcode.ErrorCodeNameInvalid.WithMessage(err.Error()))
	case m.own.has(t):
		m.own.serve(w, r, t)
	case t.host == m.peopleHost:
		m.refuse(w, t.answered(http.StatusNotFound))
	case t.host == m.buildersHost:
		m.refuse(w, t.unpushed())
	case t.kind == blobs && !m.mirror.has(t):
		m.serveNewBlob(w, r, t)
	default:
		m.serveMirrored(w, r, t, nil)
	}
}

func (m *machinesHandler) isOfRelease(path string) bool {
	t, _, err := machineTarget(path, m.releaseHost)
	return err == nil && m.release.has(t)
}

func (m *machinesHandler) refuse(w http.ResponseWriter, err error) {
	logFailure(err)
	serveFailure(w, err)
}

// isOfAnotherRelease tells whether people pushed the target under the name of the release. It must not replace anything of the
// release that the cluster was created with: that one's content comes first, and only a digest names other content. The tag of a
// signature contains the digest of what it signs.
func (m *machinesHandler) isOfAnotherRelease(t target) bool {
	return (t.tag == "" || tagOfSignature.MatchString(t.tag)) && !m.release.has(t) && m.own.has(t)
}

var tagOfSignature = regexp.MustCompile(`^sha256-[0-9a-f]{64}\.sig$`)

func (m *machinesHandler) serveNewBlob(w http.ResponseWriter, r *http.Request, t target) {
	switch {
	case r.Method == http.MethodHead:
		size, err := m.mirror.blobSize(t)
		if err != nil {
			serveFailure(w, err)
			return
		}
		setBlobHeaders(w.Header(), t, size)
	case r.Header.Get("Range") != "":
		m.serveMirrored(w, r, t, nil)
	default:
		m.serveMirrored(w, r, t, &follower{w: w, target: t})
	}
}

// serveMirrored serves a target when it is stored; with a follower, the client may get it while it is being stored.
func (m *machinesHandler) serveMirrored(w http.ResponseWriter, r *http.Request, t target, follower *follower) {
	err := m.mirror.fill(t, follower)
	switch {
	case follower != nil && follower.started:
		if err != nil {
			panic(http.ErrAbortHandler) // the client must not take the part that it has for all of it
		}
	case err != nil:
		serveFailure(w, err)
	default:
		m.mirror.serve(w, r, t)
	}
}

// A client that does not take a piece of a blob for this long is given up. The machines are on the same host.
const clientTimeout = 20 * time.Second

// follower gives a client the bytes of a blob while they are being stored. It keeps the last ones back until the blob is
// verified: a client that has all bytes has the right ones.
type follower struct {
	w       http.ResponseWriter
	target  target
	size    int64 // -1: unknown
	held    []byte
	started bool // the client has got a status
	gone    bool
}

// Write never fails, because the download goes on without the client.
func (f *follower) Write(p []byte) (int, error) {
	f.send()
	f.held = append(f.held[:0], p...)
	return len(p), nil
}

// finish gives the client the rest.
func (f *follower) finish() {
	f.send()
	if !f.started {
		f.start() // an empty blob
	}
	http.NewResponseController(f.w).SetWriteDeadline(time.Time{}) // the connection is used again
}

func (f *follower) send() {
	if len(f.held) == 0 || f.gone {
		return
	}
	if !f.started {
		f.start()
	}
	http.NewResponseController(f.w).SetWriteDeadline(time.Now().Add(clientTimeout))
	_, err := f.w.Write(f.held)
	f.gone = err != nil
}

func (f *follower) start() {
	f.started = true
	setBlobHeaders(f.w.Header(), f.target, f.size)
	f.w.WriteHeader(http.StatusOK)
}

// setBlobHeaders sets the headers that distribution sets for a stored blob. size: -1 is unknown.
func setBlobHeaders(header http.Header, t target, size int64) {
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Docker-Content-Digest", t.digest.String())
	header.Set("Etag", `"`+t.digest.String()+`"`)
	if size >= 0 {
		header.Set("Content-Length", strconv.FormatInt(size, 10))
	}
}
