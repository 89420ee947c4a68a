// Package crds holds nothing: its go.mod says from which version of OpenShift's API module the CRDs of a release come.
// They are data in that module, found with "go list -m -f '{{.Dir}}' github.com/openshift/api" and chosen by
// images/crds.txt. The import, of a package without code, keeps "go mod tidy" from dropping the requirement.
package crds

import _ "github.com/openshift/api/route/v1/zz_generated.crd-manifests"
