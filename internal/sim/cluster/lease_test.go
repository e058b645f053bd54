package cluster

import (
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// part is a part of the instances: one node has it, under an epoch that only grows.
type part struct {
	owner string // the incarnation; "": nobody
	epoch int64
}

// member is a node as the database knows it. What has it as its owner, nobody took since.
type member struct {
	store.Node
	until time.Time
}

// beat lets a node be heard of: it keeps its parts, gives some back, and takes free ones up to
// its fair share.
func (db *Database) beat(id string, m store.Member, back []int, take bool) (epochs [partCount]int64, nodes int) {
	now := db.now()
	me := db.members[id]
	if me == nil {
		me = &member{Node: store.Node{ID: id, Name: m.Name, Address: m.Address, Version: m.Version, Since: now, Of: partCount}}
		db.members[id] = me
	}
	me.Seen, me.until = now, now.Add(db.lease)
	for _, p := range back {
		if db.parts[p].owner == id {
			db.parts[p].owner = ""
		}
	}
	for _, o := range db.members {
		if !o.until.Before(now) {
			nodes++
		}
	}
	have := 0
	for _, p := range db.parts {
		if p.owner == id {
			have++
		}
	}
	share := (partCount + nodes - 1) / nodes
	for i := range db.parts {
		p := &db.parts[i]
		if p.owner == id {
			continue
		}
		owner := db.members[p.owner]
		if free := p.owner == "" || owner == nil || owner.until.Before(now); take && free && have < share {
			p.owner = id
			p.epoch++
			have++
		}
	}
	for i, p := range db.parts {
		if p.owner == id {
			epochs[i] = p.epoch
		}
	}
	me.Shards = have
	return epochs, nodes
}

// goodbye forgets a node, which gives everything back.
func (db *Database) goodbye(id string) {
	for i := range db.parts {
		if db.parts[i].owner == id {
			db.parts[i].owner = ""
		}
	}
	delete(db.members, id)
}

// leases are the parts that a node believes it has.
type leases struct {
	id     string // "": it has not joined
	member store.Member
	epochs [partCount]int64
	until  time.Time
	nodes  int
	count  int64
}

// held reports whether a part is this node's, as far as it knows.
func (l *leases) held(p int) bool { return l.id == "" || l.epochs[p] != 0 }

// leased reports whether time is left.
func (l *leases) leased(now time.Time) bool { return l.id == "" || now.Before(l.until) }

// surplus lists parts that are more than a fair share. None goes while a call of it is in flight.
func (l *leases) surplus() (back []int) {
	var busy []int
	if l.member.Calls != nil {
		busy = l.member.Calls()
	}
	have := 0
	for _, e := range l.epochs {
		if e != 0 {
			have++
		}
	}
	for p := partCount - 1; p >= 0 && have > (partCount+max(l.nodes, 1)-1)/max(l.nodes, 1); p-- {
		if l.epochs[p] != 0 && !slices.Contains(busy, p+1) {
			back = append(back, p)
			have--
		}
	}
	return back
}

// renewed takes the answer to a heartbeat that was sent at an instant.
func (l *leases) renewed(sent time.Time, lease time.Duration, epochs [partCount]int64, nodes int, now time.Time) {
	if epochs != l.epochs || !l.leased(now) {
		l.count++
	}
	l.epochs, l.until, l.nodes = epochs, sent.Add(lease), nodes
}

// keep is for a node that was heard of all the time until an instant, if it has not lost its
// parts before.
func (s *Session) keep(to time.Time) {
	l, m, now := &s.leases, s.db.members[s.leases.id], s.db.now()
	if m == nil || !now.After(m.until) && !to.After(l.until) {
		return
	}
	for i, p := range s.db.parts {
		if (p.owner == l.id) != (l.epochs[i] != 0) || p.owner == l.id && p.epoch != l.epochs[i] {
			return // it must learn that by a heartbeat
		}
	}
	m.Seen, m.until, l.until = now, now.Add(s.db.lease), to.Add(s.db.lease)
}
