// etcd, the server, which gives its lead away before it ends (package handover). Its flags, environment and exit codes are those of
// upstream's etcd. A configuration file, discovery and flags that upstream calls deprecated are refused.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/client/pkg/v3/logutil"
	"go.etcd.io/etcd/pkg/v3/flags"
	"go.etcd.io/etcd/pkg/v3/osutil"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdmain"

	"slipway/payload/etcd/handover"
)

func main() {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		etcdmain.Main(os.Args) // grpc-proxy and gateway
		return
	}
	log, err := logutil.CreateDefaultZapLogger(zap.InfoLevel)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd: making a logger:", err)
		os.Exit(1)
	}
	config, err := parse(os.Args[1:], log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		log.Error("failed to verify flags", zap.Error(err))
		os.Exit(1)
	case config == nil:
		fmt.Printf("etcd Version: %s\nGit SHA: %s\nGo Version: %s\nGo OS/Arch: %s/%s\n", version.Version, version.GitSHA,
			runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return
	}
	config.SetupGlobalLoggers()
	log = config.GetLogger()
	log.Info("Running: ", zap.Strings("args", os.Args))
	if err := run(config, log); err != nil {
		log.Fatal("etcd ends", zap.Error(err))
	}
	osutil.Exit(0)
}

// parse reads flags and the environment, as upstream's etcd does. It returns no configuration when only the version is asked for.
func parse(arguments []string, log *zap.Logger) (*embed.Config, error) {
	config := embed.NewConfig()
	set := flag.NewFlagSet("etcd", flag.ContinueOnError)
	config.AddFlags(set)
	state := flags.NewSelectiveStringValue(embed.ClusterStateFlagNew, embed.ClusterStateFlagExisting)
	set.Var(state, "initial-cluster-state", "'new' for a new cluster, 'existing' for a member that joins one; without effect after the first start")
	printVersion := set.Bool("version", false, "print the version and exit")
	if err := set.Parse(arguments); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		return nil, err
	}
	if set.NArg() != 0 {
		return nil, fmt.Errorf("%q is not a valid flag", set.Arg(0))
	}
	if err := flags.SetFlagsFromEnv(log, "ETCD", set); err != nil {
		return nil, err
	}

	// Values that the flags do not store in the configuration.
	config.ClusterState = state.String()
	config.ListenPeerUrls = flags.UniqueURLsFromFlag(set, "listen-peer-urls")
	config.AdvertisePeerUrls = flags.UniqueURLsFromFlag(set, "initial-advertise-peer-urls")
	config.ListenClientUrls = flags.UniqueURLsFromFlag(set, "listen-client-urls")
	config.ListenClientHttpUrls = flags.UniqueURLsFromFlag(set, "listen-client-http-urls")
	config.AdvertiseClientUrls = flags.UniqueURLsFromFlag(set, "advertise-client-urls")
	config.ListenMetricsUrls = flags.UniqueURLsFromFlag(set, "listen-metrics-urls")
	config.CORS = flags.UniqueURLsMapFromFlag(set, "cors")
	config.HostWhitelist = flags.UniqueStringsMapFromFlag(set, "host-whitelist")
	config.ClientTLSInfo.AllowedHostnames = flags.StringsFromFlag(set, "client-cert-allowed-hostname")
	config.PeerTLSInfo.AllowedCNs = flags.StringsFromFlag(set, "peer-cert-allowed-cn")
	config.PeerTLSInfo.AllowedHostnames = flags.StringsFromFlag(set, "peer-cert-allowed-hostname")
	config.CipherSuites = flags.StringsFromFlag(set, "cipher-suites")
	config.MaxConcurrentStreams = flags.Uint32FromFlag(set, "max-concurrent-streams")
	config.LogOutputs = flags.UniqueStringsFromFlag(set, "log-outputs")
	if flags.IsSet(set, "listen-client-urls") && !flags.IsSet(set, "advertise-client-urls") {
		config.AdvertiseClientUrls = nil
	}
	var refused []string
	set.Visit(func(each *flag.Flag) {
		config.FlagsExplicitlySet[each.Name] = true
		if strings.HasPrefix(each.Name, "experimental-") || strings.HasPrefix(each.Name, "discovery") {
			refused = append(refused, "--"+each.Name)
		}
	})
	if len(refused) != 0 {
		return nil, fmt.Errorf("not supported here: %s", strings.Join(refused, ", "))
	}
	if *printVersion {
		return nil, nil
	}
	if config.WarningUnaryRequestDuration == 0 {
		config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	}
	return config, config.Validate()
}

// run returns when a signal or an error has ended the server.
func run(config *embed.Config, log *zap.Logger) error {
	if _, err := config.UpdateDefaultClusterFromName(embed.NewConfig().InitialCluster); err != nil {
		log.Info("failed to detect the default host", zap.Error(err))
	}
	if config.Dir == "" {
		config.Dir = config.Name + ".etcd"
	}
	member := &handover.Member{}
	config.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.ChainUnaryInterceptor(member.Interceptor)}
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	osutil.RegisterInterruptHandler(func() {
		if err := member.GiveLead(context.Background()); err != nil {
			log.Warn("the lead moves without held writes", zap.Error(err))
		}
		etcd.Close()
	})
	select {
	case <-etcd.Server.ReadyNotify():
	case <-etcd.Server.StopNotify():
	}
	osutil.HandleInterrupts(log)
	go member.HoldWrites(etcd.Server, log)
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		log.Error("failed to notify systemd for readiness", zap.Error(err))
	}
	select {
	case err := <-etcd.Err():
		return err
	case <-etcd.Server.StopNotify():
		return nil
	}
}
