package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// logins is the name of a docker config file, {"auths": {"quay.io": {"auth": BASE64}}}; empty: there are no logins. It is
// read for each new client of a registry, so that a changed file needs no restart.
//
// A login goes to the host that it is for. That host may name a token server, which gets it as well; Docker Hub needs that.
type logins string

// Resolve finds the login for a repository: the one of the longest prefix of HOST/REPOSITORY.
func (l logins) Resolve(repository authn.Resource) (authn.Authenticator, error) {
	all, err := l.read()
	if err != nil {
		return nil, err
	}
	for prefix, more := repository.String(), true; more; {
		if login, found := all[prefix]; found {
			var config authn.AuthConfig
			if err := json.Unmarshal(login, &config); err != nil {
				return nil, fmt.Errorf("login for %s in %s: %w", prefix, string(l), err)
			}
			return authn.FromConfig(config), nil
		}
		end := strings.LastIndex(prefix, "/")
		if more = end > 0; more {
			prefix = prefix[:end]
		}
	}
	return authn.Anonymous, nil
}

func (l logins) read() (map[string]json.RawMessage, error) {
	if l == "" {
		return nil, nil
	}
	text, err := os.ReadFile(string(l))
	if err != nil {
		return nil, fmt.Errorf("logins of upstream registries: %w", err)
	}
	var config struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("logins of upstream registries: %s: %w", string(l), err)
	}
	all := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(config.Auths)) { // of two logins for a registry, always the same one
		all[loginKey(key)] = config.Auths[key]
	}
	return all, nil
}

// loginKey turns a key of "auths" into HOST or HOST/REPOSITORY. Docker Hub's key is "https://index.docker.io/v1/".
func loginKey(key string) string {
	if _, rest, found := strings.Cut(key, "://"); found {
		key = rest
	}
	host, path, _ := strings.Cut(strings.TrimSuffix(key, "/"), "/")
	if host == "docker.io" || host == "registry-1.docker.io" {
		host = name.DefaultRegistry
	}
	if path == "" || path == "v1" || path == "v2" {
		return host
	}
	return host + "/" + path
}
