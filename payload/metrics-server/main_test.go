package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"sigs.k8s.io/metrics-server/cmd/metrics-server/app/options"
)

func TestKubeletsDoNotGetTheToken(t *testing.T) {
	got := make(chan string, 1)
	kubelet := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		got <- request.Header.Get("Authorization")
	}))
	defer kubelet.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, upstream := range []rest.Config{{BearerToken: "secret"}, {BearerTokenFile: file}, {Username: "a", Password: "secret"}} {
		for _, c := range []struct {
			config *rest.Config
			want   bool
		}{{&upstream, true}, {withoutToken(&upstream), false}} {
			transport, err := rest.TransportFor(c.config)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := (&http.Client{Transport: transport}).Get(kubelet.URL)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if sent := <-got; (sent != "") != c.want {
				t.Errorf("%v sends %q", upstream, sent)
			}
		}
	}
}

func TestKubeletsGetTheCertificate(t *testing.T) {
	config := withoutToken(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "ca", CertFile: "certificate", KeyFile: "key"}})
	if config.CAFile != "ca" || config.CertFile != "certificate" || config.KeyFile != "key" {
		t.Error(config)
	}
}

func TestACertificateIsRequired(t *testing.T) {
	err := run(options.NewOptions(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "--kubelet-client-certificate and --kubelet-client-key are required") {
		t.Error(err)
	}
}
