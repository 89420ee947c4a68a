package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/distribution/distribution/v3"
	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/api/errcode"
	"github.com/distribution/distribution/v3/registry/handlers"
	"github.com/distribution/distribution/v3/registry/storage"
	"github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"
)

// store is a folder of images, a storage of distribution: app serves it, images answers questions and takes new content.
// Neither caches, so that each sees at once what the other one or a second app writes.
type store struct {
	folder string
	images distribution.Namespace
	app    http.Handler
}

// openStore creates the folder if necessary and removes what interrupted uploads have left in it.
func openStore(folder string) (*store, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	ctx := context.Background()
	driver := filesystem.New(filesystem.DriverParameters{RootDirectory: folder, MaxThreads: 100})
	if _, err := os.Stat(filepath.Join(folder, "docker")); err == nil { // distribution writes below this one only
		_, failed := storage.PurgeUploads(ctx, driver, time.Now(), true)
		for _, err := range failed {
			logrus.Warnf("removing interrupted uploads below %s: %v", folder, err)
		}
	}
	images, err := storage.NewRegistry(ctx, driver)
	if err != nil {
		return nil, err
	}
	return &store{folder: folder, images: images, app: handlers.NewApp(ctx, appConfig(folder, true))}, nil
}

// checkSpace fails if the disk would have too little space after so many more bytes. size: -1 is unknown
func (s *store) checkSpace(size int64) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(s.folder, &disk); err != nil {
		return err
	}
	free := int64(disk.Bavail) * disk.Bsize
	if free-max(size, 0) < minFreeSpace {
		return fmt.Errorf("the disk has %d MB free, and the image needs %d MB and a reserve of %d MB", free>>20, max(size, 0)>>20,
			int64(minFreeSpace)>>20)
	}
	return nil
}

// has tells whether the store can serve the target. A damaged entry counts as missing, so that it is written again.
func (s *store) has(t target) bool { return hasImage(s.images, t.stored, t) }

// hasImage tells whether images has the target in a repository.
func hasImage(images distribution.Namespace, name reference.Named, t target) bool {
	ctx := context.Background()
	repository, err := images.Repository(ctx, name)
	if err != nil {
		return false
	}
	if t.kind == blobs {
		_, err := repository.Blobs(ctx).Stat(ctx, t.digest)
		return found(t, err)
	}
	if t.tag != "" {
		tagged, err := repository.Tags(ctx).Get(ctx, t.tag)
		if !found(t, err) {
			return false
		}
		t = t.at(tagged.Digest)
	}
	all, err := repository.Manifests(ctx)
	if err != nil {
		return false
	}
	exists, err := all.Exists(ctx, t.digest)
	return exists && found(t, err)
}

func found(t target, err error) bool {
	if err != nil && !errors.Is(err, distribution.ErrBlobUnknown) && !errors.As(err, new(distribution.ErrTagUnknown)) {
		logrus.Warnf("%s: the stored one cannot be read: %v", t, err)
	}
	return err == nil
}

// putManifest stores a manifest whose layers may come later, byte by byte as it is.
func (s *store) putManifest(ctx context.Context, t target, manifest distribution.Manifest) error {
	repository, err := s.images.Repository(ctx, t.stored)
	if err != nil {
		return err
	}
	all, err := repository.Manifests(ctx, storage.SkipLayerVerification())
	if err != nil {
		return err
	}
	_, err = all.Put(ctx, manifest)
	return err
}

// putTag makes the target's tag one of a stored manifest.
func (s *store) putTag(ctx context.Context, t target, digest digest.Digest) error {
	repository, err := s.images.Repository(ctx, t.stored)
	if err != nil {
		return err
	}
	if now, err := repository.Tags(ctx).Get(ctx, t.tag); err == nil && now.Digest == digest {
		return nil
	}
	return repository.Tags(ctx).Tag(ctx, t.tag, v1.Descriptor{Digest: digest})
}

// serve answers the request for a target with what the store has.
func (s *store) serve(w http.ResponseWriter, r *http.Request, t target) {
	inStore := r.Clone(r.Context())
	inStore.URL = &url.URL{Path: "/v2/" + t.stored.Name() + "/" + t.kind + "/" + t.reference()}
	s.app.ServeHTTP(w, inStore)
}

// appConfig configures distribution for a folder. Uploads are purged at start, nothing is ever deleted.
func appConfig(folder string, readOnly bool) *configuration.Configuration {
	config := &configuration.Configuration{Storage: configuration.Storage{
		"filesystem": {"rootdirectory": folder},
		"maintenance": {
			"readonly":      map[any]any{"enabled": readOnly},
			"uploadpurging": map[any]any{"enabled": false},
		},
	}}
	config.HTTP.Secret = rand.Text() // signs the state of uploads, which do not survive the process
	return config
}

// releaseStore is the storage of a release: app serves it, images answers questions.
type releaseStore struct {
	images distribution.Namespace // nil: there is no release
	app    http.Handler
}

// openRelease opens the storage of a release; an empty folder means: no release. The app may cache, since the storage of a release
// never changes what a digest means.
func openRelease(folder string) (*releaseStore, error) {
	if folder == "" {
		return &releaseStore{app: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			errcode.ServeJSON(w, errcode.ErrorCodeNameUnknown.WithMessage("this registry has no release"))
		})}, nil
	}
	ctx := context.Background()
	images, err := storage.NewRegistry(ctx, filesystem.New(filesystem.DriverParameters{RootDirectory: folder, MaxThreads: 100}))
	if err != nil {
		return nil, err
	}
	config := appConfig(folder, true)
	config.Storage["cache"] = configuration.Parameters{"blobdescriptor": "inmemory"}
	return &releaseStore{images: images, app: handlers.NewApp(ctx, config)}, nil
}

// has tells whether the release has the target. Its repositories are named without the host.
func (r *releaseStore) has(t target) bool {
	if r.images == nil {
		return false
	}
	name, err := reference.WithName(t.name)
	return err == nil && hasImage(r.images, name, t)
}

// writableApp serves and takes images.
//
//	logins  htpasswd file; empty: the caller has checked the login
func writableApp(folder, logins string) http.Handler {
	config := appConfig(folder, false)
	if logins != "" {
		config.Auth = configuration.Auth{"htpasswd": {"realm": "slipway", "path": logins}}
	}
	// Tools push an index with the platforms that they have, often only their own one.
	config.Validation.Manifests.Indexes.Platforms = "none"
	return handlers.NewApp(context.Background(), config)
}
