package grpc

import (
	"container/list"
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// Times of connections. Servers close connections that ping more often than every five minutes.
const (
	connectTime   = 10 * time.Second
	keepAliveTime = 6 * time.Minute
	keepAliveWait = 20 * time.Second
)

// windowBytes is how much of a stream may be on its way before it is read.
const windowBytes = 1 << 20

// pool keeps connections that were used lately. One that is in use is never closed.
type pool struct {
	client *effecthttp.Client
	tls    *tls.Config
	dial   func(ctx context.Context, network, address string, guarded bool) (net.Conn, error)

	mu   sync.Mutex
	kept *recent[target, *connection]
}

// connection is one to a target, for as many calls as there are.
type connection struct {
	*grpc.ClientConn
	target target

	users int  // of the pool: calls that use it
	gone  bool // of the pool: it is closed when nobody uses it

	mu     sync.Mutex
	failed error // the last attempt to connect; nil: it succeeded
}

func newPool(client *effecthttp.Client) *pool {
	p := &pool{client: client, tls: &tls.Config{MinVersion: tls.VersionTLS12}, dial: client.Dial}
	p.kept = newRecent[target](maxConnections, p.drop)
	return p
}

// get returns a connection that is in use until put.
func (p *pool) get(t target) (*connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.kept.get(t)
	if !ok {
		c = &connection{target: t}
		var err error
		if c.ClientConn, err = grpc.NewClient("passthrough:///"+t.address, p.options(c)...); err != nil {
			return nil, err
		}
		c.users++ // before it could make room for itself
		p.kept.put(t, c)
		return c, nil
	}
	c.users++
	return c, nil
}

// put gives a connection back. One that could not be made is not kept: the next call begins anew, and nothing is
// dialled for nobody.
func (p *pool) put(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.users--
	if state := c.GetState(); state == connectivity.TransientFailure || state == connectivity.Connecting {
		if kept, ok := p.kept.get(c.target); ok && kept == c {
			p.kept.remove(c.target)
		}
	}
	p.close(c)
}

// drop is what becomes of a connection that is not kept. p.mu is held.
func (p *pool) drop(c *connection) {
	c.gone = true
	p.close(c)
}

func (p *pool) close(c *connection) {
	if c.gone && c.users == 0 {
		_ = c.Close() // there is nothing to be done about it
	}
}

// empty closes what nobody uses, and the rest when it is given back.
func (p *pool) empty() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.clear()
}

func (p *pool) options(c *connection) []grpc.DialOption {
	limits := p.client.Limits()
	security := insecure.NewCredentials()
	if !c.target.plain {
		security = credentials.NewTLS(p.tls)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(&noted{security, c}),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return p.connect(ctx, c, address) }),
		grpc.WithNoProxy(), // the environment must not route around the policy
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithDisableHealthCheck(),
		grpc.WithUserAgent(p.client.Agent()),
		grpc.WithMaxHeaderListSize(uint32(min(limits.HeaderBytes, math.MaxUint32))),
		grpc.WithStaticStreamWindowSize(windowBytes),
		grpc.WithStaticConnWindowSize(4 * windowBytes),
		grpc.WithIdleTimeout(idleTime),
		// A connection that failed is not kept, so nothing waits for its next attempt. The delay is also how long one
		// attempt may take.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: connectTime, Multiplier: 1, MaxDelay: connectTime},
			MinConnectTimeout: connectTime,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAliveTime, Timeout: keepAliveWait}),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodec(raw{}),
			grpc.MaxCallRecvMsgSize(int(min(limits.ResponseBytes, math.MaxInt32))),
		),
	}
}

// connect dials under the policy. What is called localhost must be this machine: it is trusted without TLS.
func (p *pool) connect(ctx context.Context, c *connection, address string) (net.Conn, error) {
	conn, err := p.dial(ctx, "tcp", address, c.target.guarded)
	if err == nil && c.target.plain && c.target.local {
		if at, ok := conn.RemoteAddr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
			_ = conn.Close()
			err = &effecthttp.Error{Code: effecthttp.CodeRefused, Msg: fmt.Sprintf("%s leads to %s, which is not this machine; use TLS", address, at.IP)}
		}
	}
	c.note(err)
	return conn, err
}

// note keeps why there is no connection: the library tells it in words only.
func (c *connection) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

// cause is why there is no connection; nil: there is one, or there was.
func (c *connection) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// noted are credentials whose failures are noted.
type noted struct {
	credentials.TransportCredentials
	c *connection
}

func (n *noted) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	out, info, err := n.TransportCredentials.ClientHandshake(ctx, authority, conn)
	n.c.note(err)
	return out, info, err
}

func (n *noted) Clone() credentials.TransportCredentials {
	return &noted{n.TransportCredentials.Clone(), n.c}
}

// raw leaves messages to the caller, who weighs them first.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = data
	return nil
}

// recent keeps what was used last.
type recent[K comparable, V any] struct {
	size    int
	byKey   map[K]*list.Element // of item
	used    *list.List          // last used first
	dropped func(V)
}

type item[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](size int, dropped func(V)) *recent[K, V] {
	return &recent[K, V]{size, map[K]*list.Element{}, list.New(), dropped}
}

func (r *recent[K, V]) get(key K) (value V, ok bool) {
	e := r.byKey[key]
	if e == nil {
		return value, false
	}
	r.used.MoveToFront(e)
	return e.Value.(item[K, V]).value, true
}

// put keeps a value for a key that has none.
func (r *recent[K, V]) put(key K, value V) {
	r.byKey[key] = r.used.PushFront(item[K, V]{key, value})
	for r.used.Len() > r.size {
		r.remove(r.used.Back().Value.(item[K, V]).key)
	}
}

func (r *recent[K, V]) remove(key K) {
	last := r.used.Remove(r.byKey[key]).(item[K, V])
	delete(r.byKey, key)
	if r.dropped != nil {
		r.dropped(last.value)
	}
}

func (r *recent[K, V]) clear() {
	for r.used.Len() > 0 {
		r.remove(r.used.Back().Value.(item[K, V]).key)
	}
}
