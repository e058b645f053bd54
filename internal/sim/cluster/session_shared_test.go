package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// What a store does that several nodes use.

// Join makes this session's process a node. Its heartbeats are the world's to send.
func (s *Session) Join(ctx context.Context, m store.Member) (func(context.Context) error, error) {
	if !store.Storable(m.Name + m.Address + m.Version) {
		return nil, fmt.Errorf("join: the name or address of the node: %w", store.ErrText)
	}
	s.joins++
	s.leases = leases{id: fmt.Sprintf("%s/%d", s.node, s.joins), member: m, nodes: 1, count: s.leases.count + 1}
	return func(ctx context.Context) error {
		return change(s, ctx, "leave", func() error {
			s.db.goodbye(s.leases.id)
			s.leases.renewed(s.link.local(), 0, [partCount]int64{}, 1, s.link.local())
			return nil
		})
	}, nil
}

// beat sends a heartbeat; lost: its answer does not come. Who was not heard of for longer than a
// lease only renews at first.
func (s *Session) beat(lost bool) {
	l := &s.leases
	if l.id == "" || l.member.Stuck != nil && l.member.Stuck() {
		return
	}
	sent := s.link.local()
	take := l.until.IsZero() || l.leased(sent)
	epochs, nodes := s.db.beat(l.id, l.member, l.surplus(), take)
	if !lost {
		l.renewed(sent, s.db.lease, epochs, nodes, sent)
	}
}

// Has reports whether an instance is this node's.
func (s *Session) Has(instance string) bool { return s.leases.held(partOf(instance)) }

// CallShard is the shard for calls of an instance.
func (s *Session) CallShard(instance string) int {
	p := partOf(instance)
	for i := range partCount {
		if n := (p + i) % partCount; s.leases.held(n) {
			return n + 1
		}
	}
	return p + 1
}

// Chunks reports that all nodes can read chunks.
func (s *Session) Chunks() bool { return true }

// HasShard reports whether the calls of a shard are this node's.
func (s *Session) HasShard(part int) bool { return s.leases.held(part - 1) }

// Leased reports whether this node may begin calls.
func (s *Session) Leased() bool { return s.leases.leased(s.link.local()) }

// ShardChanges counts changes of what this node has.
func (s *Session) ShardChanges() int64 { return s.leases.count }

// Glance knows nothing: every list is read, each at a moment of its own.
func (s *Session) Glance(context.Context, core.Time) (store.Glance, error) {
	return store.Anything, nil
}

// Handed lists the calls that became this node's.
func (s *Session) Handed(ctx context.Context) ([]store.Call, error) {
	if s.leases.id == "" || !s.Leased() {
		return nil, nil
	}
	epochs, doubts := s.leases.epochs, s.doubts
	all := doubts != s.solved
	out, err := write(s, ctx, "handed", func() (out []store.Call, err error) {
		list, err := s.calls(ctx, "")
		for _, c := range list {
			if e := epochs[c.Shard-1]; e > s.db.epochs[idOf(&c)] || all && e != 0 {
				s.db.epochs[idOf(&c)] = e
				out = append(out, c)
			}
		}
		if len(out) == 0 {
			s.db.writes-- // nothing is written
		}
		return out, err
	})
	if err == nil {
		s.solved = doubts // others may have come meanwhile
	} else {
		s.doubts++
	}
	return out, err
}

// HandOver has the calls of an instance handed anew.
func (s *Session) HandOver(ctx context.Context, instance string) error {
	return change(s, ctx, "hand over "+instance, func() error {
		for id := range s.db.epochs {
			if id.instance == instance {
				s.db.epochs[id] = 0
			}
		}
		return nil
	})
}

// Park notes that a call waits for a person.
func (s *Session) Park(ctx context.Context, instance string, t core.Ticket) error {
	return change(s, ctx, "park "+instance, func() error {
		in, err := s.db.Store.Instance(ctx, instance)
		if err == nil {
			s.db.parked[callID{instance, in.Created, t}] = true
		}
		return err
	})
}

// Deployments counts changes of the definitions.
func (s *Session) Deployments(ctx context.Context) (int64, error) {
	return read(s, ctx, "deployments", func() (int64, error) { return s.db.deployments, nil })
}

// Since lists the instances that changed.
func (s *Session) Since(ctx context.Context, after int64, limit int) (ids []string, next int64, err error) {
	feed, err := s.Feed(ctx, after, limit)
	for _, item := range feed.Items {
		ids = append(ids, item.Instance)
	}
	return ids, feed.Next, err
}

// Hints never gets any: nobody relies on them.
func (s *Session) Hints() <-chan bool { return nil }

// Now is what the node knows of the database's clock.
func (s *Session) Now() time.Time { return s.link.now() }

// Nodes lists those that were heard of lately.
func (s *Session) Nodes(ctx context.Context) ([]store.Node, error) {
	return read(s, ctx, "nodes", func() (out []store.Node, err error) {
		for _, m := range s.db.members {
			if !m.until.Before(s.db.now()) {
				out = append(out, m.Node)
			}
		}
		slices.SortFunc(out, func(a, b store.Node) int { return strings.Compare(a.Name, b.Name) })
		return out, nil
	})
}
