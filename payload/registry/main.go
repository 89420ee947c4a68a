// The OCI registry that serves a cluster's images from a directory, and "registry cluster" for a local cluster.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/auth/token"
	_ "github.com/distribution/distribution/v3/registry/proxy"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
)

func main() {
	registry.RootCmd.AddCommand(clusterCommand, outsideCommand())
	if registry.RootCmd.Execute() != nil {
		os.Exit(1)
	}
}
