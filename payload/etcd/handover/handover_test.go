package handover

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// member is a real one, in this process.
type member struct {
	Member
	etcd   *embed.Etcd
	remote *clientv3.Client // as an API server has it
}

func freeURL(t *testing.T) url.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return url.URL{Scheme: "http", Host: listener.Addr().String()}
}

// startMembers are three; without holding, they are as upstream's.
func startMembers(t *testing.T, areHolding bool) []*member {
	t.Helper()
	const count = 3
	var initial []string
	configs := make([]*embed.Config, count)
	members := make([]*member, count)
	for i := range configs {
		config := embed.NewConfig()
		peer, client := freeURL(t), freeURL(t)
		config.Name, config.Dir, config.LogLevel, config.LogOutputs = fmt.Sprintf("m%d", i), t.TempDir(), "error", []string{"stderr"}
		config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
		members[i] = &member{}
		config.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.ChainUnaryInterceptor(members[i].Interceptor)}
		initial = append(initial, config.Name+"="+peer.String())
		configs[i] = config
	}
	for i, config := range configs {
		config.InitialCluster = strings.Join(initial, ",")
		etcd, err := embed.StartEtcd(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(etcd.Close)
		members[i].etcd = etcd
	}
	for i, each := range members {
		<-each.etcd.Server.ReadyNotify()
		remote, err := clientv3.New(clientv3.Config{Endpoints: []string{configs[i].ListenClientUrls[0].String()}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { remote.Close() })
		each.remote = remote
		if areHolding {
			go each.HoldWrites(each.etcd.Server, zap.NewNop())
			for each.started.Load() == nil {
				time.Sleep(time.Millisecond)
			}
		}
	}
	return members
}

func leaderOf(members []*member) *member {
	for {
		for _, each := range members {
			if each.etcd.Server.Leader() == each.etcd.Server.MemberID() {
				return each
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// writesLost is how many writes of clients of all members fail while the lead moves that many times.
func writesLost(t *testing.T, members []*member, moves int, move func(leader *member) error) (lost, written int64) {
	t.Helper()
	writing, stop := context.WithCancel(context.Background())
	var writers sync.WaitGroup
	var failures, successes atomic.Int64
	for i := range 4 * len(members) {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for n := 0; writing.Err() == nil; n++ {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				if _, err := members[i%len(members)].remote.Put(ctx, fmt.Sprintf("test/%d", i), fmt.Sprint(n)); err != nil {
					failures.Add(1)
				} else {
					successes.Add(1)
				}
				cancel()
			}
		}()
	}
	for range moves {
		time.Sleep(100 * time.Millisecond)
		if err := move(leaderOf(members)); err != nil {
			t.Error(err)
		}
	}
	stop()
	writers.Wait()
	return failures.Load(), successes.Load()
}

func give(leader *member) error { return leader.GiveLead(context.Background()) }

// moveTo is a move that a client of the leader asks for, to any of the others.
func moveTo(members []*member) func(leader *member) error {
	return func(leader *member) error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		for _, each := range members {
			if each != leader {
				_, err := leader.remote.MoveLeader(ctx, uint64(each.etcd.Server.MemberID()))
				return err
			}
		}
		return nil
	}
}

func TestWritesWhileTheLeadMoves(t *testing.T) {
	holding, others := startMembers(t, true), startMembers(t, false)
	for _, each := range []struct {
		name    string
		members []*member
		move    func(leader *member) error
		isLossy bool
	}{
		{"the leader ends", holding, give, false},
		{"a client asks for it", holding, moveTo(holding), false},
		// Or else nothing of this package would be needed.
		{"as etcd does it", others, moveTo(others), true},
	} {
		t.Run(each.name, func(t *testing.T) {
			const moves = 12
			lost, written := writesLost(t, each.members, moves, each.move)
			t.Logf("%d writes lost, %d written in %d moves", lost, written, moves)
			if (lost != 0) != each.isLossy || written < moves {
				t.Errorf("%d writes lost, %d written", lost, written)
			}
		})
	}
}

func TestTheLeadMoves(t *testing.T) {
	members := startMembers(t, true)
	before := leaderOf(members)
	for _, each := range members {
		if each != before {
			if err := give(each); err != nil || leaderOf(members) != before {
				t.Errorf("a member that does not lead has changed something: %v", err)
			}
		}
	}
	if err := give(before); err != nil {
		t.Fatal(err)
	}
	if leaderOf(members) == before {
		t.Error("the lead has not moved")
	}
	kept, err := before.remote.Get(context.Background(), prefix, clientv3.WithPrefix())
	if err != nil || len(kept.Kvs) != 0 {
		t.Errorf("keys are left: %v %v", kept, err)
	}
}

func TestMembersThatDoNotAnswer(t *testing.T) {
	members := startMembers(t, false)
	before := leaderOf(members)
	before.started.Store(&started{server: before.etcd.Server, client: v3client.New(before.etcd.Server), log: zap.NewNop()})
	if err := give(before); err == nil || !strings.Contains(err.Error(), "none of 2 members said within 1s") {
		t.Errorf("unexpected: %v", err)
	}
	if leaderOf(members) != before {
		t.Error("the lead has moved")
	}
}

func TestAGateOpensByItself(t *testing.T) {
	gate := &gate{}
	gate.close(50 * time.Millisecond)
	start := time.Now()
	handle := func(context.Context, any) (any, error) { return nil, nil }
	if _, err := gate.pass(context.Background(), &pb.RangeRequest{}, handle); err != nil || time.Since(start) > 40*time.Millisecond {
		t.Errorf("a read has waited: %v", err)
	}
	if _, err := gate.pass(context.Background(), &pb.PutRequest{}, handle); err != nil || time.Since(start) < 50*time.Millisecond {
		t.Errorf("a write has not waited: %v", err)
	}
	if err := gate.waitIdle(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAClosedGate(t *testing.T) {
	put := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{}}}
	get := &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{}}}
	nested := func(each *pb.RequestOp) *pb.RequestOp {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: &pb.TxnRequest{Success: []*pb.RequestOp{each}}}}
	}
	gate := &gate{}
	gate.close(time.Minute)
	for _, each := range []struct {
		request any
		isHeld  bool
	}{
		{&pb.PutRequest{}, true}, {&pb.DeleteRangeRequest{}, true}, {&pb.CompactionRequest{}, true}, {&pb.LeaseGrantRequest{}, true},
		{&pb.LeaseRevokeRequest{}, true}, {&pb.TxnRequest{Success: []*pb.RequestOp{put}}, true},
		{&pb.TxnRequest{Failure: []*pb.RequestOp{get, put}}, true}, {&pb.TxnRequest{Success: []*pb.RequestOp{nested(put)}}, true},
		{&pb.RangeRequest{}, false}, {&pb.TxnRequest{Success: []*pb.RequestOp{get}}, false},
		{&pb.TxnRequest{Success: []*pb.RequestOp{nested(get)}}, false}, {&pb.StatusRequest{}, false}, {&pb.MemberAddRequest{}, false},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		_, err := gate.pass(ctx, each.request, func(context.Context, any) (any, error) { return nil, nil })
		cancel()
		if (err != nil) != each.isHeld {
			t.Errorf("%T %v: %v", each.request, each.request, err)
		}
	}
	gate.reopen()
	gate.reopen()
	if _, err := gate.pass(context.Background(), &pb.PutRequest{}, func(context.Context, any) (any, error) {
		waiting, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		return nil, map[bool]error{true: nil, false: fmt.Errorf("idle while a write is under way")}[gate.waitIdle(waiting) != nil]
	}); err != nil {
		t.Error(err)
	}
}
