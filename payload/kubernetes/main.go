// hyperkube is Kubernetes in one file: every program of a control plane and of a node, chosen by the name it is called by or
// by its first argument.
//
//	hyperkube kube-apiserver --openshift-config=FILE    turns OpenShift's document into upstream flags first
//	kubelet ...                                         the same file under another name
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"a.slipway/first"
	_ "a.slipway/first/english"
	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/client-go/transport"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"slipway/payload/kubernetes/openshiftconfig"
)

// program is one of the programs in this file. headroom: MB, see headroom.go. run finds its command line in os.Args and returns
// the exit code.
type program struct {
	name               string
	takesOpenShiftFile bool
	headroom           int
	run                func() int
}

var programs = []program{
	{"kube-apiserver", true, 256, cobraProgram(apiserver.NewAPIServerCommand)},
	{"kube-controller-manager", true, 64, cobraProgram(controllermanager.NewControllerManagerCommand)},
	{"kube-scheduler", true, 64, cobraProgram(func() *cobra.Command { return scheduler.NewSchedulerCommand() })},
	{"kube-proxy", false, 32, cobraProgram(proxy.NewProxyCommand)},
	{"kubelet", false, 64, cobraProgram(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) })},
	{"kubectl", false, 32, runKubectl},
}

// Client certificates of kubeconfigs are read again after this time. A certificate that was replaced because its key leaked is out of
// use within ten seconds, not client-go's five minutes, and certificates may live as short as docs/lifetimes.md allows.
const certificateRefresh = 10 * time.Second

// After so many seconds of silence a client asks whether the other end of its connection is there, 30 of its own accord. Who only
// watches learns by that alone that the virtual address of the API has moved to another machine.
const readIdleName, readIdleSeconds = "HTTP2_READ_IDLE_TIMEOUT_SECONDS", "3"

func main() {
	transport.CertCallbackRefreshDuration = certificateRefresh
	if os.Getenv(readIdleName) == "" {
		_ = os.Setenv(readIdleName, readIdleSeconds)
	}
	chosen, arguments, err := choose(os.Args)
	if errors.Is(err, errHelp) {
		usage(os.Stdout)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "hyperkube: %v\n", err)
		usage(os.Stderr)
		os.Exit(2)
	}
	startWithHeadroom(chosen.headroom)
	first.CollectAgain()
	if chosen.takesOpenShiftFile {
		arguments, err = openshiftconfig.Replace(chosen.name, arguments, knownToKubernetes, os.Stderr)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", chosen.name, err)
			os.Exit(2)
		}
	}
	// The programs read os.Args themselves, kubectl's plugins among them.
	os.Args = append([]string{chosen.name}, arguments...)
	os.Exit(chosen.run())
}

var errHelp = errors.New("help is asked for")

// choose finds the program by the base name of the file, or else by the first argument.
func choose(commandLine []string) (program, []string, error) {
	name, arguments := filepath.Base(commandLine[0]), commandLine[1:]
	if found := find(name); found != nil {
		return *found, arguments, nil
	}
	if len(arguments) == 0 {
		return program{}, nil, errors.New("no program is named")
	}
	if name = arguments[0]; name == "--help" || name == "-h" || name == "help" {
		return program{}, nil, errHelp
	}
	if found := find(name); found != nil {
		return *found, arguments[1:], nil
	}
	return program{}, nil, fmt.Errorf("there is no program %q in this file", name)
}

func find(name string) *program {
	for i := range programs {
		if programs[i].name == name {
			return &programs[i]
		}
	}
	return nil
}

func usage(out io.Writer) {
	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	fmt.Fprintf(out, "usage: hyperkube PROGRAM [ARGUMENT...]\nprograms: %s\n", strings.Join(names, ", "))
}

// cobraProgram delays making the command until it is chosen, since making one already installs signal handlers.
func cobraProgram(make func() *cobra.Command) func() int {
	return func() int { return cli.Run(make()) }
}

func runKubectl() int {
	// Making the command already logs, while it looks for plugins, so -v must count before flags are parsed.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
	return 0
}
