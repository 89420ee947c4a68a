package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadSubnetFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "subnet.env")
	if got := readSubnetFile(path); !got.subnet.Empty() || !got.subnet6.Empty() {
		t.Errorf("without a file: %v", got)
	}
	os.WriteFile(path, []byte("FLANNEL_NETWORK=10.128.0.0/14\nFLANNEL_SUBNET=10.128.2.1/24\n"+
		"FLANNEL_IPV6_NETWORK=fd01::/48\nFLANNEL_IPV6_SUBNET=fd01:0:0:2::1/64\nFLANNEL_MTU=1450\nnonsense\n"), 0o600)
	got := readSubnetFile(path)
	for want, text := range map[string]string{
		"10.128.0.0/14": got.network.String(), "10.128.2.0/24": got.subnet.String(),
		"fd01::/48": got.network6.String(), "fd01:0:0:2::/64": got.subnet6.String(),
	} {
		if text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}
