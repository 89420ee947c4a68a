package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestLoginIsOneUserWithOnePassword(t *testing.T) {
	known, err := readLogin(writeFile(t, []byte(buildersLogin)))
	check(t, err)
	for _, test := range []struct {
		user, password string
		want           bool
	}{{"build", "other", true}, {"build", "wrong", false}, {"dev", "other", false}, {"", "", false}, {"build:other", "", false}} {
		request, err := http.NewRequest(http.MethodGet, "/", nil)
		check(t, err)
		request.SetBasicAuth(test.user, test.password)
		if known.allows(request) != test.want {
			t.Errorf("%s:%s: not %v", test.user, test.password, test.want)
		}
	}
	request, err := http.NewRequest(http.MethodGet, "/", nil)
	check(t, err)
	if known.allows(request) {
		t.Error("without a login")
	}
}

func TestLoginFileHasOneHash(t *testing.T) {
	for _, text := range []string{"", "build:other", "build:{SHA256}00", "build:$2y$04$x", buildersLogin + buildersLogin} {
		if _, err := readLogin(writeFile(t, []byte(text))); err == nil || !strings.Contains(err.Error(), "USER:{SHA256}HEX") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
