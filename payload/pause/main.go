// pause holds the namespaces of a pod. As its first process it also reaps what other containers leave behind when they share
// the process namespace. TERM and INT end it.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGINT)
	// Once before the first signal, for children that ended before signals were asked for. The channel may merge several
	// SIGCHLD into one, so each takes all that have ended.
	for reapAll(); ; reapAll() {
		if received := <-signals; received != syscall.SIGCHLD {
			return
		}
	}
}

func reapAll() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != syscall.EINTR && pid <= 0 {
			return
		}
	}
}
