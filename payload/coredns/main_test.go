package main

import (
	"net"
	"testing"
	"time"
)

const attempt = 10 * time.Millisecond

func TestWaitsUntilSomebodyListens(t *testing.T) {
	reserved, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := reserved.Addr().String()
	reserved.Close()
	done := make(chan bool)
	go func() { done <- waitForAPI(address, attempt, time.Minute) }()
	select {
	case <-done:
		t.Fatal("did not wait")
	case <-time.After(5 * attempt):
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if !<-done {
		t.Error("gave up though somebody listens")
	}
}

func TestDoesNotWaitForEver(t *testing.T) {
	reserved, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := reserved.Addr().String()
	reserved.Close()
	if waitForAPI(address, attempt, 3*attempt) {
		t.Error("nobody listens")
	}
}
