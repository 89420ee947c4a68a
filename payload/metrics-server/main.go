// metrics-server answers for the API group metrics.k8s.io: CPU and memory of pods and nodes, as their kubelets measure them.
//
// It is the program of the Kubernetes project, with one difference: kubelets do not get its token. The upstream program sends the
// token of its service account to every kubelet, even with --kubelet-client-certificate, and whoever controls one machine could
// read all pods with it. This one shows kubelets a client certificate only, and does not start without one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/logs"

	"sigs.k8s.io/metrics-server/cmd/metrics-server/app/options"
)

// withoutToken is what kubelets get: the certificate, and nothing else of the configuration for the API server but its settings.
func withoutToken(upstream *rest.Config) *rest.Config {
	config := rest.AnonymousClientConfig(upstream)
	config.CertFile, config.KeyFile = upstream.CertFile, upstream.KeyFile
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
	config.Kubelet.Client = *withoutToken(&config.Kubelet.Client)
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
	logs.InitLogs()
	defer logs.FlushLogs()
	if err := newCommand(genericapiserver.SetupSignalHandler()).Execute(); err != nil {
		logs.FlushLogs()
		fmt.Fprintf(os.Stderr, "metrics-server: %v\n", err)
		os.Exit(1)
	}
}
