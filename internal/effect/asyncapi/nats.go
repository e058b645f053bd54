package asyncapi

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// maxReconnects is how often a lost connection is made again before the call fails ("subscription-reconnects").
const maxReconnects = 5

// broker is a connection to a NATS server under the outbound policy.
type broker struct {
	*nats.Conn
	js jetstream.JetStream
}

// dialer connects for the library, and remembers why it could not: the library says less.
type dialer struct {
	client  *effecthttp.Client
	guarded bool
	tls     *tls.Config

	mu   sync.Mutex
	ctx  context.Context // while the first connection is made
	stop func() bool     // that the end of ctx closes the connection
	last *guard
	err  error
}

// Dial implements [nats.CustomDialer].
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	ctx := d.ctx
	d.mu.Unlock()
	dialling, cancel := context.WithTimeout(ctx, d.client.Limits().Timeout)
	defer cancel()
	conn, err := d.client.Dial(dialling, network, address, d.guarded)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err = err; err != nil {
		return nil, err
	}
	limits := d.client.Limits()
	host, _, _ := net.SplitHostPort(address) // or it could not have been dialled
	d.last = &guard{Conn: conn, host: host, most: limits.ResponseBytes, ahead: limits.HeaderBytes}
	d.stop = context.AfterFunc(ctx, func() { conn.Close() })
	return d.last, nil
}

// SkipTLSHandshake is what the library asks once it knows that a new connection must be encrypted, and has written
// nothing: the guard does that.
func (d *dialer) SkipTLSHandshake() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last.encrypt(d.tls)
	return true
}

// why is what the library does not say of an error.
func (d *dialer) why(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.err != nil:
		return d.err
	case d.last != nil && d.last.bad.Load() != nil:
		return d.last.bad.Load()
	}
	return err
}

// connect connects to the server of a target. reconnects is how often a lost connection is made again.
func (i *Invoker) connect(ctx context.Context, t target, reconnects int) (broker, *dialer, error) {
	limits := i.client.Limits()
	connecting, cancel := context.WithTimeout(ctx, limits.Timeout)
	defer cancel()
	d := &dialer{client: i.client, guarded: t.guarded, tls: i.tls, ctx: connecting}
	options := []nats.Option{
		nats.Name("lockstep"), nats.Timeout(limits.Timeout), nats.SetCustomDialer(d), nats.SkipHostLookup(), nats.NoCallbacksAfterClientClose(),
		nats.IgnoreDiscoveredServers(), // data of the server does not choose where credentials go
		nats.MaxReconnects(reconnects), nats.ReconnectWait(i.pause), nats.ReconnectBufSize(-1), nats.PingInterval(20 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the library would print them
	}
	if t.base.Scheme == "tls" || t.server.secure {
		options = append(options, nats.Secure())
	}
	if t.auth != nil {
		credentials, err := i.credentials(connecting, t)
		if err != nil {
			return broker{}, d, err
		}
		options = append(options, credentials)
	}
	address := "nats://" + t.base.Host
	if t.base.Port() == "" {
		address += ":4222"
	}
	conn, err := nats.Connect(address, options...)
	if err != nil {
		if connecting.Err() != nil { // not that the connection was closed for it
			return broker{}, d, i.explain(ctx, connecting.Err())
		}
		return broker{}, d, i.explain(ctx, d.why(err))
	}
	d.mu.Lock()
	d.stop()
	d.ctx = context.Background() // from now on a connection ends when it is closed
	d.mu.Unlock()
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return broker{}, d, err
	}
	return broker{conn, js}, d, nil
}

// credentials are those of an authentication: basic is a user and a password, all others are tokens.
func (i *Invoker) credentials(ctx context.Context, t target) (nats.Option, error) {
	scheme, parameter, err := i.client.Credentials(ctx, t.auth, t.guarded)
	switch {
	case err != nil:
		return nil, err
	case scheme == "Basic":
		text, err := base64.StdEncoding.DecodeString(parameter)
		if err != nil {
			return nil, errors.New("the credentials of basic cannot be read")
		}
		user, password, _ := strings.Cut(string(text), ":")
		return nats.UserInfo(user, password), nil
	case scheme == "Bearer":
		return nats.Token(parameter), nil
	}
	return nil, &auth.Error{Name: effect.Authentication, Msg: fmt.Sprintf("NATS has no authentication %s; use basic or bearer", strings.ToLower(scheme))}
}

// explain makes an error of NATS one that may be told.
func (i *Invoker) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return &auth.Error{Name: effect.Authentication, Msg: "the server refuses the credentials: " + err.Error()}
	case errors.Is(err, nats.ErrTimeout):
		err = context.DeadlineExceeded
	}
	return i.client.Explain(ctx, err, i.client.Limits().Timeout)
}

// stream is the name of the JetStream stream that captures a subject; "": none does.
func (b broker) stream(ctx context.Context, subject string) (string, error) {
	name, err := b.js.StreamNameBySubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return "", nil
	}
	return name, err
}

// subject is the subject of a target for a message. A subscription hears every value of a parameter without one.
func (t *target) subject(msg expr.Value, way direction) (string, error) {
	var any *string
	if way == receives {
		any = new("*")
	}
	subject, err := t.address(msg, func(value string) (string, error) {
		if value == "" || strings.ContainsAny(value, ".*> \t\r\n") {
			return "", fmt.Errorf("%q cannot be a part of a subject", value)
		}
		return value, nil
	}, any)
	if err == nil && (subject == "" || strings.ContainsAny(subject, " \t\r\n") || way == sends && strings.ContainsAny(subject, "*>")) {
		return "", fmt.Errorf("%q is not a subject of NATS", subject)
	}
	return subject, err
}

// publishNATS sends a message, and waits until the server has it; where a stream captures the subject, until
// that has stored it.
func (i *Invoker) publishNATS(ctx context.Context, c effect.Call, t target, msg expr.Value) error {
	ctx, cancel := context.WithTimeout(ctx, i.client.Limits().Timeout)
	defer cancel()
	subject, err := t.subject(msg, sends)
	if err != nil {
		return err
	}
	out := nats.NewMsg(subject)
	if out.Data, _, err = t.encode(msg); err != nil {
		return err
	}
	given, _ := msg.Get("headers")
	headers, err := effecthttp.ReadHeaders(given)
	if err != nil {
		return err
	}
	for _, m := range given.Members() { // NATS keeps names as they are written
		out.Header[m.Key] = headers.Values(m.Key)
	}
	if out.Header.Get(nats.MsgIdHdr) == "" {
		out.Header.Set(nats.MsgIdHdr, c.Key)
	}
	if t := effect.Traceparent(ctx); t != "" && headers.Get("traceparent") == "" {
		out.Header["traceparent"] = []string{t} // the usual spelling: NATS tells names by case
		if state := effect.Tracestate(ctx); state != "" && headers.Get("tracestate") == "" {
			out.Header["tracestate"] = []string{state}
		}
	}
	b, d, err := i.connect(ctx, t, 0)
	if err != nil {
		return err
	}
	defer b.Close()
	stream, err := b.stream(ctx, subject)
	if err == nil && stream != "" {
		_, err = b.js.PublishMsg(ctx, out)
	} else if err == nil {
		if err = b.PublishMsg(out); err == nil {
			err = b.FlushWithContext(ctx)
		}
		if last := b.LastError(); err == nil && last != nil { // such as that this user may not
			err = last
		}
	}
	if err != nil {
		return i.explain(ctx, d.why(err))
	}
	return nil
}

// decode is a payload as expressions see it: JSON as its value, else text, else base64.
func decode(data []byte) expr.Value {
	if len(data) == 0 {
		return expr.Null
	}
	if v, err := expr.ParseJSON(data); err == nil {
		return v
	}
	if utf8.Valid(data) {
		return expr.String(string(data))
	}
	return expr.String(base64.StdEncoding.EncodeToString(data))
}

// headersOf are the headers of a message, several of a name joined.
func headersOf(h nats.Header) []expr.Member {
	var out []expr.Member
	for name, values := range h {
		out = append(out, expr.Member{Key: name, Value: expr.String(strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd"))})
	}
	return out
}
