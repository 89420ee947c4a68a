package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/distribution/distribution/v3"
	"github.com/distribution/distribution/v3/manifest/manifestlist"
	"github.com/distribution/distribution/v3/manifest/schema2"
	"github.com/distribution/distribution/v3/registry/api/errcode"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/singleflight"
)

const (
	maxDownloads    = 8       // blobs at a time
	maxManifestSize = 4 << 20 // the limit of distribution for pushes
	minFreeSpace    = 2 << 30 // bytes that a download leaves on the disk of the host
)

// Downloads that last are slow on purpose, or useless.
const (
	slotTimeout = 2 * time.Minute
	blobTimeout = time.Hour
)

// mirror is the store of images of upstream registries, filled with what machines ask for.
type mirror struct {
	*store
	upstream *upstream
	offline  bool
	flights  singleflight.Group
	slots    chan struct{}
}

func newMirror(store *store, upstream *upstream, offline bool) *mirror {
	return &mirror{store: store, upstream: upstream, offline: offline, slots: make(chan struct{}, maxDownloads)}
}

// fill stores a target unless it is stored; a tag is compared with the upstream registry. Simultaneous calls for the same
// target wait for the first one, which does the work and logs its failure.
//
//	follower  gets the bytes of the blob if this call is the one that stores it; may be nil
//	errors    a failure
func (m *mirror) fill(t target, follower *follower) error {
	_, err, _ := m.flights.Do(t.String(), func() (any, error) {
		err := m.fillNow(t, follower)
		if err != nil {
			logFailure(err)
		}
		return nil, err
	})
	return err
}

func (m *mirror) fillNow(t target, follower *follower) error {
	stored := m.has(t)
	switch {
	case stored && (t.tag == "" || m.offline):
		return nil
	case m.offline:
		return t.offline()
	case t.kind == blobs:
		return m.fillBlob(t, follower)
	case t.tag == "":
		_, err := m.fillManifest(t)
		return err
	}
	err := m.fillTag(t)
	var f *failure
	if stored && errors.As(err, &f) && f.code == errcode.ErrorCodeUnavailable {
		logrus.Warnf("%s: serving the stored image, because %s", t, f.reason)
		return nil
	}
	return err
}

// fillTag makes the tag what it is upstream.
func (m *mirror) fillTag(t target) error {
	response, err := m.upstream.get(http.MethodHead, t)
	if err != nil {
		return err
	}
	response.Body.Close()
	now, err := digest.Parse(response.Header.Get("Docker-Content-Digest"))
	if err != nil { // not all registries send it
		now, err = m.fillManifest(t)
	} else if !m.has(t.at(now)) {
		_, err = m.fillManifest(t.at(now))
	}
	if err != nil {
		return err
	}
	return t.unstored(m.putTag(context.Background(), t, now))
}

// fillManifest fetches and stores a manifest and returns its digest.
func (m *mirror) fillManifest(t target) (digest.Digest, error) {
	response, err := m.upstream.get(http.MethodGet, t)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxManifestSize+1))
	if err != nil {
		return "", t.interrupted(err)
	}
	if len(text) > maxManifestSize {
		return "", t.unusable(fmt.Errorf("the manifest is larger than %d bytes", maxManifestSize))
	}
	got := digest.FromBytes(text)
	if t.tag == "" {
		if got = t.digest.Algorithm().FromBytes(text); got != t.digest {
			return "", t.unusable(fmt.Errorf("the manifest has the digest %s", got))
		}
	}
	manifest, _, err := distribution.UnmarshalManifest(response.Header.Get("Content-Type"), text)
	if err != nil {
		return "", t.unusable(err)
	}
	return got, t.unstored(m.putManifest(context.Background(), t, manifest))
}

// fillBlob downloads and stores a blob. A client that goes away does not end it.
func (m *mirror) fillBlob(t target, follower *follower) error {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-time.After(slotTimeout):
		return t.busy()
	}
	response, err := m.upstream.get(http.MethodGet, t)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	defer time.AfterFunc(blobTimeout, func() { response.Body.Close() }).Stop()
	if err := m.checkSpace(response.ContentLength); err != nil {
		return t.unstored(err)
	}
	ctx := context.Background()
	repository, err := m.images.Repository(ctx, t.stored)
	if err != nil {
		return t.unstored(err)
	}
	store := repository.Blobs(ctx)
	upload, err := store.Create(ctx)
	if err != nil {
		return t.unstored(err)
	}
	to, from := io.Writer(upload), &failingReader{Reader: response.Body}
	if follower != nil {
		follower.size = response.ContentLength
		to = io.MultiWriter(upload, follower)
	}
	_, err = io.Copy(to, from)
	if err == nil {
		_, err = upload.Commit(ctx, v1.Descriptor{Digest: t.digest})
	}
	if err == nil {
		if follower != nil {
			follower.finish()
		}
		return nil
	}
	discard(ctx, store, upload)
	switch {
	case from.err != nil:
		return t.interrupted(from.err)
	case errors.As(err, new(distribution.ErrBlobInvalidDigest)):
		return t.unusable(errors.New("the content does not have this digest"))
	}
	return t.unstored(err)
}

// failingReader remembers an error, to tell errors of reading from errors of writing.
type failingReader struct {
	io.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// discard removes an upload. Cancel fails after Commit, even if that failed, therefore the upload is opened again.
func discard(ctx context.Context, store distribution.BlobStore, upload distribution.BlobWriter) {
	upload.Close()
	again, err := store.Resume(ctx, upload.ID())
	if err == nil {
		err = again.Cancel(ctx)
	}
	if err != nil {
		logrus.Warnf("removing the interrupted download %s: %v", upload.ID(), err)
	}
}

// blobSize asks the upstream registry for a blob's size, -1 if it does not say it.
func (m *mirror) blobSize(t target) (int64, error) {
	if m.offline {
		return 0, t.offline()
	}
	response, err := m.upstream.get(http.MethodHead, t)
	if err != nil {
		logFailure(err)
		return 0, err
	}
	response.Body.Close()
	return response.ContentLength, nil
}

// The manifests that distribution can store.
var manifestTypes = []string{
	v1.MediaTypeImageIndex, v1.MediaTypeImageManifest, manifestlist.MediaTypeManifestList, schema2.MediaTypeManifest,
}
