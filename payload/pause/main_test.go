package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is pause as well: the role "parent" starts a child and then becomes pause, so that pause has a child that it
// never started.
const role = "PAUSE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "parent":
		child := exec.Command("cat")
		child.Stdin = os.Stdin
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Println(child.Process.Pid)
		panic(syscall.Exec("/proc/self/exe", []string{"pause"}, []string{role + "=pause"}))
	case "pause":
		main()
	}
}

func TestReapsAndEnds(t *testing.T) {
	for _, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		pause := exec.Command("/proc/self/exe")
		pause.Env = []string{role + "=parent", "PATH=" + os.Getenv("PATH")}
		stdin, _ := pause.StdinPipe()
		stdout, _ := pause.StdoutPipe()
		if err := pause.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pause.Process.Kill() })
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		child, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}

		stdin.Close()
		for deadline := time.Now().Add(10 * time.Second); syscall.Kill(child, 0) == nil; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("child %d was not reaped", child)
			}
		}
		pause.Process.Signal(end)
		if err := pause.Wait(); err != nil {
			t.Errorf("%v: %v", end, err)
		}
	}
}
