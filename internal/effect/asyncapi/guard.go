package asyncapi

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// guard is a connection to a NATS server that does not say how much it is about to send beyond what is allowed:
// the library makes room for as much as a message claims to have, and a claim that is too large ends the process. So
// the guard is what encrypts: it must see what comes.
type guard struct {
	net.Conn
	host  string
	most  int64 // bytes of a message
	ahead int64 // bytes of a line of the protocol: the greeting, and what comes before a message
	skip  int64 // bytes of the current message that are yet to come
	line  []byte
	bad   atomic.Pointer[effecthttp.Error]
}

// encrypt begins TLS, before anything was written. What came in plaintext does not count.
func (g *guard) encrypt(with *tls.Config) {
	with = with.Clone()
	with.ServerName = g.host
	g.Conn, g.skip, g.line = tls.Client(g.Conn, with), 0, nil
}

func (g *guard) Read(p []byte) (int, error) {
	if err := g.bad.Load(); err != nil {
		return 0, err
	}
	n, err := g.Conn.Read(p)
	if bad := g.look(p[:n]); bad != nil {
		g.bad.Store(bad)
		return 0, bad
	}
	return n, err
}

// look follows the protocol: lines, and after those of messages as many bytes as they say.
func (g *guard) look(p []byte) *effecthttp.Error {
	for len(p) > 0 {
		if g.skip > 0 {
			n := min(g.skip, int64(len(p)))
			g.skip -= n
			p = p[n:]
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			end = len(p) - 1
		}
		g.line = append(g.line, p[:end+1]...)
		p = p[end+1:]
		switch {
		case int64(len(g.line)) > g.ahead:
			return &effecthttp.Error{Code: effecthttp.CodeTooLarge, Msg: fmt.Sprintf("a line of the protocol is larger than %d bytes (limit response-header-bytes)", g.ahead)}
		case g.line[len(g.line)-1] != '\n':
			return nil
		}
		err := g.control(bytes.Fields(g.line))
		if g.line = g.line[:0]; err != nil {
			return err
		}
	}
	return nil
}

// control looks at a line of the protocol.
func (g *guard) control(words [][]byte) *effecthttp.Error {
	if len(words) < 2 || !bytes.EqualFold(words[0], []byte("MSG")) && !bytes.EqualFold(words[0], []byte("HMSG")) {
		return nil
	}
	// Of one with headers their size comes before that of all.
	size, err := strconv.ParseInt(string(words[len(words)-1]), 10, 64)
	if err != nil || size < 0 {
		return &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: "the server sends a message without its size"}
	}
	if bytes.EqualFold(words[0], []byte("HMSG")) {
		headers, err := strconv.ParseInt(string(words[len(words)-2]), 10, 64)
		if err != nil || headers < 0 || headers > size {
			return &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: "the server sends a message whose headers have no size"}
		}
	}
	if size > g.most {
		return &effecthttp.Error{Code: effecthttp.CodeTooLarge, Msg: fmt.Sprintf("a message is larger than %d bytes (limit response-bytes)", g.most)}
	}
	g.skip = size + 2
	return nil
}
