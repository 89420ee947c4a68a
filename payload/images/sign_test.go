package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeKey returns the files of a new private key and of its public key.
func writeKey(t *testing.T, name string) (private, public string) {
	t.Helper()
	publicKey, privateKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(privateKey)
	if err != nil {
		t.Fatal(err)
	}
	open, err := x509.MarshalPKIXPublicKey(publicKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	private = writeFile(t, filepath.Join(dir, name+".key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	public = writeFile(t, filepath.Join(dir, name+".pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open})))
	if err := os.Chmod(private, 0o600); err != nil {
		t.Fatal(err)
	}
	return private, public
}

func TestSignatureNamesDigestAndVersion(t *testing.T) {
	private, _ := writeKey(t, "a")
	key, err := ReadKey(private)
	if err != nil {
		t.Fatal(err)
	}
	digest, _ := sha256Of([]byte("release"))
	text, err := key.envelope(digest, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := key.envelope(digest, "1.2.3")
	if string(again) != string(text) {
		t.Error("the same release has two signatures")
	}
	var envelope struct {
		PayloadType, Payload string
		Signatures           []struct{ Sig string }
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		t.Fatal(err)
	}
	payload, _ := base64.StdEncoding.DecodeString(envelope.Payload)
	signature, _ := base64.StdEncoding.DecodeString(envelope.Signatures[0].Sig)
	signed := fmt.Sprintf("DSSEv1 %d %s %d %s", len(envelope.PayloadType), envelope.PayloadType, len(payload), payload)
	if !ed25519.Verify(key.private.Public().(ed25519.PublicKey), []byte(signed), signature) {
		t.Error("the signature is not valid")
	}
	if want := fmt.Sprintf(`{"digest":%q,"identity":"slipway/release","version":"1.2.3"}`, digest); string(payload) != want {
		t.Errorf("signed is %s, not %s", payload, want)
	}
}

func TestKeysThatCannotSignAreErrors(t *testing.T) {
	private, public := writeKey(t, "a")
	readable, _ := writeKey(t, "b")
	if err := os.Chmod(readable, 0o640); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{readable: "must not be readable by others", public: "mode", filepath.Join(t.TempDir(), "none"): "no such file"} {
		if _, err := ReadKey(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, not %s", file, err, want)
		}
	}
	if _, err := readPublicKeys([]string{public, private, public}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error is %v; want the private key and the second copy", err)
	}
	if _, _, err := releaseKeys(Options{Trust: []string{public}}); err == nil {
		t.Error("--trust without --key is accepted")
	}
}

func TestReleaseCarriesItsKeys(t *testing.T) {
	private, _ := writeKey(t, "a")
	_, next := writeKey(t, "next")
	key, others, err := releaseKeys(Options{Key: private, Trust: []string{next}})
	if err != nil {
		t.Fatal(err)
	}
	tree := Tree{}
	if err := addKeys(tree, key, others); err != nil {
		t.Fatal(err)
	}
	var object struct {
		Metadata struct{ Annotations map[string]string }
		Data     map[string]string
	}
	if err := json.Unmarshal(tree[keysManifest].data, &object); err != nil {
		t.Fatal(err)
	}
	if _, marked := object.Metadata.Annotations["release.openshift.io/verification-config-map"]; !marked {
		t.Error("the ConfigMap has no annotation")
	}
	if object.Data["verifier-public-key-release"] != string(key.public) || object.Data["verifier-public-key-next"] == "" {
		t.Errorf("keys are %v", object.Data)
	}
}
