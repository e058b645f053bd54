package server

import (
	"github.com/lockstep-workflows/lockstep/api"
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
	v := &api.Exchange{Method: x.Method, Address: x.Address, Status: x.Status}
	for _, h := range x.Headers {
		v.Headers = append(v.Headers, api.Header{Name: h.Name, Value: h.Value})
	}
	return v
}
