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
	var addresses []string
	var first int
	command := &cobra.Command{
		Use:   "outside --listen ADDRESS... -- NSENTER_OPTION... -- PROGRAM [ARGUMENT...]",
		Short: "Run a program by nsenter in other namespaces, with listening sockets of this one",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, arguments []string) error {
			for i, address := range addresses {
				if err := listenAs(first+i, address); err != nil {
					return err
				}
			}
			nsenter, err := exec.LookPath("nsenter")
			if err != nil {
				return err
			}
			return unix.Exec(nsenter, append([]string{"nsenter"}, arguments...), os.Environ())
		},
		SilenceUsage: true,
	}
	flags := command.Flags()
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
