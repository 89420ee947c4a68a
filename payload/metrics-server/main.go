// metrics-server answers for the API group metrics.k8s.io: CPU and memory of pods and nodes, as their kubelets measure them.
//
// It is the program of the Kubernetes project, which trusts kubelets. This one does not, because an attacker may control a machine:
//
//   - The upstream program sends the token of its service account to every kubelet, even with --kubelet-client-certificate. The token
//     can read all pods. This one shows kubelets a client certificate only, and does not start without one.
//   - The upstream program reads answers of any length into memory, of which the master has less than the attacker can send. It
//     follows redirects to any address. This one does neither.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/component-base/logs"

	"sigs.k8s.io/metrics-server/cmd/metrics-server/app/options"
)

// longestAnswer is a multiple of what the kubelet of a node with 500 pods of ten containers reports.
const longestAnswer = 16 << 20

// The client certificate is read again after this time, not after client-go's five minutes: certificates may live as short as
// docs/lifetimes.md allows.
const certificateRefresh = 10 * time.Second

// limited is a body that ends with an error after longestAnswer bytes.
type limited struct {
	io.ReadCloser
	left int
}

func (l *limited) Read(buffer []byte) (int, error) {
	if l.left == 0 {
		return 0, fmt.Errorf("the answer is longer than %d bytes", longestAnswer)
	}
	count, err := l.ReadCloser.Read(buffer[:min(len(buffer), l.left)])
	l.left -= count
	return count, err
}

// careful limits answers and refuses redirects.
type careful struct {
	next http.RoundTripper
}

func (c careful) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 3 {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("the answer is a redirect: %s", answer.Status)
	}
	answer.Body = &limited{answer.Body, longestAnswer}
	return answer, nil
}

// forKubelets is the configuration for requests to kubelets. They get the certificate, and nothing else of the configuration for the
// API server but its settings.
func forKubelets(upstream *rest.Config) *rest.Config {
	config := rest.AnonymousClientConfig(upstream)
	config.CertFile, config.KeyFile = upstream.CertFile, upstream.KeyFile
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return careful{next} })
	return config
}

func run(opts *options.Options, stop <-chan struct{}) error {
	if opts.ShowVersion {
		fmt.Println(version.Get().GitVersion)
		return nil
	}
	if opts.KubeletClient.KubeletClientCertFile == "" {
		return errors.New("--kubelet-client-certificate and --kubelet-client-key are required: kubelets do not get the token")
	}
	if err := errors.Join(opts.Validate()...); err != nil {
		return err
	}
	config, err := opts.ServerConfig()
	if err != nil {
		return err
	}
	config.Kubelet.Client = *forKubelets(&config.Kubelet.Client)
	server, err := config.Complete()
	if err != nil {
		return err
	}
	return server.RunUntil(stop)
}

func newCommand(stop <-chan struct{}) *cobra.Command {
	opts := options.NewOptions()
	command := &cobra.Command{
		Use:  "metrics-server",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return run(opts, stop) },
		// One line instead of the list of all flags.
		SilenceErrors: true, SilenceUsage: true,
	}
	for _, flags := range opts.Flags().FlagSets {
		command.Flags().AddFlagSet(flags)
	}
	logging := flag.NewFlagSet("metrics-server", flag.ContinueOnError)
	logs.AddGoFlags(logging)
	command.Flags().AddGoFlagSet(logging)
	return command
}

func main() {
	transport.CertCallbackRefreshDuration = certificateRefresh
	logs.InitLogs()
	defer logs.FlushLogs()
	if err := newCommand(genericapiserver.SetupSignalHandler()).Execute(); err != nil {
		logs.FlushLogs()
		fmt.Fprintf(os.Stderr, "metrics-server: %v\n", err)
		os.Exit(1)
	}
}
