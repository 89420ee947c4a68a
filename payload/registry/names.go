package main

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	v2 "github.com/distribution/distribution/v3/registry/api/v2"
	"github.com/distribution/reference"
	"github.com/gorilla/mux"
	"github.com/opencontainers/go-digest"
)

const (
	manifests = "manifests"
	blobs     = "blobs"
)

// A host name or IPv4 address with or without a port, in the spelling that is also legal in a repository's name.
var hostPattern = regexp.MustCompile(`^[a-z0-9]+((\.|-+)[a-z0-9]+)*(:[0-9]{1,5})?$`)

func isHost(text string) bool { return hostPattern.MatchString(text) }

// encodeHost makes "localhost:5000" the first part of a repository's name, where a colon is illegal. "__" is legal there and
// impossible in a host name.
func encodeHost(host string) string { return strings.Replace(host, ":", "__", 1) }

// splitHost takes the registry from the path of a request: "/v2/localhost__5000/app/manifests/1" has "localhost:5000", and
// "/v2/app/manifests/1" is the rest. The names of a release have no host.
func splitHost(path string) (host, rest string) {
	_, vars := matchRoute(path)
	first, _, more := strings.Cut(vars["name"], "/")
	host = strings.Replace(first, "__", ":", 1)
	if !more || !strings.ContainsAny(host, ".:") || !isHost(host) {
		return "", path
	}
	return host, strings.Replace(path, "/v2/"+first+"/", "/v2/", 1)
}

// target is what a machine asks for: a manifest or a blob of a registry.
type target struct {
	kind   string        // manifests or blobs
	host   string        // registry: "docker.io", "localhost:5000"
	name   string        // repository in that registry: "library/app"
	tag    string        // of a manifest; empty: the digest says which one
	digest digest.Digest // of a manifest without tag or of a blob

	stored reference.Named // repository in a store: "localhost__5000/app"
}

// machineTarget parses a machine's request, /v2/NAME/manifests/REFERENCE?ns=HOST or /v2/NAME/blobs/DIGEST?ns=HOST.
// Errors: the host or the name is impossible, or the path is not one of these two; then notFound is true.
func machineTarget(path, host string) (t target, notFound bool, err error) {
	host = strings.ToLower(host)
	if !isHost(host) {
		return target{}, false, fmt.Errorf("ns: %q must be a host name with or without a port", host)
	}
	route, vars := matchRoute(path)
	t = target{host: host, name: vars["name"]}
	switch route {
	case v2.RouteNameManifest:
		t.kind = manifests
		if t.tag = vars["reference"]; strings.Contains(t.tag, ":") {
			t.tag, t.digest = "", digest.Digest(t.tag)
		}
	case v2.RouteNameBlob:
		t.kind, t.digest = blobs, digest.Digest(vars["digest"])
	default:
		return target{}, true, errors.New("neither a manifest nor a blob")
	}
	if t.tag == "" {
		if err := t.digest.Validate(); err != nil {
			return target{}, false, err
		}
	}
	t.stored, err = reference.WithName(encodeHost(host) + "/" + t.name)
	return t, false, err
}

// at is the same repository's manifest with that digest.
func (t target) at(digest digest.Digest) target {
	t.tag, t.digest = "", digest
	return t
}

// reference is the last part of the URL.
func (t target) reference() string {
	if t.tag != "" {
		return t.tag
	}
	return t.digest.String()
}

// String is what messages call the target.
func (t target) String() string {
	switch {
	case t.kind == blobs:
		return fmt.Sprintf("blob %s of %s/%s", t.digest, t.host, t.name)
	case t.tag != "":
		return fmt.Sprintf("%s/%s:%s", t.host, t.name, t.tag)
	default:
		return fmt.Sprintf("%s/%s@%s", t.host, t.name, t.digest)
	}
}

// peoplePath returns the path of a people's request with the name of the repository in the store. A name that starts with
// a host stays, so that images of any registry can be pushed, and so that distribution's answers lead to the same repository.
//
//	host  encoded host for the other names
func peoplePath(path, host string) string {
	_, vars := matchRoute(path)
	name := vars["name"]
	if name == "" {
		return path
	}
	return strings.Replace(path, "/v2/"+name, "/v2/"+storedName(name, host), 1)
}

// storedName prefixes the name of a repository with host unless it starts with a host, encoded or not.
func storedName(name, host string) string {
	first, rest, more := strings.Cut(name, "/")
	if more && (first == "localhost" || strings.ContainsAny(first, ".:") || strings.Contains(first, "__")) {
		return encodeHost(first) + "/" + rest
	}
	return host + "/" + name
}

// matchRoute parses a path with distribution's own router. An unknown path has no route and no variables.
func matchRoute(path string) (route string, vars map[string]string) {
	request, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		return "", nil
	}
	request.URL.Path = path
	var match mux.RouteMatch
	if !v2.Router().Match(request, &match) || match.Route == nil {
		return "", nil
	}
	return match.Route.GetName(), match.Vars
}
