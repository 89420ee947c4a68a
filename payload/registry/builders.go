package main

import (
	"net/http"
	"strings"

	"github.com/distribution/distribution/v3/registry/api/errcode"
	v2 "github.com/distribution/distribution/v3/registry/api/v2"
)

// buildersHandler serves machines of the cluster that push images which they have built. They may push and read images with this
// host, and nothing else: "podman push registry.demo.example.com:5443/os" makes the image with this name.
type buildersHandler struct {
	host  string // encoded
	login login
	store *store
	app   http.Handler // without a check of logins
}

func (b *buildersHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Before anything else: without the login, the port says nothing about images or the disk.
	if !b.login.allows(r) {
		refuseLogin(w)
		return
	}
	inStore := storedRequest(r, b.host)
	route, vars := matchRoute(inStore.URL.Path)
	if route != v2.RouteNameBase && !b.owns(vars["name"]) {
		errcode.ServeJSON(w, errcode.ErrorCodeDenied.WithMessage(
			"this login is only for images with the host "+strings.Replace(b.host, "__", ":", 1)))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if err := b.store.checkSpace(r.ContentLength); err != nil {
			errcode.ServeJSON(w, errcode.ErrorCodeUnknown.WithMessage(err.Error()))
			return
		}
	}
	if r.Method == http.MethodPost {
		b.restrictMount(inStore)
	}
	b.app.ServeHTTP(w, inStore)
}

func (b *buildersHandler) owns(stored string) bool { return strings.HasPrefix(stored, b.host+"/") }

// restrictMount makes an upload that takes a blob from a repository of others a usual upload. distribution also reads the parameters
// from the form in a body.
func (b *buildersHandler) restrictMount(upload *http.Request) {
	upload.Header.Set("Content-Type", "application/octet-stream")
	query := upload.URL.Query()
	if !query.Has("from") || !b.owns(query.Get("from")) {
		query.Del("mount")
		query.Del("from")
		upload.URL.RawQuery = query.Encode()
	}
}
