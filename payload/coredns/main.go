// CoreDNS with the plugins that a cluster, its nodes and its bootstrap machine use; the others stay out of the file.
package main

import (
	"net"
	"os"
	"time"

	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/bufsize"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/file"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/rewrite"
	_ "github.com/coredns/coredns/plugin/template"
	_ "github.com/coredns/coredns/plugin/whoami"
)

func main() {
	if host := os.Getenv("KUBERNETES_SERVICE_HOST"); host != "" {
		waitForAPI(net.JoinHostPort(host, os.Getenv("KUBERNETES_SERVICE_PORT")), 200*time.Millisecond, time.Minute)
	}
	coremain.Run()
}

// waitForAPI returns when the address accepts connections, or when most of the time has passed: then CoreDNS starts all the same and answers for the outside.
//
// On a node that just started, this pod may be earlier than kube-proxy. The kernel remembers for each connection that its
// address was not translated, so one that began too early never succeeds, and the Kubernetes client gives up on one only after
// half a minute. Each attempt here is another connection.
func waitForAPI(address string, attempt, most time.Duration) bool {
	for end := time.Now().Add(most); time.Now().Before(end); {
		began := time.Now()
		connection, err := net.DialTimeout("tcp", address, attempt)
		if err == nil {
			connection.Close()
			return true
		}
		time.Sleep(attempt - time.Since(began)) // a refusal is quicker
	}
	return false
}
