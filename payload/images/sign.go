package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A release is signed beside itself: an image with the tag sha256-DIGEST.sig has one DSSE envelope
// (https://github.com/secure-systems-lab/dsse) as its layer. The release carries the public keys that a cluster of this
// release trusts; src/release/signature.h verifies.
const (
	envelopeType   = "application/vnd.dsse.envelope.v1+json"
	signedTextType = "application/vnd.slipway.release.v1+json"
	emptyConfig    = "application/vnd.oci.empty.v1+json"
	signedIdentity = "slipway/release"
	ownKeyName     = "release"
	keysManifest   = manifestsDir + "0000_00_cluster-version-operator_04_release-keys.yaml"
)

// Key signs a release.
type Key struct {
	private ed25519.PrivateKey
	public  []byte // PEM
}

// ReadKey reads a private key of `make release-key`.
//
//	errors   the file is readable by others, or has no Ed25519 key in PKCS #8
func ReadKey(name string) (*Key, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %#o: a private key must not be readable by others (chmod 600 %s)", name, info.Mode().Perm(), name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("%s contains no PRIVATE KEY (make release-key creates one)", name)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: keys of releases are Ed25519 (make release-key creates one)", name)
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return nil, err
	}
	return &Key{private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})}, nil
}

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// readPublicKeys reads the public keys of other releases: those that may sign what follows this one. Their names are those of
// the files up to the first dot.
//
//	errors   every file that has no public key, or whose name is impossible or taken
func readPublicKeys(files []string) (map[string][]byte, error) {
	keys := map[string][]byte{}
	var wrong problems
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		text, err := os.ReadFile(file)
		block, _ := pem.Decode(text)
		switch {
		case err != nil:
			wrong.add("%w", err)
		case block == nil || block.Type != "PUBLIC KEY":
			wrong.add("%s contains no PUBLIC KEY", file)
		case !keyName.MatchString(name) || name == ownKeyName || keys[name] != nil:
			wrong.add("%s: %q is no name of a key, or there are two of them", file, name)
		default:
			if _, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil {
				wrong.add("%s: %w", file, err)
			}
			keys[name] = pem.EncodeToMemory(block)
		}
	}
	return keys, wrong.err()
}

// releaseKeys reads the keys of a build.
//
//	key     nil: there is none, so the release is neither signed nor does it verify others
//	errors  a file that cannot be used; public keys without a private one, because a cluster would trust them alone
func releaseKeys(options Options) (key *Key, others map[string][]byte, err error) {
	if options.Key == "" {
		if len(options.Trust) > 0 {
			return nil, nil, errors.New("--trust has no effect without --key")
		}
		return nil, nil, nil
	}
	if key, err = ReadKey(options.Key); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("key of the release: %w", err)
		}
		return nil, nil, err
	}
	others, err = readPublicKeys(options.Trust)
	return key, others, err
}

// addKeys puts the keys that a cluster of this release trusts among its manifests.
func addKeys(tree Tree, key *Key, others map[string][]byte) error {
	data := map[string]string{"verifier-public-key-" + ownKeyName: string(key.public)}
	for name, text := range others {
		data["verifier-public-key-"+name] = string(text)
	}
	text, err := json.MarshalIndent(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata": map[string]any{
			"name":      "release-verification",
			"namespace": "openshift-config-managed",
			"annotations": map[string]string{
				"include.release.openshift.io/self-managed-high-availability": "true",
				"release.openshift.io/verification-config-map":                "",
				"kubernetes.io/description":                                   "Public keys that verify the release to update to.",
			},
		},
		"data": data,
	}, "", "  ")
	tree[keysManifest] = entry{data: append(text, '\n')}
	return err
}

// envelope signs a release. The same key and release give the same bytes.
func (k *Key) envelope(digest v1.Hash, version string) ([]byte, error) {
	text, err := json.Marshal(map[string]string{"digest": digest.String(), "identity": signedIdentity, "version": version})
	if err != nil {
		return nil, err
	}
	var signed bytes.Buffer
	fmt.Fprintf(&signed, "DSSEv1 %d %s %d %s", len(signedTextType), signedTextType, len(text), text)
	encode := base64.StdEncoding.EncodeToString
	return json.Marshal(map[string]any{
		"payloadType": signedTextType,
		"payload":     encode(text),
		"signatures":  []map[string]string{{"sig": encode(ed25519.Sign(k.private, signed.Bytes()))}},
	})
}

// sign puts the signature of the release beside it.
func (i *images) sign(key *Key, release v1.Hash, version string) error {
	envelope, err := key.envelope(release, version)
	if err != nil {
		return err
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1}
	layer, err := i.layout.WriteBlob(envelopeType, envelope)
	if err != nil {
		return err
	}
	if manifest.Config, err = i.layout.WriteJSON(emptyConfig, struct{}{}); err != nil {
		return err
	}
	manifest.Layers = []v1.Descriptor{layer}
	written, err := i.layout.WriteJSON(types.OCIManifestSchema1, manifest)
	if err != nil {
		return err
	}
	i.blobs[layer.Digest], i.blobs[manifest.Config.Digest], i.blobs[written.Digest] = true, true, true
	tag := "sha256-" + release.Hex + ".sig"
	written.Annotations = map[string]string{refNameKey: tag, containerdKey: i.table.Repository + ":" + tag}
	i.index.Manifests = append(i.index.Manifests, written)
	return nil
}
