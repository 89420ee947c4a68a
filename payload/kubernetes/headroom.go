package main

import (
	"runtime"
	"time"
)

// headroomLast is long enough for a node and its control plane to come up.
const headroomLast = 2 * time.Minute

// startWithHeadroom lets the collector believe that so many MB are in use. A program that starts makes garbage by the hundreds of
// megabytes while it keeps little, and would collect it every few: a fifth of what starting an API server costs. Nobody writes to
// the room, so it is no memory of the machine; when it is over the collector's own rule is back, and where a program keeps much a
// large room beside it would make no difference either.
func startWithHeadroom(megabytes int) {
	room := make([]byte, megabytes<<20)
	time.AfterFunc(headroomLast, func() { runtime.KeepAlive(room) })
}
