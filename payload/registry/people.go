package main

import (
	"net/http"
	"net/url"
)

// peopleHandler serves people who push images. Names without a host belong to host, which is how pods call them, too:
// "podman push localhost:5000/app" makes the image localhost:5000/app.
type peopleHandler struct {
	host string // encoded
	app  http.Handler
}

func (p *peopleHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	inStore := r.Clone(r.Context())
	inStore.URL = &url.URL{Path: peoplePath(r.URL.Path, p.host), RawQuery: r.URL.RawQuery}
	if query := r.URL.Query(); query.Has("from") { // another repository that has the blob already
		query.Set("from", storedName(query.Get("from"), p.host))
		inStore.URL.RawQuery = query.Encode()
	}
	p.app.ServeHTTP(w, inStore)
}
