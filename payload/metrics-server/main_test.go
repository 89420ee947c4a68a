package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"sigs.k8s.io/metrics-server/cmd/metrics-server/app/options"
)

func clientOf(t *testing.T, config *rest.Config) *http.Client {
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: transport}
}

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
		}{{&upstream, true}, {forKubelets(&upstream), false}} {
			answer, err := clientOf(t, c.config).Get(kubelet.URL)
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
	config := forKubelets(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "ca", CertFile: "certificate", KeyFile: "key"}})
	if config.CAFile != "ca" || config.CertFile != "certificate" || config.KeyFile != "key" {
		t.Error(config)
	}
}

func TestAnswersOfKubeletsAreLimited(t *testing.T) {
	for _, c := range []struct {
		length int
		want   string
	}{{longestAnswer - 1, ""}, {longestAnswer + 1, "the answer is longer than 16777216 bytes"}} {
		kubelet := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
			_, _ = writer.Write(make([]byte, c.length))
		}))
		defer kubelet.Close()
		answer, err := clientOf(t, forKubelets(&rest.Config{})).Get(kubelet.URL)
		if err != nil {
			t.Fatal(err)
		}
		read, err := io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if c.want == "" && (err != nil || read != int64(c.length)) || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%d bytes: %d read, %v", c.length, read, err)
		}
	}
}

func TestRedirectsOfKubeletsAreRefused(t *testing.T) {
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer elsewhere.Close()
	kubelet := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer kubelet.Close()
	answer, err := clientOf(t, forKubelets(&rest.Config{})).Get(kubelet.URL)
	if err == nil {
		_ = answer.Body.Close()
	}
	if err == nil || !strings.HasSuffix(err.Error(), "the answer is a redirect: 302 Found") || asked != 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

func TestACertificateIsRequired(t *testing.T) {
	err := run(options.NewOptions(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "--kubelet-client-certificate and --kubelet-client-key are required") {
		t.Error(err)
	}
}
