package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/distribution/distribution/v3/registry/api/errcode"
)

// login is the only login of a socket, as a hash of "USER:PASSWORD". The password is random, so a fast hash is as safe as a slow one,
// and a client that tries wrong logins cannot keep the processor busy.
type login [sha256.Size]byte

const loginAlgorithm = "{SHA256}"

// readLogin reads a file with the line USER:{SHA256}HEX, where HEX is the hash of "USER:PASSWORD".
func readLogin(file string) (login, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return login{}, err
	}
	_, value, found := strings.Cut(strings.TrimSuffix(string(text), "\n"), ":"+loginAlgorithm)
	hash, err := hex.DecodeString(value)
	if !found || err != nil || len(hash) != sha256.Size {
		return login{}, fmt.Errorf("%s: is not one line USER:%sHEX", file, loginAlgorithm)
	}
	return login(hash), nil
}

// allows tells whether the request has the login. Takes as long for a wrong one.
func (l login) allows(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	sent := sha256.Sum256([]byte(user + ":" + password))
	return subtle.ConstantTimeCompare(sent[:], l[:]) == 1 && ok
}

// refuseLogin answers as distribution does.
func refuseLogin(w http.ResponseWriter) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	w.Header().Set("WWW-Authenticate", `Basic realm="slipway"`)
	errcode.ServeJSON(w, errcode.ErrorCodeUnauthorized)
}
