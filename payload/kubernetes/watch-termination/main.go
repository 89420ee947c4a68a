// watch-termination runs a program and lets others see that it is being ended: OpenShift's kube-apiserver pod starts its API
// server this way. It is a program of its own, because a start of hyperkube costs 0.1 CPU seconds.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

type options struct {
	touchFile  string
	logFile    string
	grace      time.Duration
	dependents string
	limit      time.Duration
	dependsOn  string
	command    []string
}

const usage = "usage: watch-termination [--termination-touch-file=FILE] [--termination-log-file=FILE]\n" +
	"                         [--graceful-termination-duration=DURATION]\n" +
	"                         [--dependents=NAME [--dependents-limit=DURATION]] [--depends-on=NAME]\n" +
	"                         -- COMMAND [ARGUMENT...]\n"

func main() {
	os.Exit(watch(os.Args[1:]))
}

// watch runs the command after "--" and returns its exit code; 128 and the signal's number when a signal ended it, 126 when it
// could not be started, 2 for a wrong command line.
//
// TERM and INT first make the touch file and then go on to the command. If it has not ended one grace period later it is killed.
// Only the first one goes on: the kubelet and the program that this one depends on may both end it, and an API server that receives
// TERM a second time drops its requests.
// A touch file left by an earlier run is removed at the start. The command is killed when this process is.
//
// With --dependents=NAME, the commands of all processes with --depends-on=NAME on this machine end before this one: they get TERM
// first, and this command gets it when they have ended, at the latest after the limit or with the second signal.
func watch(arguments []string) int {
	o, err := parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return 0
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "watch-termination: %v\n%s", err, usage)
		return 2
	}
	return run(o)
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("watch-termination", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.touchFile, "termination-touch-file", "", "")
	flags.StringVar(&o.logFile, "termination-log-file", "", "")
	flags.DurationVar(&o.grace, "graceful-termination-duration", 135*time.Second, "")
	flags.StringVar(&o.dependents, "dependents", "", "")
	flags.DurationVar(&o.limit, "dependents-limit", 135*time.Second, "")
	flags.StringVar(&o.dependsOn, "depends-on", "", "")
	// OpenShift's own writes events with it; ours has nothing to say to the API.
	flags.String("kubeconfig", "", "")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.command = flags.Args(); len(o.command) == 0 {
		return o, errors.New("no command; give it after --")
	}
	return o, nil
}

func run(o options) int {
	// Asked for before the start, so that a signal that comes while the command starts is not lost.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)

	if err := os.Remove(o.touchFile); o.touchFile != "" && err != nil && !errors.Is(err, os.ErrNotExist) {
		warn("cannot remove the touch file of an earlier run: %v", err)
	}
	var users *dependents
	if o.dependents != "" {
		var err error
		if users, err = listenForDependents(o.dependents); err != nil {
			warn("%v", err)
			return 126
		}
	}
	child := exec.Command(o.command[0], o.command[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The command must not outlive this process and hold its ports unseen. The kernel sends the signal when the thread that
	// started the child ends, so that has to be one that lasts.
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	if err := child.Start(); err != nil {
		o.log("could not start %s: %v", o.command[0], err)
		warn("cannot start the command: %v", err)
		return 126
	}
	o.log("started %s as process %d", strings.Join(o.command, " "), child.Process.Pid)

	ended := make(chan struct{})
	go func() {
		// The state tells the rest; Wait's own error repeats the exit code.
		_ = child.Wait()
		close(ended)
	}()
	if o.dependsOn != "" {
		go dependOn(o.dependsOn, signals)
	}
	var deadline, usersLimit <-chan time.Time
	var usersEnded <-chan struct{}
	forwarded := false
	forward := func(received os.Signal) {
		usersEnded, usersLimit, forwarded = nil, nil, true
		o.log("received %v, forwarded it", received)
		// It may just have ended; then there is nothing to forward to.
		_ = child.Process.Signal(received)
		deadline = time.After(o.grace)
	}
	var first os.Signal
	for {
		select {
		case received := <-signals:
			o.touch()
			if forwarded {
				o.log("received %v again", received)
				break
			}
			if first != nil || users == nil {
				forward(received)
				break
			}
			first = received
			var told int
			told, usersEnded = users.end()
			usersLimit = time.After(o.limit)
			o.log("received %v, %d programs that use this one end first", received, told)
		case <-usersEnded:
			forward(first)
		case <-usersLimit:
			warn("%d programs that use this one did not end within %v", users.count(), o.limit)
			forward(first)
		case <-deadline:
			o.log("did not end within %v, killing it", o.grace)
			_ = child.Process.Kill()
			deadline = nil
		case <-ended:
			code := exitCode(child.ProcessState)
			o.log("ended: %v", child.ProcessState)
			return code
		}
	}
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// touch makes the touch file. Ending goes on without it.
func (o options) touch() {
	if o.touchFile == "" {
		return
	}
	file, err := os.OpenFile(o.touchFile, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		warn("cannot make the touch file: %v", err)
		return
	}
	file.Close()
}

// log adds a line to the log file. The command runs on without it.
func (o options) log(format string, arguments ...any) {
	if o.logFile == "" {
		return
	}
	file, err := os.OpenFile(o.logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		warn("cannot write the log: %v", err)
		return
	}
	defer file.Close()
	fmt.Fprintf(file, "%s %s\n", time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, arguments...))
}

func warn(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "watch-termination: "+format+"\n", arguments...)
}
