package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is watch-termination and its command as well, chosen by this variable.
const role = "WATCH_TERMINATION_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "watch-termination":
		os.Setenv(role, "command")
		os.Exit(watch(os.Args[1:]))
	case "reader":
		os.Exit(readLine(os.Args[1]))
	case "command":
		os.Exit(command(os.Args[1], os.Args[2]))
	}
}

// command behaves in one of the ways that a server may end in. It says "ready", then whether the touch file was there on TERM.
func command(behaviour, touchFile string) int {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready")
	switch behaviour {
	case "exits at once":
		return 7
	case "kills itself":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	received := <-signals
	if behaviour == "counts signals" {
		time.Sleep(time.Second)
		fmt.Printf("%d signals\n", 1+len(signals))
		return 3
	}
	_, err := os.Stat(touchFile)
	fmt.Printf("%v, touched %t\n", received, err == nil)
	if behaviour == "ignores the end" {
		select {}
	}
	return 3
}

// watched is a watch-termination that has started its command.
type watched struct {
	process *exec.Cmd
	output  *bufio.Reader
	touch   string
	log     string
}

func start(t *testing.T, behaviour string, flags ...string) *watched {
	t.Helper()
	folder := t.TempDir()
	w := &watched{touch: filepath.Join(folder, ".terminating"), log: filepath.Join(folder, "termination.log")}
	if err := os.WriteFile(w.touch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"--termination-touch-file=" + w.touch, "--termination-log-file=" + w.log,
		"--kubeconfig=/etc/kubeconfig"}, flags...)
	w.process = exec.Command(os.Args[0], append(arguments, "--", os.Args[0], behaviour, w.touch)...)
	w.process.Env = append(os.Environ(), role+"=watch-termination")
	w.process.Stderr = os.Stderr
	pipe, err := w.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.output = bufio.NewReader(pipe)
	if err := w.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.process.Process.Kill() })
	if line, _ := w.output.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the command said %q", line)
	}
	return w
}

// end returns what the command said after "ready", and the exit code.
func (w *watched) end(t *testing.T) (string, int) {
	t.Helper()
	said, err := io.ReadAll(w.output)
	if err != nil {
		t.Fatal(err)
	}
	w.process.Wait()
	return string(said), w.process.ProcessState.ExitCode()
}

func (w *watched) expectLog(t *testing.T, parts ...string) {
	t.Helper()
	text, err := os.ReadFile(w.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range append(parts, "started ", "ended: ") {
		if !strings.Contains(string(text), part) {
			t.Errorf("log\n%s\ndoes not say %q", text, part)
		}
	}
}

func TestExitCodeIsKept(t *testing.T) {
	w := start(t, "exits at once")
	if _, code := w.end(t); code != 7 {
		t.Errorf("exit code %d", code)
	}
	w.expectLog(t, "exit status 7")
}

func TestEndBySignalIsKept(t *testing.T) {
	w := start(t, "kills itself")
	if _, code := w.end(t); code != 128+9 {
		t.Errorf("exit code %d", code)
	}
	w.expectLog(t, "killed")
}

func TestSignalIsForwardedAfterTheTouch(t *testing.T) {
	for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		w := start(t, "ends on the signal")
		if _, err := os.Stat(w.touch); err == nil {
			t.Error("the touch file of an earlier run is still there")
		}
		w.process.Process.Signal(sent)
		said, code := w.end(t)
		if want := fmt.Sprintf("%v, touched true\n", sent); said != want || code != 3 {
			t.Errorf("said %q with code %d, want %q", said, code, want)
		}
		w.expectLog(t, "received "+sent.String())
	}
}

func TestKillAfterTheGracePeriod(t *testing.T) {
	w := start(t, "ignores the end", "--graceful-termination-duration=50ms")
	began := time.Now()
	w.process.Process.Signal(syscall.SIGTERM)
	_, code := w.end(t)
	if waited := time.Since(began); code != 128+9 || waited < 50*time.Millisecond || waited > 10*time.Second {
		t.Errorf("exit code %d after %v", code, waited)
	}
	w.expectLog(t, "did not end within 50ms")
}

func TestCommandDiesWithIt(t *testing.T) {
	w := start(t, "ignores the end")
	w.process.Process.Kill()
	// The command holds the pipe open as long as it lives.
	ended := make(chan struct{})
	go func() {
		io.ReadAll(w.output)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the command lives on")
	}
}

func TestCommandLine(t *testing.T) {
	cases := []struct {
		arguments []string
		code      int
		says      string
	}{
		{[]string{"--"}, 2, "no command"},
		{[]string{"--nonsense", "--", "true"}, 2, "nonsense"},
		{[]string{"--graceful-termination-duration=soon", "--", "true"}, 2, "graceful-termination-duration"},
		{[]string{"--", "/nowhere/command"}, 126, "cannot start"},
		{[]string{"--help"}, 0, "usage"},
	}
	for _, c := range cases {
		process := exec.Command(os.Args[0], c.arguments...)
		process.Env = append(os.Environ(), role+"=watch-termination")
		var said bytes.Buffer
		process.Stdout, process.Stderr = &said, &said
		process.Run()
		if code := process.ProcessState.ExitCode(); code != c.code || !strings.Contains(said.String(), c.says) {
			t.Errorf("%v: exit code %d, said %q", c.arguments, code, said.String())
		}
	}
}
