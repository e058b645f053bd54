package server

import (
	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// isAnswer reports whether a record is that of a call's answer. Its text is the exchange.
func isAnswer(r *core.Record) bool { return r.Type == core.RecReturned || r.Type == core.RecCallFailed }

// textOf is the text of a record, for people.
func textOf(r *core.Record) string {
	if isAnswer(r) {
		return ""
	}
	return r.Text
}

func viewExchange(r *core.Record) *api.Exchange {
	if !isAnswer(r) || r.Text == "" {
		return nil
	}
	x := engine.ParseExchange(r.Text)
	if x == nil {
		return nil
	}
	return &api.Exchange{
		Method: x.Method, Address: x.Address, RequestHeaders: viewHeaders(x.RequestHeaders),
		Status: x.Status, Headers: viewHeaders(x.Headers),
	}
}

func viewHeaders(all []effect.Header) (out []api.Header) {
	for _, h := range all {
		out = append(out, api.Header(h))
	}
	return out
}
