package nats

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/event"
)

// TestMain lets nothing fail because a machine is busy. A request that is lost while a
// broker restarts lasts as long.
func TestMain(m *testing.M) {
	dialTime, requestTime = 5*time.Minute, 30*time.Second
	m.Run()
}

// broker is a real server with JetStream in a directory of the test, every write synced.
type broker struct {
	t       *testing.T
	options server.Options
	server  *server.Server
}

func newBroker(t *testing.T, change func(*server.Options)) *broker {
	t.Helper()
	b := &broker{t: t, options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: t.TempDir(), SyncAlways: true,
	}}
	if change != nil {
		change(&b.options)
	}
	b.start()
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *broker) start() {
	b.t.Helper()
	options := b.options
	s, err := server.NewServer(&options)
	if err != nil {
		b.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		b.t.Fatal("the server does not start")
	}
	b.server = s
	b.options.Port = s.Addr().(*net.TCPAddr).Port // the same one after a restart
}

func (b *broker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

func (b *broker) address() string { return fmt.Sprintf("127.0.0.1:%d", b.options.Port) }

// js is a connection of the test's own.
func (b *broker) js(options ...nats.Option) jetstream.JetStream {
	b.t.Helper()
	conn, err := nats.Connect("nats://"+b.address(), append(options, nats.Timeout(5*time.Minute), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(5*time.Minute))
	if err != nil {
		b.t.Fatal(err)
	}
	return js
}

// stream makes the stream IN of in.> (or another), and returns a connection to use it.
func (b *broker) stream(name string, options ...nats.Option) jetstream.JetStream {
	b.t.Helper()
	js := b.js(options...)
	_, err := js.CreateStream(b.t.Context(), jetstream.StreamConfig{
		Name: name, Subjects: []string{strings.ToLower(name) + ".>"}, Storage: jetstream.FileStorage,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return js
}

// source is one that fails fast.
func (b *broker) source(address, parameters string, log *slog.Logger) *Source {
	b.t.Helper()
	set, err := ParseSource("nats://" + address + "/IN" + parameters)
	if err != nil {
		b.t.Fatal(err)
	}
	s := NewSource(set, log)
	s.ackWait = time.Second
	s.backOff = func(int) time.Duration { return 10 * time.Millisecond }
	return s
}

// run runs a source until stop, which waits for its end.
func run(t *testing.T, s *Source, ingest event.Ingest) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, ingest) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("the source ends with %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// publish sends a text to a subject of a stream, and waits until it is stored.
func publish(t *testing.T, js jetstream.JetStream, subject, text string, header ...string) {
	t.Helper()
	m := nats.NewMsg(subject)
	m.Data = []byte(text)
	for i := 0; i < len(header); i += 2 {
		m.Header[header[i]] = append(m.Header[header[i]], header[i+1])
	}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func text(id string) string {
	return fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"shop","type":"made","data":{"n":%q}}`, id, id)
}

// until waits for a condition that only others can tell.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("never: %s", what)
		}
	}
}

// settled waits until a consumer has the acknowledgement of the last message of the stream,
// and of all before.
func settled(t *testing.T, js jetstream.JetStream, durable string) *jetstream.ConsumerInfo {
	t.Helper()
	var info *jetstream.ConsumerInfo
	until(t, "all messages are acknowledged", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a request may be lost while the broker restarts
		defer cancel()
		s, err := js.Stream(ctx, "IN")
		if err != nil {
			return false
		}
		c, err := s.Consumer(ctx, durable)
		if err != nil {
			return false
		}
		info = c.CachedInfo()
		return info.NumAckPending == 0 && info.AckFloor.Stream == s.CachedInfo().State.LastSeq
	})
	return info
}

// seen remembers the ids of events in the order in which they came.
type seen struct {
	mu  sync.Mutex
	ids []string
}

func (s *seen) ingest(_ context.Context, e event.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, e.ID)
	return nil
}

func (s *seen) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.ids...)
}

// proxy is a wire to the broker that can be cut.
type proxy struct {
	listener net.Listener
	mu       sync.Mutex
	dead     bool
	deaf     bool // nothing comes back any more
	wires    []net.Conn
}

func (b *broker) proxy() *proxy {
	b.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	p := &proxy{listener: l}
	b.t.Cleanup(p.cut)
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", b.address())
			if err != nil {
				_ = near.Close()
				continue
			}
			p.mu.Lock()
			p.wires = append(p.wires, near, far)
			if p.dead {
				_, _ = near.Close(), far.Close()
			}
			p.mu.Unlock()
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
			go func() { p.back(near, far); _ = near.Close() }()
		}
	}()
	return p
}

// back carries answers until the wire is deaf.
func (p *proxy) back(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		deaf := p.deaf
		p.mu.Unlock()
		if err != nil {
			return
		}
		if !deaf {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// cut ends all connections and takes no more.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	_ = p.listener.Close()
	for _, w := range p.wires {
		_ = w.Close()
	}
}

// deafen lets requests through, and no answers.
func (p *proxy) deafen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
}

// logged is a log to read.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(text)
}

func (l *logged) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), text)
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
