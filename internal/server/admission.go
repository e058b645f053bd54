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

// The sender of a request is identified before its body is read. Then the request takes places in the
// pools of its side: one for the body and its bytes, one while it is served, and one more if its
// response is heavy. They are released when the response is ready; from then on the bytes of the
// response count, until the client has read them.

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

// newOpenPools are the pools of requests that need no credential. Their bodies are so small
// that a connection costs more: they count once they have arrived, so that slow senders do not keep
// others from signing in.
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
	safe  bool // the method changes nothing, so the request can be refused even at its end

	allowed func() bool // whether its credential is still valid, for requests that last; nil: it needs none

	starts string // the definition of which it starts an instance; "": it does not

	place, heavy *admit.Place // while the request is served
	body, bytes  *admit.Place // until it ends
	pending      *admit.Place // unsent bytes of the response

	answered bool // a part of the response was written

	arrived arrived // the body, if there is one

	room [5]admit.Place // for those that most requests take
	used int            // of room
}

// take takes a place of a pool.
func (v *visit) take(p *admit.Pool, n int64) (*admit.Place, error) {
	if v.used == len(v.room) {
		return p.Take(v.who, n)
	}
	place := &v.room[v.used]
	if err := p.TakeInto(place, v.who, n); err != nil {
		return nil, err
	}
	v.used++
	return place, nil
}

type visitKey struct{}

// visitOf returns the visit of the request that a context belongs to.
func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// leave releases everything.
func (v *visit) leave() {
	if v == nil {
		return
	}
	for _, place := range [...]*admit.Place{v.place, v.heavy, v.body, v.bytes, v.pending} {
		place.Release()
	}
}

// cost is what a request may cost the server.
type cost int

const (
	free   cost = iota // takes no place: cheap, or counted elsewhere
	light              // served even above the memory limit: small responses, interventions
	normal             // what it starts takes memory
	heavy              // its response takes memory; refused first when memory is short
)

// largeBody is the length from which a body makes a request as costly as a heavy response.
const largeBody = 64 << 10

// admit takes the places of an authorized request, and reads its body, of most bytes.
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
	if v.place, err = v.take(v.pools.requests, 1); err != nil {
		return full(err)
	}
	if cost == heavy {
		return v.enterHeavy(r.Context())
	}
	return nil
}

// enterHeavy takes a place among requests with heavy responses, and waits for it a while. For the rest
// of a response that has begun it waits as long as the client does: it can no longer be refused.
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

// smallAnswer is the size up to which a response is sent even to a client that has much to read.
const smallAnswer = 16 << 10

// reserve counts the bytes of a finished response. The request is no longer in flight: its places are
// free while the client reads. If a client has too much that it does not read, a large response is
// refused if the request changed nothing. Other requests are answered, and keep their places until then.
func (v *visit) reserve(n int64) error {
	place, err := v.take(v.pools.pendingBytes, n)
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
	v.heavy = nil // the rest of a long response takes a new one
	return nil
}

// full is the problem of a pool that has no room.
func full(err error) error {
	var e *admit.FullError
	if !errors.As(err, &e) {
		return err
	}
	p := busy(e.Limit)
	if e.Share {
		p.Detail = "this credential, device or address has reached its share of the requests (limit " + e.Limit + ")"
	}
	return p
}

// holderOf is the holder that a request with a token counts for; without tokens, its address.
func (s *Server) holderOf(who identity, r *http.Request) admit.Holder {
	if s.cfg.Tokens == nil {
		return addressOf(r)
	}
	return admit.Holder{Key: "token " + who.name}
}

// deviceHolder is the holder that a request to the south counts for. A credential counts, never a header
// that anyone could send.
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

// addressOf is the holder of a request without a credential. IPv6 addresses count by network (/64), since
// one machine has all of its addresses.
func addressOf(r *http.Request) admit.Holder {
	if known, ok := r.Context().Value(addressKey{}).(admit.Holder); ok {
		return known
	}
	return addressHolder(r.RemoteAddr)
}

// addressKey is what a connection has its address under, as a holder: it is the same for all of its requests.
type addressKey struct{}

func withAddress(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, addressKey{}, addressHolder(c.RemoteAddr().String()))
}

func addressHolder(remote string) admit.Holder {
	host, _, err := net.SplitHostPort(remote)
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

// newVisit is the visit of a request to one side.
func (s *Server) newVisit(side wfx.Side, who admit.Holder, r *http.Request) visit {
	p := s.north
	if side == wfx.South {
		p = s.south
	}
	return visit{s: s, pools: p, who: who, safe: r.Method == http.MethodGet || r.Method == http.MethodHead}
}

// openVisit is the visit of a request that needs no credential.
func (s *Server) openVisit(r *http.Request) visit {
	v := s.newVisit(wfx.North, addressOf(r), r)
	v.pools = s.open
	return v
}
