package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// outsideCommand starts a program in other namespaces, with sockets that stay in this network namespace: a machine of the
// cluster connects to them, and the program connects to other networks.
func outsideCommand() *cobra.Command {
	var network, mounts string
	var addresses []string
	var first int
	command := &cobra.Command{
		Use:   "outside --network FILE --mounts FILE --listen ADDRESS... -- PROGRAM [ARGUMENT...]",
		Short: "Run a program in other namespaces, with listening sockets of this one",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, program []string) error {
			for i, address := range addresses {
				if err := listenAs(first+i, address); err != nil {
					return err
				}
			}
			nsenter, err := exec.LookPath("nsenter")
			if err != nil {
				return err
			}
			argv := append([]string{"nsenter", "--net=" + network, "--mount=" + mounts, "--"}, program...)
			return unix.Exec(nsenter, argv, os.Environ())
		},
		SilenceUsage: true,
	}
	flags := command.Flags()
	flags.StringVar(&network, "network", "", "file of the network namespace")
	flags.StringVar(&mounts, "mounts", "", "file of the mount namespace")
	flags.StringArrayVar(&addresses, "listen", nil, "address of a socket, HOST:PORT")
	flags.IntVar(&first, "first-socket", 20, "descriptor of the first socket in the program; the next ones follow")
	return command
}

// listenAs opens a listening socket that a program has as this descriptor.
func listenAs(descriptor int, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	if err := unix.Dup3(int(file.Fd()), descriptor, 0); err != nil {
		return fmt.Errorf("socket %s as descriptor %d: %w", address, descriptor, err)
	}
	return nil
}
