package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const long = 20 * time.Second

// names of tests that run at the same time differ.
func nameOf(t *testing.T) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }

func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > long {
			t.Fatalf("not within %v: %s", long, what)
		}
	}
}

func (w *watched) logHas(part string) bool {
	text, _ := os.ReadFile(w.log)
	return strings.Contains(string(text), part)
}

// connections counts those to the socket: /proc/net/unix has a line for the listener and for each accepted connection.
func connections(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), " "+socketName(name)+"\n") - 1
}

func TestDependentsEndFirst(t *testing.T) {
	name := nameOf(t)
	used := start(t, "ends on the signal", "--dependents="+name)
	users := []*watched{start(t, "ends on the signal", "--depends-on="+name), start(t, "ignores the end", "--depends-on="+name,
		"--graceful-termination-duration=300ms")}
	waitUntil(t, "both are connected", func() bool { return connections(t, name) == 2 })

	began := time.Now()
	used.process.Process.Signal(syscall.SIGTERM)
	for i, w := range users {
		if said, _ := w.end(t); said != "terminated, touched true\n" {
			t.Errorf("user %d said %q", i, said)
		}
	}
	said, code := used.end(t)
	if said != "terminated, touched true\n" || code != 3 || time.Since(began) < 300*time.Millisecond {
		t.Errorf("said %q with code %d after %v", said, code, time.Since(began))
	}
	used.expectLog(t, "2 programs that use this one end first", "terminated, forwarded it")
}

func TestWithoutDependentsItEndsAtOnce(t *testing.T) {
	used := start(t, "ends on the signal", "--dependents="+nameOf(t))
	used.process.Process.Signal(syscall.SIGTERM)
	if said, code := used.end(t); said != "terminated, touched true\n" || code != 3 {
		t.Errorf("said %q with code %d", said, code)
	}
}

func TestDependentsHaveALimit(t *testing.T) {
	name := nameOf(t)
	for _, row := range []struct {
		what, limit string
		signals     int
	}{{"the limit", "50ms", 1}, {"a second signal", "1h", 2}} {
		used := start(t, "ends on the signal", "--dependents="+name, "--dependents-limit="+row.limit)
		start(t, "ignores the end", "--depends-on="+name)
		waitUntil(t, "it is connected", func() bool { return connections(t, name) == 1 })
		used.process.Process.Signal(syscall.SIGTERM)
		if row.signals == 2 {
			waitUntil(t, "the first signal has arrived", func() bool { return used.logHas("end first") })
			used.process.Process.Signal(syscall.SIGTERM)
		}
		if said, code := used.end(t); said != "terminated, touched true\n" || code != 3 {
			t.Errorf("%s: said %q with code %d", row.what, said, code)
		}
	}
}

func TestDependentsSurviveACrashAndFindTheNextOne(t *testing.T) {
	name := nameOf(t)
	user := start(t, "ends on the signal", "--depends-on="+name)
	for range 2 {
		used := start(t, "ends on the signal", "--dependents="+name)
		waitUntil(t, "it is connected", func() bool { return connections(t, name) == 1 })
		used.process.Process.Kill()
		used.end(t)
	}
	if user.logHas("received") {
		t.Error("the user was told to end")
	}
	used := start(t, "ends on the signal", "--dependents="+name)
	waitUntil(t, "it is connected", func() bool { return connections(t, name) == 1 })
	used.process.Process.Signal(syscall.SIGTERM)
	if said, _ := user.end(t); said != "terminated, touched true\n" {
		t.Errorf("said %q", said)
	}
	used.end(t)
}

func TestTheCommandGetsOneSignal(t *testing.T) {
	name := nameOf(t)
	used := start(t, "ends on the signal", "--dependents="+name)
	user := start(t, "counts signals", "--depends-on="+name)
	waitUntil(t, "it is connected", func() bool { return connections(t, name) == 1 })
	used.process.Process.Signal(syscall.SIGTERM)
	waitUntil(t, "it receives the line", func() bool { return user.logHas("terminated, forwarded it") })
	user.process.Process.Signal(syscall.SIGTERM)
	waitUntil(t, "the second signal has arrived", func() bool { return user.logHas("terminated again") })
	if said, code := user.end(t); said != "1 signals\n" || code != 3 {
		t.Errorf("said %q with code %d", said, code)
	}
	used.end(t)
}

func TestTheNameIsTaken(t *testing.T) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socketName(nameOf(t)), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if code := watch([]string{"--dependents=" + nameOf(t), "--", "true"}); code != 126 {
		t.Errorf("exit code %d", code)
	}
}

// readLine is a foreign process: it prints what it reads from the socket.
func readLine(name string) int {
	connection, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socketName(name), Net: "unix"})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	line, err := bufio.NewReader(connection).ReadString('\n')
	fmt.Printf("%q %v\n", line, err)
	return 0
}

func TestOtherUsersAreNoDependents(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start processes of other users")
	}
	name := nameOf(t)
	used := start(t, "ends on the signal", "--dependents="+name)
	defer used.process.Process.Kill()
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for at := folder; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(folder, "program")
	if err := os.WriteFile(copied, program, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := exec.Command(copied, name)
	foreign.Env = append(os.Environ(), role+"=reader")
	foreign.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	said, err := foreign.CombinedOutput()
	if err != nil || string(said) != "\"\" EOF\n" {
		t.Errorf("said %q, %v", said, err)
	}
}
