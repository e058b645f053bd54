package mcp

import (
	"context"
	"net/http"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/jsonrpc"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The headers of sessions.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerKey     = "Idempotency-Key"
)

// httpSession is a session over streamable HTTP.
type httpSession struct {
	jsonrpc.Endpoint
	key string // of the workflow's request; "": there is none, or the definition gives one
}

// overHTTP reads the transport {endpoint, headers}.
func (i *Invoker) overHTTP(transport expr.Value, r request, b ir.Builtin, credentials *auth.Policy) (where string, open func(context.Context) (session, error), err error) {
	endpoint, _ := transport.Get("endpoint")
	target, err := effecthttp.ReadEndpoint(endpoint)
	if err != nil {
		return "", nil, err
	}
	headers, _ := transport.Get("headers")
	header, err := effecthttp.ReadHeaders(headers)
	if err != nil {
		return "", nil, err
	}
	s := &httpSession{key: r.key}
	if header.Get(headerKey) != "" {
		s.key = ""
	}
	header.Del(headerSession)
	header.Del(headerVersion)
	s.Endpoint = jsonrpc.Endpoint{URL: target, Header: header, HTTP: i.client.Library(effecthttp.Request{
		URL: target, Auth: credentials, Guarded: b.Guarded, Secret: i.client.Holds(r.parameters) || i.client.Holds(r.info),
	})}
	return s.Where("POST"), func(context.Context) (session, error) { return s, nil }, nil
}

func (s *httpSession) call(ctx context.Context, id int64, method string, params expr.Value, main bool) (expr.Value, error) {
	header := http.Header{}
	if main && s.key != "" {
		header.Set(headerKey, s.key)
	}
	result, answer, err := s.Call(ctx, id, jsonrpc.Request(id, method, params), header)
	if id := answer.Get(headerSession); id != "" && !main {
		s.Header.Set(headerSession, id)
	}
	return result, err
}

func (s *httpSession) begin(ctx context.Context, version string) error {
	s.Header.Set(headerVersion, version)
	return s.Tell(ctx, jsonrpc.Notification("notifications/initialized"))
}

// end deletes a session that has an id. A server may refuse that, and forgets the session later.
func (s *httpSession) end(ctx context.Context) string {
	if s.Header.Get(headerSession) == "" {
		return ""
	}
	if resp, err := s.Do(ctx, "DELETE", nil, nil); err == nil {
		resp.Body.Close()
	}
	return ""
}
