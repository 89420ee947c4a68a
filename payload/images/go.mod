module slipway/payload/images

go 1.26.0

require (
	github.com/google/go-containerregistry v0.22.1
	github.com/klauspost/compress v1.19.2
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/sys v0.49.0
)
