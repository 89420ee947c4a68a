package main

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

func TestLoginOfTheLongestPrefix(t *testing.T) {
	file := writeFile(t, []byte(`{"auths": {
		"https://index.docker.io/v1/": {"auth": "aHViOjE="},
		"quay.io": {"auth": "cXVheTox"},
		"quay.io/team": {"auth": "dGVhbTox"},
		"registry.test:5000": {"username": "port", "password": "1"}
	}}`))
	for repository, want := range map[string]string{
		"docker.io/library/app":   "hub",
		"quay.io/app":             "quay",
		"quay.io/team/app":        "team",
		"quay.io/teams/app":       "quay",
		"registry.test:5000/app":  "port",
		"registry.test/app":       "",
		"evil.quay.io/app":        "",
		"quay.io.evil.test/app":   "",
		"registry.test:50000/app": "",
	} {
		target, err := name.NewRepository(repository)
		check(t, err)
		login, err := logins(file).Resolve(target)
		check(t, err)
		config, err := authn.Authorization(t.Context(), login)
		check(t, err)
		if config.Username != want {
			t.Errorf("%s: login of %q, want %q", repository, config.Username, want)
		}
	}
}
