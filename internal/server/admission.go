package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"

	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// Who sends a request is known before its body is read. Then it takes places, each of a
// pool of its side: one for the body and its bytes, one for the time in which it is served,
// one more if its answer is heavy. They are given back when the answer is made; from then
// on its bytes count, until the client has read them.

// pools are what the requests of one side share.
type pools struct {
	requests, arriving, waiting, streams, heavy *admit.Pool

	arrivingBytes, pendingBytes *admit.Pool
}

func newPools(l *Limits) *pools {
	device := int64(l.DeviceRequests)
	return &pools{
		requests:      admit.NewPool("requests-in-flight", admit.Size{All: int64(l.Requests), Device: device}),
		arriving:      admit.NewPool("requests-arriving", admit.Size{All: int64(l.Arriving), Device: device}),
		waiting:       admit.NewPool("requests-waiting", admit.Size{All: int64(l.Waiting)}),
		streams:       admit.NewPool("open-streams", admit.Size{All: int64(l.Streams), Device: int64(l.DeviceStreams)}),
		heavy:         admit.NewPool("heavy-requests", admit.Size{All: int64(l.Heavy), Share: int64(l.Heavy) / 2, Device: 2}),
		arrivingBytes: admit.NewPool("requests-arriving-bytes", admit.Size{All: l.ArrivingBytes, Device: l.DeviceBytes}),
		pendingBytes:  admit.NewPool("responses-pending-bytes", admit.Size{All: l.PendingBytes, Device: l.DeviceBytes}),
	}
}

// newOpenPools are those of requests that need no credential. Their bodies are so small
// that a connection costs more: they count once they are there, so that slow ones keep
// nobody from signing in.
func newOpenPools(l *Limits) *pools {
	p := newPools(l)
	p.requests = admit.NewPool("open-requests", admit.Size{All: int64(l.Open)})
	p.arriving, p.arrivingBytes = nil, nil
	return p
}

// visit is what one request holds.
type visit struct {
	s     *Server
	pools *pools
	who   admit.Holder
	safe  bool // its method changes nothing, so that it can be refused at its end

	place, heavy *admit.Place // while it is served
	body, bytes  *admit.Place // until it is over
	pending      *admit.Place // bytes of its answer that are not sent

	answered bool // a part of its answer was made
}

type visitKey struct{}

// visitOf is the visit of the request that a context is of.
func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// leave gives everything back.
func (v *visit) leave() {
	if v == nil {
		return
	}
	for _, place := range []*admit.Place{v.place, v.heavy, v.body, v.bytes, v.pending} {
		place.Release()
	}
}

// cost is what a request may cost the server.
type cost int

const (
	free   cost = iota // it takes no place: cheap, or counted elsewhere
	light              // served also above the memory limit: small answers, interventions
	normal             // what it starts takes memory
	heavy              // its answer takes memory; refused first where memory is short
)

// largeBody is how long a body is that makes a request as costly as one with a heavy answer.
const largeBody = 64 << 10

// admit lets a request in whose sender may do what it asks for: it takes its places, and
// reads the body, of most bytes.
func (v *visit) admit(w *recorder, r *http.Request, cost cost, most int64) error {
	w.visit = v
	if cost == free {
		return nil
	}
	large := cost == heavy || r.ContentLength < 0 || r.ContentLength > largeBody
	if cost > light && (v.s.memory.Over() || large && v.s.memory.Tight()) {
		return busy("memory")
	}
	err := v.receive(w, r, most)
	if err != nil {
		return err
	}
	if v.place, err = v.pools.requests.Take(v.who, 1); err != nil {
		return full(err)
	}
	if cost == heavy {
		return v.enterHeavy(r.Context())
	}
	return nil
}

// enterHeavy takes a place among requests with heavy answers, and waits for it a while. For
// the rest of an answer that has begun it waits as long as the client does: it cannot be
// refused any more.
func (v *visit) enterHeavy(ctx context.Context) (err error) {
	switch {
	case v.heavy != nil:
		return nil
	case v.answered:
		if v.heavy, err = v.pools.heavy.Wait(ctx, v.who, 1); err != nil {
			return ctx.Err()
		}
		return nil
	case v.s.memory.Tight():
		return busy("memory")
	}
	within, cancel := context.WithTimeout(ctx, v.s.limits.HeavyWait)
	defer cancel()
	place, err := v.pools.heavy.Wait(within, v.who, 1)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return full(err)
	}
	v.heavy = place
	return nil
}

// smallAnswer is what is told to everybody, also to a client that has much to read.
const smallAnswer = 16 << 10

// reserve counts the bytes of an answer that is made. The request is not in flight any
// more: the places that it held are free while the client reads. Where a client has too
// much that it does not read, a large answer is refused if the request changed nothing.
// Other requests are answered, and keep their place until they are.
func (v *visit) reserve(n int64) error {
	place, err := v.pools.pendingBytes.Take(v.who, n)
	if err != nil {
		if v.safe && n > smallAnswer {
			return full(err)
		}
		return nil
	}
	v.pending.Release()
	v.pending, v.answered = place, true
	v.place.Release()
	v.heavy.Release()
	v.heavy = nil // one for the rest of a long answer is another
	return nil
}

// full tells a client which pool is used up.
func full(err error) error {
	var e *admit.FullError
	if !errors.As(err, &e) {
		return err
	}
	p := busy(e.Limit)
	if e.Share {
		p.Detail = "this credential, device or address has as many requests as it may have at a time (limit " + e.Limit + ")"
	}
	return p
}

// holderOf is who a request with a token counts as; without tokens, its address.
func (s *Server) holderOf(who identity, r *http.Request) admit.Holder {
	if s.cfg.Tokens == nil {
		return addressOf(r)
	}
	return admit.Holder{Key: "token " + who.name}
}

// deviceHolder is who a request to the south counts as. A credential counts, never a
// header that anybody could send.
func (s *Server) deviceHolder(client string, r *http.Request) admit.Holder {
	if s.cfg.Client == nil {
		return addressOf(r)
	}
	if s.cfg.Tokens != nil {
		if who, err := s.cfg.Tokens.identify(r); err == nil && who.role != Device {
			return admit.Holder{Key: "token " + who.name}
		}
	}
	if client == "" {
		return addressOf(r)
	}
	return admit.Holder{Key: "client " + client, Device: true}
}

// addressOf is who a request counts as that bears no credential. Of IPv6 addresses the
// network counts, of which one machine has all.
func addressOf(r *http.Request) admit.Holder {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return admit.Holder{Key: "address local"} // a unix socket
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return admit.Holder{Key: "address " + host}
	}
	if addr = addr.Unmap(); addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64)
		addr = prefix.Addr()
	}
	return admit.Holder{Key: "address " + addr.String()}
}

// newVisit is the visit of a request that came by a side.
func (s *Server) newVisit(side wfx.Side, who admit.Holder, r *http.Request) *visit {
	p := s.north
	if side == wfx.South {
		p = s.south
	}
	return &visit{s: s, pools: p, who: who, safe: r.Method == http.MethodGet || r.Method == http.MethodHead}
}

// openVisit is that of a request that needs no credential.
func (s *Server) openVisit(r *http.Request) *visit {
	v := s.newVisit(wfx.North, addressOf(r), r)
	v.pools = s.open
	return v
}
