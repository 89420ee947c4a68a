// flanneld connects the pods of a cluster's nodes. It takes each node's subnet from the Kubernetes API and has the back ends
// host-gw and vxlan and the traffic managers iptables and nftables; flannel's other parts stay out of the file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/flannel-io/flannel/pkg/backend"
	_ "github.com/flannel-io/flannel/pkg/backend/hostgw"
	_ "github.com/flannel-io/flannel/pkg/backend/vxlan"
	"github.com/flannel-io/flannel/pkg/ipmatch"
	"github.com/flannel-io/flannel/pkg/subnet"
	"github.com/flannel-io/flannel/pkg/subnet/kube"
	"github.com/flannel-io/flannel/pkg/trafficmngr"
	"github.com/flannel-io/flannel/pkg/trafficmngr/iptables"
	"github.com/flannel-io/flannel/pkg/trafficmngr/nftables"
	"github.com/flannel-io/flannel/pkg/version"
	"k8s.io/klog/v2"
)

// resyncSeconds is how often lost iptables rules are put back. Each round starts several processes.
const resyncSeconds = 30

type options struct {
	interfaces     []string
	ipMasq         bool
	kubeconfig     string
	netConfigPath  string
	subnetFile     string
	publicIP       string
	publicIPv6     string
	healthzAddress string // empty: no health server
	showVersion    bool
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2)
	}
	if o.showVersion {
		fmt.Println(version.Version)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, o); err != nil && ctx.Err() == nil {
		klog.Error(err)
		klog.Flush()
		os.Exit(1)
	}
	klog.Info("ended")
	klog.Flush()
}

// parse reads the command line; the flag package has told the user about an error when it returns one.
func parse(arguments []string) (options, error) {
	var o options
	var healthzIP, healthzPort string
	flags := flag.NewFlagSet("flanneld", flag.ContinueOnError)
	flags.Func("iface", "interface `name or address` for traffic between nodes; may be repeated, the first that exists is used",
		func(name string) error { o.interfaces = append(o.interfaces, name); return nil })
	flags.BoolVar(&o.ipMasq, "ip-masq", false, "masquerade traffic from pods to the outside")
	flags.Bool("kube-subnet-mgr", true, "accepted and always true: subnets come from the Kubernetes API")
	flags.StringVar(&o.kubeconfig, "kubeconfig-file", "", "kubeconfig `file`; without it the pod's service account is used")
	flags.StringVar(&o.netConfigPath, "net-config-path", "/etc/kube-flannel/net-conf.json", "network configuration `file`")
	flags.StringVar(&o.subnetFile, "subnet-file", "/run/flannel/subnet.env", "`file` to write for the CNI plugin")
	flags.StringVar(&o.publicIP, "public-ip", "", "`address` by which other nodes reach this one")
	flags.StringVar(&o.publicIPv6, "public-ipv6", "", "IPv6 `address` by which other nodes reach this one")
	flags.StringVar(&healthzIP, "healthz-ip", "0.0.0.0", "`address` of the health server")
	flags.StringVar(&healthzPort, "healthz-port", "0", "`port` of the health server, 0 for none")
	flags.BoolVar(&o.showVersion, "version", false, "print the version and end")

	klogFlags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(klogFlags)
	for _, name := range []string{"v", "vmodule"} {
		known := klogFlags.Lookup(name)
		flags.Var(known.Value, known.Name, known.Usage)
	}
	err := flags.Parse(arguments)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintf(os.Stderr, "flanneld: %v\n", err)
	}
	if healthzPort != "0" {
		o.healthzAddress = net.JoinHostPort(healthzIP, healthzPort)
	}
	return o, err
}

// run sets up this node's part of the network and keeps it until ctx ends.
func run(ctx context.Context, o options) error {
	if err := checkPrerequisites(o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()

	var ready atomic.Bool
	if o.healthzAddress != "" {
		if err := serveHealth(ctx, o.healthzAddress, &background, &ready); err != nil {
			return err
		}
	}
	manager, err := kube.NewSubnetManager(ctx, "", o.kubeconfig, "flannel.alpha.coreos.com", o.netConfigPath, true)
	if err != nil {
		return fmt.Errorf("reaching the Kubernetes API: %w", err)
	}
	config, err := manager.GetNetworkConfig(ctx)
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.netConfigPath, err)
	}
	if err := checkKernel(config); err != nil {
		return err
	}
	network, err := joinNetwork(ctx, o, manager, config, &background)
	if err != nil {
		return err
	}
	if err := setTrafficRules(ctx, o, config, network); err != nil {
		return err
	}
	lease := network.Lease()
	if err := manager.HandleSubnetFile(o.subnetFile, config, o.ipMasq, lease.Subnet, lease.IPv6Subnet, network.MTU()); err != nil {
		return fmt.Errorf("writing %s: %w", o.subnetFile, err)
	}
	background.Go(func() { network.Run(ctx) })
	if err := manager.CompleteLease(ctx, lease, &background); err != nil {
		return fmt.Errorf("marking the node's network as available: %w", err)
	}
	ready.Store(true)
	klog.Infof("%s is ready, subnet %s, written to %s", config.BackendType, lease.Subnet, o.subnetFile)
	<-ctx.Done()
	return nil
}

// checkPrerequisites names everything that is missing at once.
func checkPrerequisites(o options) error {
	var missing []error
	if os.Getenv("NODE_NAME") == "" {
		missing = append(missing, errors.New("NODE_NAME is not set; set it from the pod's spec.nodeName"))
	}
	if _, err := os.Stat(o.netConfigPath); err != nil {
		missing = append(missing, fmt.Errorf("--net-config-path: %w; mount the network configuration there", err))
	}
	if o.kubeconfig != "" {
		if _, err := os.Stat(o.kubeconfig); err != nil {
			missing = append(missing, fmt.Errorf("--kubeconfig-file: %w", err))
		}
	} else if os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		missing = append(missing, errors.New("neither --kubeconfig-file nor KUBERNETES_SERVICE_HOST is set; give one of them"))
	}
	return errors.Join(missing...)
}

// checkKernel refuses to start where bridged pod traffic would silently pass by iptables.
func checkKernel(config *subnet.Config) error {
	if config.EnableNFTables {
		return nil
	}
	for switchFile, used := range map[string]bool{
		"/proc/sys/net/bridge/bridge-nf-call-iptables":  config.EnableIPv4,
		"/proc/sys/net/bridge/bridge-nf-call-ip6tables": config.EnableIPv6,
	} {
		if _, err := os.Stat(switchFile); used && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s does not exist; load the kernel module br_netfilter on the node, or set EnableNFTables in the "+
				"network configuration", switchFile)
		}
	}
	return nil
}

// joinNetwork takes this node's subnet and starts the back end on the interface that leads to the other nodes.
func joinNetwork(ctx context.Context, o options, manager subnet.Manager, config *subnet.Config, background *sync.WaitGroup) (backend.Network, error) {
	// An address that an administrator wrote into the node's annotations stands above the command line's.
	if v4, v6 := manager.GetStoredPublicIP(ctx); v4 != "" || v6 != "" {
		o.publicIP, o.publicIPv6 = firstNonEmpty(v4, o.publicIP), firstNonEmpty(v6, o.publicIPv6)
	}
	external, err := findInterface(o, config)
	if err != nil {
		return nil, err
	}
	chosen, err := backend.NewManager(ctx, manager, external).GetBackend(config.BackendType)
	if err != nil {
		return nil, fmt.Errorf("back end %q: %w (this flanneld has host-gw and vxlan)", config.BackendType, err)
	}
	network, err := chosen.RegisterNetwork(ctx, background, config)
	if err != nil {
		return nil, fmt.Errorf("registering this node with back end %s: %w", config.BackendType, err)
	}
	return network, nil
}

// findInterface returns the first of --iface that exists; without any, the one that has the public address or else the default route.
func findInterface(o options, config *subnet.Config) (*backend.ExternalInterface, error) {
	family, err := ipmatch.GetIPFamily(config.EnableIPv4, config.EnableIPv6)
	if err != nil {
		return nil, fmt.Errorf("network configuration: %w", err)
	}
	candidates := o.interfaces
	if len(candidates) == 0 {
		candidates = []string{firstNonEmpty(o.publicIP, o.publicIPv6)}
	}
	var failures []error
	for _, name := range candidates {
		found, err := ipmatch.LookupExtIface(name, "", "", family, ipmatch.PublicIPOpts{PublicIP: o.publicIP, PublicIPv6: o.publicIPv6})
		if err == nil {
			return found, nil
		}
		failures = append(failures, err)
	}
	return nil, fmt.Errorf("no interface for traffic between nodes; correct --iface or --public-ip: %w", errors.Join(failures...))
}

// setTrafficRules installs the rules of the chosen manager, after those that the other one left before a change of configuration.
func setTrafficRules(ctx context.Context, o options, config *subnet.Config, network backend.Network) error {
	if err := trafficManager(!config.EnableNFTables).CleanUp(ctx); err != nil {
		// An image with one of the two tools only has no rules of the other.
		klog.Infof("no old rules removed: %v", err)
	}
	rules := trafficManager(config.EnableNFTables)
	if err := rules.Init(ctx); err != nil {
		return fmt.Errorf("preparing packet filter rules: %w", err)
	}
	if o.ipMasq {
		previous := readSubnetFile(o.subnetFile)
		err := rules.SetupAndEnsureMasqRules(ctx, config.Network, previous.subnet, previous.network,
			config.IPv6Network, previous.subnet6, previous.network6, network.Lease(), resyncSeconds, false)
		if err != nil {
			return fmt.Errorf("setting up masquerading: %w", err)
		}
	}
	rules.SetupAndEnsureForwardRules(ctx, config.Network, config.IPv6Network, resyncSeconds)
	return nil
}

func trafficManager(useNFTables bool) trafficmngr.TrafficManager {
	if useNFTables {
		return &nftables.NFTablesManager{}
	}
	return &iptables.IPTablesManager{}
}

// serveHealth answers /healthz while the process lives, and /readyz once pods can talk.
func serveHealth(ctx context.Context, address string, background *sync.WaitGroup, ready *atomic.Bool) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("health server: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			http.Error(w, "the network is not set up yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	background.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			klog.Errorf("health server: %v", err)
		}
	})
	background.Go(func() {
		<-ctx.Done()
		server.Close()
	})
	return nil
}

func firstNonEmpty(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}
