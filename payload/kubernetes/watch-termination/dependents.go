package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A program that uses another one of the same machine ends before it: an API server before its etcd. Both run under
// watch-termination, which are connected while they run. The one that is about to end sends one line, and waits until the others
// have closed their connections, which they do when their commands have ended.
//
// The socket is in the abstract namespace, which belongs to the network namespace: pods of the host's network need no common folder
// for it. Both sides accept only processes of their own user.

const (
	endLine    = "end\n"
	retryPause = time.Second
)

func socketName(name string) string { return "@watch-termination/" + name }

// isOwn tells whether the process at the other end belongs to the user of this one.
func isOwn(connection *net.UnixConn) bool {
	raw, err := connection.SyscallConn()
	if err != nil {
		return false
	}
	own := false
	_ = raw.Control(func(fd uintptr) {
		peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		own = err == nil && int(peer.Uid) == os.Geteuid()
	})
	return own
}

// dependents are the connections of programs that use the command.
type dependents struct {
	listener  *net.UnixListener
	mutex     sync.Mutex
	open      map[*net.UnixConn]bool
	areEnding bool
	changed   chan struct{} // has an entry after a change of open
}

func listenForDependents(name string) (*dependents, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socketName(name), Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listening for dependents %q: %w", name, err)
	}
	d := &dependents{listener: listener, open: map[*net.UnixConn]bool{}, changed: make(chan struct{}, 1)}
	go d.accept()
	return d, nil
}

func (d *dependents) accept() {
	for {
		connection, err := d.listener.AcceptUnix()
		if err != nil {
			warn("accepting dependents: %v", err)
			return
		}
		if !isOwn(connection) {
			connection.Close()
			continue
		}
		d.mutex.Lock()
		d.open[connection] = true
		if d.areEnding {
			tellToEnd(connection)
		}
		d.mutex.Unlock()
		go d.watch(connection)
	}
}

// watch waits for the end of a connection. Nothing is received before.
func (d *dependents) watch(connection *net.UnixConn) {
	buffer := make([]byte, 1)
	for {
		if _, err := connection.Read(buffer); err != nil {
			break
		}
	}
	connection.Close()
	d.mutex.Lock()
	delete(d.open, connection)
	d.mutex.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func tellToEnd(connection *net.UnixConn) {
	// The line fits into the buffer of a socket that nothing was sent on. A process that has ended needs no line.
	_, _ = connection.Write([]byte(endLine))
}

func (d *dependents) count() int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.open)
}

// end tells all dependents to end. The channel is closed when none is left, also if there was none. May be called once.
func (d *dependents) end() (int, <-chan struct{}) {
	d.mutex.Lock()
	d.areEnding = true
	told := len(d.open)
	for connection := range d.open {
		tellToEnd(connection)
	}
	d.mutex.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for d.count() > 0 {
			<-d.changed
		}
	}()
	return told, ended
}

// dependOn sends on `end` when the program of that name is about to end. There may be no such program at times; nothing tells when
// there is one again, so it is looked for once a second.
func dependOn(name string, end chan<- os.Signal) {
	for ; ; time.Sleep(retryPause) {
		connection, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socketName(name), Net: "unix"})
		if err != nil {
			continue
		}
		reader, line := bufio.NewReader(connection), ""
		if isOwn(connection) {
			line, _ = reader.ReadString('\n')
		}
		if line == endLine {
			end <- syscall.SIGTERM
			// The connection stays open until one of both processes has ended.
			_, _ = reader.ReadString('\n')
			return
		}
		connection.Close()
	}
}
