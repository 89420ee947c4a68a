package handover

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// gate holds new writes of clients while it is closed, and counts those that are under way. All methods may be called from any
// goroutine.
type gate struct {
	mutex    sync.Mutex
	opened   chan struct{} // of a closed gate: closes when it opens
	underWay int
	idle     chan struct{} // closes when the last write under way has ended; nil while there is no waiter
}

// pass handles a request, when it may go on.
func (g *gate) pass(ctx context.Context, request any, handle grpc.UnaryHandler) (any, error) {
	if !isWrite(request) {
		return handle(ctx, request)
	}
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.leave()
	return handle(ctx, request)
}

// close lets no further write in, for at most the limit.
func (g *gate) close(limit time.Duration) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.opened != nil {
		return
	}
	opened := make(chan struct{})
	g.opened = opened
	time.AfterFunc(limit, func() { g.open(opened) })
}

// reopen lets writes in again.
func (g *gate) reopen() {
	g.mutex.Lock()
	opened := g.opened
	g.mutex.Unlock()
	if opened != nil {
		g.open(opened)
	}
}

// open does nothing when the gate was opened before, also when it was closed again after that.
func (g *gate) open(opened chan struct{}) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.opened == opened {
		g.opened = nil
		close(opened)
	}
}

// waitIdle returns when no write is under way, or with the error of the context.
func (g *gate) waitIdle(ctx context.Context) error {
	g.mutex.Lock()
	if g.underWay == 0 {
		g.mutex.Unlock()
		return nil
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mutex.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) enter(ctx context.Context) error {
	for {
		g.mutex.Lock()
		opened := g.opened
		if opened == nil {
			g.underWay++
			g.mutex.Unlock()
			return nil
		}
		g.mutex.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (g *gate) leave() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.underWay--
	if g.underWay == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// isWrite tells whether the request of a client becomes a proposal. Requests of administrators, such as a new member, are not held:
// their senders repeat them.
func isWrite(request any) bool {
	switch request := request.(type) {
	case *pb.PutRequest, *pb.DeleteRangeRequest, *pb.CompactionRequest, *pb.LeaseGrantRequest, *pb.LeaseRevokeRequest:
		return true
	case *pb.TxnRequest:
		return writes(request.Success) || writes(request.Failure)
	}
	return false
}

func writes(operations []*pb.RequestOp) bool {
	for _, each := range operations {
		switch operation := each.Request.(type) {
		case *pb.RequestOp_RequestPut, *pb.RequestOp_RequestDeleteRange:
			return true
		case *pb.RequestOp_RequestTxn:
			if isWrite(operation.RequestTxn) {
				return true
			}
		}
	}
	return false
}
