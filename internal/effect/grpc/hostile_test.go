package grpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lockstep-workflows/lockstep/effect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// peer is a server that does what it wants with its frames.
type peer struct {
	net.Conn
	*http2.Framer
	headers bytes.Buffer
	encoder *hpack.Encoder
}

// greet answers the preface of a connection, and waits for the first request. What the client sends from then on
// is read and forgotten, but for pings, which are answered.
func greet(conn net.Conn) *peer { return meets(conn, true) }

func meets(conn net.Conn, pongs bool) *peer {
	p := &peer{Conn: conn, Framer: http2.NewFramer(conn, conn)}
	p.encoder = hpack.NewEncoder(&p.headers)
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return nil
	}
	requested, told := make(chan bool), false
	acks := http2.NewFramer(conn, nil) // beside what is written elsewhere
	go func() {
		for {
			f, err := p.ReadFrame()
			if err != nil {
				if !told {
					close(requested)
				}
				return
			}
			if _, ok := f.(*http2.HeadersFrame); ok && !told {
				told = true
				close(requested)
			}
			if ping, ok := f.(*http2.PingFrame); ok && pongs && !ping.IsAck() {
				_ = acks.WritePing(true, ping.Data)
			}
		}
	}()
	_ = p.WriteSettings()
	<-requested
	return p
}

// head sends headers, or trailers.
func (p *peer) head(end bool, fields ...string) {
	p.headers.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = p.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	block := p.headers.Bytes()
	first := block[:min(len(block), 16<<10)]
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: first, EndStream: end, EndHeaders: len(first) == len(block)})
	for block = block[len(first):]; len(block) > 0; {
		next := block[:min(len(block), 16<<10)]
		block = block[len(next):]
		if p.WriteContinuation(1, len(block) == 0, next) != nil {
			return
		}
	}
}

func (p *peer) ok() { p.head(false, ":status", "200", "content-type", "application/grpc") }

// frame is a message as it is sent.
func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// data sends bytes in frames of the usual size, while the other side takes them.
func (p *peer) data(b []byte) {
	for len(b) > 0 {
		n := min(len(b), 16<<10)
		if p.WriteData(1, false, b[:n]) != nil {
			return
		}
		b = b[n:]
	}
}

func (p *peer) trailers(status string) { p.head(true, "grpc-status", status) }

// many are headers that are too large together.
var many = slices.Repeat([]string{"x", strings.Repeat("~", 100)}, 1000)

var hostile = map[string]struct {
	behave func(net.Conn)
	want   string // of codes
}{
	"never reads":  {func(net.Conn) {}, "UNAVAILABLE"},
	"never writes": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "UNAVAILABLE"},
	"hangs up":     {func(c net.Conn) { c.Close() }, "UNAVAILABLE"},
	"speaks HTTP/1.1": {func(c net.Conn) {
		go io.Copy(io.Discard, c)
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nabc")
	}, "UNAVAILABLE"},
	"garbage": {func(c net.Conn) {
		go io.Copy(io.Discard, c)
		_, _ = c.Write(bytes.Repeat([]byte{0xfe}, 1<<16))
	}, "UNAVAILABLE"},
	"never answers":     {func(c net.Conn) { greet(c) }, "DEADLINE_EXCEEDED"},
	"headers only":      {func(c net.Conn) { greet(c).ok() }, "DEADLINE_EXCEEDED"},
	"half of a message": {func(c net.Conn) { p := greet(c); p.ok(); p.data(frame(make([]byte, 100))[:50]) }, "DEADLINE_EXCEEDED"},
	"trickle": {func(c net.Conn) {
		p := greet(c)
		p.ok()
		for _, b := range frame(make([]byte, 1000)) {
			<-time.After(time.Second)
			p.data([]byte{b})
		}
	}, "DEADLINE_EXCEEDED"},
	"gone in a message": {func(c net.Conn) { p := greet(c); p.ok(); p.data(frame(make([]byte, 100))[:50]); c.Close() }, "UNAVAILABLE"},
	"no trailers":       {func(c net.Conn) { p := greet(c); p.ok(); _ = p.WriteData(1, true, frame(nil)) }, "INTERNAL"},
	"no message":        {func(c net.Conn) { p := greet(c); p.ok(); p.trailers("0") }, "INTERNAL"},
	"two messages":      {func(c net.Conn) { p := greet(c); p.ok(); p.data(frame(nil)); p.data(frame(nil)); p.trailers("0") }, "INTERNAL"},
	"a huge message":    {func(c net.Conn) { p := greet(c); p.ok(); p.data([]byte{0, 0xff, 0xff, 0xff, 0xff}) }, effecthttp.CodeTooLarge},
	"compressed":        {func(c net.Conn) { p := greet(c); p.ok(); p.data([]byte{1, 0, 0, 0, 1, 0}); p.trailers("0") }, "INTERNAL"},
	"not a message":     {func(c net.Conn) { p := greet(c); p.ok(); p.data(frame([]byte("\xff\xff\xff"))); p.trailers("0") }, effecthttp.CodeInvalid},
	"invalid text":      {func(c net.Conn) { p := greet(c); p.ok(); p.data(frame([]byte("\x0a\x01\xff"))); p.trailers("0") }, effecthttp.CodeInvalid},
	"not gRPC":          {func(c net.Conn) { greet(c).head(true, ":status", "404", "content-type", "text/html") }, "UNIMPLEMENTED"},
	"no status":         {func(c net.Conn) { p := greet(c); p.ok(); p.data(frame(nil)); p.trailers("nonsense") }, "UNKNOWN"},
	"large headers": {func(c net.Conn) {
		greet(c).head(false, append([]string{":status", "200", "content-type", "application/grpc"}, many...)...)
	}, effecthttp.CodeTooLarge},
	"large trailers": {func(c net.Conn) {
		p := greet(c)
		p.ok()
		p.head(true, append([]string{"grpc-status", "5"}, many...)...)
	}, effecthttp.CodeTooLarge},
	"a large header": {func(c net.Conn) {
		greet(c).head(false, ":status", "200", "content-type", "application/grpc", "x", strings.Repeat("~", 1<<20))
	}, "UNAVAILABLE"},
	"reset":     {func(c net.Conn) { _ = greet(c).WriteRSTStream(1, http2.ErrCodeInternal) }, "INTERNAL"},
	"goes away": {func(c net.Conn) { p := greet(c); _ = p.WriteGoAway(1, http2.ErrCodeEnhanceYourCalm, nil); c.Close() }, "UNAVAILABLE"},
	"pings": {func(c net.Conn) {
		for p := greet(c); p.WritePing(false, [8]byte{}) == nil; {
			<-time.After(time.Millisecond)
		}
	}, "DEADLINE_EXCEEDED"},
	"settings": {func(c net.Conn) {
		for p := greet(c); p.WriteSettings() == nil; {
			<-time.After(time.Millisecond)
		}
	}, "DEADLINE_EXCEEDED"},
}

// TestHostileServices: a call is over within call-timeout, says what is wrong, and leaves nothing behind. A bubble of
// synctest does not end while a goroutine is left in it.
func TestHostileServices(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, took := meet(t, c.behave, "Place")
				if took > effecthttp.DefaultLimits.Timeout {
					t.Errorf("it took %s", took)
				}
				if f := out.Failure; f == nil || f.Name != effect.Communication || f.Code != c.want || f.Detail == "" {
					t.Errorf("%s: %+v, want %s", out.Value, f, c.want)
				}
			})
		})
	}
}

// meet makes a call to a hostile service, within a bubble.
func meet(t *testing.T, behave func(net.Conn), method string) (effect.Outcome, time.Duration) {
	t.Helper()
	client, err := effecthttp.New(effecthttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := New(client)
	var served sync.WaitGroup
	i.pool.dial = func(context.Context, string, string, bool) (net.Conn, error) {
		here, there := net.Pipe()
		served.Go(func() { behave(there) })
		return here, nil
	}
	s := &service{t: t, host: "localhost", port: 1}
	c, _ := pinnedCall(t, shopFiles(), "call:grpc:shop.proto#Orders/"+method, s.with(method, `{}`))
	began := time.Now()
	out := finish(t.Context(), i, c)
	took := time.Since(began)
	client.Close()
	served.Wait()
	return out, took
}

// TestEndlessStreams: they end at a limit, or after grpc-stream-time.
func TestEndlessStreams(t *testing.T) {
	for name, c := range map[string]struct {
		behave func(net.Conn)
		want   string
	}{
		"of empty messages": {func(c net.Conn) {
			p := greet(c)
			p.ok()
			for many := bytes.Repeat(frame(nil), 1000); p.WriteData(1, false, many) == nil; {
			}
		}, "limit grpc-messages"},
		"of nothing": {func(c net.Conn) { greet(c).ok() }, "limit grpc-stream-time"},
		"of silence": {func(c net.Conn) { meets(c, false).ok() }, "keepalive"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, took := meet(t, c.behave, "Watch")
				if f := out.Failure; f == nil || !strings.Contains(f.Detail, c.want) || took > maxStream {
					t.Errorf("after %s: %+v, want %q", took, f, c.want)
				}
			})
		})
	}
}

// TestAnswersThatGrow: few bytes on the wire that would be many in memory, or as JSON.
func TestAnswersThatGrow(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	files := map[string][]byte{"a.proto": []byte(`
		syntax = "proto3";
		import "google/protobuf/any.proto";
		import "google/protobuf/struct.proto";
		enum E { ` + long + ` = 0; }
		message M {
			repeated M many = 1; M one = 2; google.protobuf.Any any = 3; google.protobuf.Value value = 4;
			repeated E e = 5; repeated Wide wide = 6; repeated bool flags = 7; map<int32, M> map = 8;
		}
		message Wide { int32 ` + long[1:] + ` = 1; }
		service S { rpc Get(M) returns (M); }`)}
	s, err := compile("a.proto", func(ref string) ([]byte, error) { return files[ref], nil })
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.types.FindMessageByName("M")
	if err != nil {
		t.Fatal(err)
	}
	const size = 4 << 20
	field := func(n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	nested := func(levels int, in func([]byte) []byte) (b []byte) {
		for range levels {
			b = in(b)
		}
		return b
	}
	anyOf := func(b []byte) []byte {
		return append(field(1, []byte("/google.protobuf.Any")), field(2, b)...)
	}
	for name, wire := range map[string][]byte{
		"many empty messages":  bytes.Repeat(field(1, nil), size/2),
		"deep messages":        nested(5000, func(b []byte) []byte { return field(2, b) }),
		"deep groups":          nested(5000, func(b []byte) []byte { return append(append([]byte{0x13}, b...), 0x14) }),
		"any in any":           field(3, nested(2000, anyOf)),
		"deep values":          field(4, nested(5000, func(b []byte) []byte { return field(6, field(1, b)) })),
		"long names of enums":  field(5, make([]byte, 1<<20)),
		"long names of fields": bytes.Repeat(field(6, nil), 1000),
		"many flags":           field(7, make([]byte, size)),
		"large maps":           bytes.Repeat(field(8, nil), size/2),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := s.decode(wire, m.Descriptor(), s.scaleOf(size))
		runtime.ReadMemStats(&after)
		if own, ok := err.(*effecthttp.Error); !ok || own.Code != effecthttp.CodeTooLarge && own.Code != effecthttp.CodeInvalid {
			t.Errorf("%s: %s %v", name, v, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*size {
			t.Errorf("%s: %d bytes allocated", name, used)
		}
	}
}

// TestHostileDocuments: they are refused before they cost much.
func TestHostileDocuments(t *testing.T) {
	deep := func(open, shut string, n int) string { return strings.Repeat(open, n) + strings.Repeat(shut, n) }
	service := "service S { rpc Get(M) returns (M); } message M {}"
	var many strings.Builder
	for n := range 100 {
		many.WriteString("import \"f" + strconv.Itoa(n) + ".proto\";")
	}
	set := bytes.Repeat([]byte{0x0a, 0x02, 0x22, 0x00}, 120_000) // files with an empty message
	for name, c := range map[string]struct{ text, want string }{
		"deep messages":  {service + deep("message A{", "}", 20_000), "limit proto-depth"},
		"deep literals":  {service + "option (x) = " + deep("{a:", "}", 20_000) + ";", "limit proto-depth"},
		"deep lists":     {service + "option (x) = " + deep("{a:[", "]}", 20_000) + ";", "limit proto-depth"},
		"deep angles":    {service + "option (x) = {a:" + deep("<a:", ">", 20_000) + "};", "limit proto-depth"},
		"behind comment": {service + "/* { */ // {\n" + deep("message A{", "}", 100), "limit proto-depth"},
		"large":          {service + strings.Repeat(" ", maxSource), "limit proto-bytes"},
		"never ends":     {service + "/* " + strings.Repeat("{", 1000), "cannot be used"},
		"open text":      {service + `option java_package = "`, "cannot be used"},
		"itself":         {`import "a.proto"; ` + service, "cannot be used"},
		"many imports":   {many.String() + service, "imports \"f0.proto\""},
		"dots":           {"message M { " + strings.Repeat("a.", 100_000) + "b c = 1; }", "cannot be used"},
		"a set":          {string(set), "limit grpc-messages"},
		"a deep set":     {string(deepSet()), "limit grpc-depth"},
		"binary":         {"\x00\x01\x02", "neither a .proto file nor a descriptor set"},
		"empty":          {"", "no service"},
	} {
		files := map[string]string{"a.proto": c.text}
		s, err := compile("a.proto", func(ref string) ([]byte, error) {
			if text, ok := files[ref]; ok {
				return []byte(text), nil
			}
			return nil, io.ErrUnexpectedEOF
		})
		if err == nil {
			_, err = s.method("S", "Get")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// deepSet is a descriptor set with a message inside each other.
func deepSet() []byte {
	var b []byte
	for range 1000 {
		b = protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), b)
	}
	b = protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), b)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
}

// FuzzDocuments: whatever a document holds, it is compiled or refused.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte(shopProto))
	f.Add([]byte(`syntax = "proto2"; package a; message M { required group G = 1 { } extensions 4 to max; } extend M { optional string s = 5 [(x) = {a: 1}]; } service S { rpc Get(M) returns (stream M); }`))
	f.Add([]byte{0x0a, 0x02, 0x22, 0x00})
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := compile("a.proto", func(ref string) ([]byte, error) {
			if ref == "a.proto" {
				return text, nil
			}
			return nil, io.ErrUnexpectedEOF
		})
		if err == nil {
			_, _ = s.method("S", "Get")
		}
	})
}

// FuzzAnswers: whatever a service sends, it is read or refused.
func FuzzAnswers(f *testing.F) {
	s, err := compile("shop.proto", shopFiles().Open)
	if err != nil {
		f.Fatal(err)
	}
	m, err := s.types.FindMessageByName("shop.v1.Order")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("\x0a\x01a\x10\x03"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		v, err := s.decode(wire, m.Descriptor(), s.scaleOf(1<<16))
		if err == nil {
			if _, err := s.encode(v, m.Descriptor()); err != nil {
				t.Errorf("%s: %v", v, err)
			}
		}
	})
}
