// Package handover lets the leader of an etcd cluster give its lead away without losing a write.
//
// While the lead changes, etcd drops the writes that the other members forward to the old leader. The client of such a write is not
// told: it waits seven seconds for "etcdserver: request timed out". So a leader that is about to end, or that is told to move the
// lead, first asks all members to hold new writes, waits until none is under way, moves the lead, and lets them go on. Clients see
// writes that take a moment longer.
//
// The members talk by keys of etcd itself, so nothing else has to be reachable, and each member sees everything in one order:
//
//	slipway.io/handover/hold           a number: the leader asks to hold writes for the hand-over of this number
//	slipway.io/handover/held/MEMBER    the same number: this member holds its writes, and none is under way
//
// The leader removes the keys at the end. Nothing depends on that: a member holds writes for at most holdLimit, and only for a
// request that it sees arrive. A member that does not answer, such as one of an older release, is waited for at most heldLimit.
package handover

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

const (
	prefix     = "slipway.io/handover/"
	holdKey    = prefix + "hold"
	heldPrefix = prefix + "held/"

	// An API server gives a write up after many seconds, and its clients mostly after five.
	holdLimit = 3 * time.Second
	heldLimit = time.Second
	moveLimit = time.Second
)

// Member is the part of one etcd in hand-overs.
type Member struct {
	gate    gate
	started atomic.Pointer[started]
}

type started struct {
	server *etcdserver.EtcdServer
	client *clientv3.Client // its writes pass no gate
	log    *zap.Logger
}

// Interceptor is the one for etcd's gRPC server. It holds writes when they have to wait, and moves the lead without losing any when a
// client asks for that.
func (m *Member) Interceptor(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	s := m.started.Load()
	if _, isMove := request.(*pb.MoveLeaderRequest); !isMove || s == nil || s.server.Leader() != s.server.MemberID() {
		return m.gate.pass(ctx, request, handle)
	}
	var response any
	var moveErr error
	if _, err := m.whileHeld(ctx, s, func([]types.ID) { response, moveErr = handle(ctx, request) }); err != nil {
		s.log.Warn("the lead moves without held writes", zap.Error(err))
		return handle(ctx, request)
	}
	return response, moveErr
}

// HoldWrites holds the writes of clients of this server whenever the leader asks for it, until the server ends. It blocks.
func (m *Member) HoldWrites(server *etcdserver.EtcdServer, log *zap.Logger) {
	s := &started{server: server, client: v3client.New(server), log: log}
	for {
		// A watch ends when its revision is compacted, or when there is no leader.
		for response := range s.client.Watch(clientv3.WithRequireLeader(s.client.Ctx()), holdKey, clientv3.WithCreatedNotify()) {
			m.started.Store(s) // it sees each request from now on
			for _, event := range response.Events {
				if event.Type == clientv3.EventTypePut {
					m.gate.close(holdLimit)
					go m.answer(s, string(event.Kv.Value))
				} else {
					m.gate.reopen()
				}
			}
		}
		select {
		case <-server.StopNotify():
			return
		case <-time.After(time.Second):
		}
	}
}

func (m *Member) answer(s *started, number string) {
	ctx, cancel := context.WithTimeout(s.client.Ctx(), heldLimit)
	defer cancel()
	if m.gate.waitIdle(ctx) == nil {
		// The leader does not wait for an answer that gets lost.
		_, _ = s.client.Put(ctx, heldPrefix+s.server.MemberID().String(), number)
	}
}

// GiveLead moves the lead to another member, the first one that holds its writes. It does nothing when this member does not lead, or
// when no other member could. It blocks for at most 2 * heldLimit + 2 * moveLimit. An error leaves the lead here, where etcd moves it
// when it ends.
func (m *Member) GiveLead(ctx context.Context) error {
	s := m.started.Load()
	if s == nil || s.server.Leader() != s.server.MemberID() || len(s.others()) == 0 {
		return nil
	}
	start := time.Now()
	var moveErr error
	held, err := m.whileHeld(ctx, s, func(held []types.ID) {
		moving, cancel := context.WithTimeout(ctx, moveLimit)
		defer cancel()
		moveErr = s.server.MoveLeader(moving, uint64(s.server.MemberID()), uint64(held[0]))
	})
	if err != nil {
		return err
	}
	if moveErr != nil {
		return fmt.Errorf("moving the lead to member %s: %w", held[0], moveErr)
	}
	s.log.Info("gave the lead away", zap.String("to", held[0].String()), zap.Int("members-that-held-writes", len(held)),
		zap.Duration("took", time.Since(start)))
	return nil
}

// others are the voting members that are not this one, by how their ids are written.
func (s *started) others() map[string]types.ID {
	found := map[string]types.ID{}
	for _, each := range s.server.Cluster().Members() {
		if each.ID != s.server.MemberID() && !each.IsLearner {
			found[each.ID.String()] = each.ID
		}
	}
	return found
}

// whileHeld acts while this member and others hold their writes, at least one other. It returns the others, in the order in which
// they answered. It has not acted when there is an error.
func (m *Member) whileHeld(ctx context.Context, s *started, act func(held []types.ID)) ([]types.ID, error) {
	number := strconv.FormatInt(time.Now().UnixNano(), 10)
	others := s.others()
	waiting, cancel := context.WithTimeout(ctx, heldLimit)
	defer cancel()
	answers := s.client.Watch(waiting, heldPrefix, clientv3.WithPrefix())
	if _, err := s.client.Put(waiting, holdKey, number); err != nil {
		return nil, fmt.Errorf("asking the members to hold writes: %w", err)
	}
	defer func() {
		removing, cancel := context.WithTimeout(ctx, moveLimit)
		defer cancel()
		if _, err := s.client.Delete(removing, prefix, clientv3.WithPrefix()); err != nil {
			s.log.Warn("writes are held until their limit", zap.Duration("limit", holdLimit), zap.Error(err))
		}
	}()
	held := firstAnswers(answers, number, others)
	if len(held) == 0 {
		return nil, fmt.Errorf("none of %d members said within %s that it holds its writes", len(others), heldLimit)
	}
	// This member has seen its own request, unless its watch is late.
	m.gate.close(holdLimit)
	defer m.gate.reopen()
	ending, cancelEnding := context.WithTimeout(ctx, heldLimit)
	defer cancelEnding()
	if err := m.gate.waitIdle(ending); err != nil {
		return nil, fmt.Errorf("writes of this member were under way for longer than %s: %w", heldLimit, err)
	}
	act(held)
	return held, nil
}

// firstAnswers are the members among the others that hold their writes, in the order of their answers. It returns when all do, or
// when the watch ends.
func firstAnswers(watch clientv3.WatchChan, number string, others map[string]types.ID) []types.ID {
	var held []types.ID
	for response := range watch {
		for _, event := range response.Events {
			id, isOther := others[strings.TrimPrefix(string(event.Kv.Key), heldPrefix)]
			if event.Type == clientv3.EventTypePut && string(event.Kv.Value) == number && isOther {
				held = append(held, id)
			}
		}
		if len(held) == len(others) {
			break
		}
	}
	return held
}
