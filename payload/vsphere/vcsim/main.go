// vcsim serves vSphere's APIs from memory, for tests: a vCenter with datacenters, clusters of hosts, datastores and networks.
//
//	vcsim -listen 127.0.0.1:0 -datacenters 1 -clusters 2
//
// It prints the URL of its web service API when it is ready, and ends when its standard input does.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"

	_ "github.com/vmware/govmomi/lookup/simulator"
	_ "github.com/vmware/govmomi/pbm/simulator"
	"github.com/vmware/govmomi/simulator"
	_ "github.com/vmware/govmomi/sts/simulator"
	_ "github.com/vmware/govmomi/vapi/simulator"
)

func run() error {
	model := simulator.VPX()
	listen := flag.String("listen", "127.0.0.1:0", "address")
	user := flag.String("user", "administrator", "the user that may log in")
	password := flag.String("password", "", "its password; empty: everybody may log in")
	delay := flag.Int("delay", 0, "milliseconds that each task takes")
	flag.IntVar(&model.Datacenter, "datacenters", 1, "number of datacenters")
	flag.IntVar(&model.Cluster, "clusters", 2, "number of clusters in each")
	flag.IntVar(&model.Machine, "machines", 1, "number of virtual machines in each resource pool")
	flag.Parse()
	defer model.Remove()
	if err := model.Create(); err != nil {
		return err
	}
	if *delay > 0 {
		simulator.TaskDelay.Delay = *delay
	}
	model.Service.Listen = &url.URL{Host: *listen}
	if *password != "" {
		model.Service.Listen.User = url.UserPassword(*user, *password)
	}
	model.Service.RegisterEndpoints = true
	model.Service.TLS = (*tls.Config)(nil)
	server := model.Service.NewServer() // not closed: that would wait for clients that wait for updates
	fmt.Printf("http://%s/sdk\n", server.URL.Host)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
