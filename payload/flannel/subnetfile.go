package main

import (
	"math/big"
	"net"
	"os"
	"strings"

	"github.com/flannel-io/flannel/pkg/ip"
)

// previousSubnets is what the last run of this node wrote, so that its masquerading rules can be replaced.
type previousSubnets struct {
	network, subnet   ip.IP4Net
	network6, subnet6 ip.IP6Net
}

// readSubnetFile returns zero networks for whatever is not in the file; on a new node there is none.
func readSubnetFile(path string) previousSubnets {
	none6 := ip.IP6Net{IP: (*ip.IP6)(big.NewInt(0))}
	out := previousSubnets{network6: none6, subnet6: none6}
	text, err := os.ReadFile(path)
	if err != nil {
		return out
	}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, "=")
		_, network, err := net.ParseCIDR(strings.TrimSpace(value))
		if err != nil {
			continue
		}
		switch name {
		case "FLANNEL_NETWORK":
			out.network = ip.FromIPNet(network)
		case "FLANNEL_SUBNET":
			out.subnet = ip.FromIPNet(network)
		case "FLANNEL_IPV6_NETWORK":
			out.network6 = ip.FromIP6Net(network)
		case "FLANNEL_IPV6_SUBNET":
			out.subnet6 = ip.FromIP6Net(network)
		}
	}
	return out
}
