package main

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/distribution/distribution/v3/registry/api/errcode"
)

// peopleHandler serves people who push images. Names without a host belong to host, which is how pods call them, too:
// "podman push localhost:5000/app" makes the image localhost:5000/app. They read what builders pushed, and do not change it, so that
// no builder replaces an image of theirs.
type peopleHandler struct {
	host       string // encoded
	ofBuilders string // encoded; empty: there are no builders
	app        http.Handler
}

func (p *peopleHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	inStore := storedRequest(r, p.host)
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !isRead && p.ofBuilders != "" && strings.HasPrefix(inStore.URL.Path, "/v2/"+p.ofBuilders+"/") {
		errcode.ServeJSON(w, errcode.ErrorCodeDenied.WithMessage("only machines of the cluster push images with this host"))
		return
	}
	p.app.ServeHTTP(w, inStore)
}

// storedRequest is the same request with the names that the repositories have in the store.
//
//	host  encoded host for names without a host
func storedRequest(r *http.Request, host string) *http.Request {
	inStore := r.Clone(r.Context())
	inStore.URL = &url.URL{Path: peoplePath(r.URL.Path, host), RawQuery: r.URL.RawQuery}
	if query := r.URL.Query(); query.Has("from") { // another repository that has the blob already
		query.Set("from", storedName(query.Get("from"), host))
		inStore.URL.RawQuery = query.Encode()
	}
	return inStore
}
