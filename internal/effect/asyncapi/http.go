package asyncapi

import (
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// request is the request of a target for a message, without its body.
func (t *target) request(method string, msg expr.Value) (effecthttp.Request, error) {
	r := effecthttp.Request{
		Method: method, Auth: t.auth, Guarded: t.guarded, Secret: t.secret, Redirects: effecthttp.RedirectNever,
	}
	address, err := t.address(msg, func(value string) (string, error) {
		if value == "" || value == "." || value == ".." {
			return "", fmt.Errorf("%q would leave its place in the path", value)
		}
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), nil // it may stand in a query
	}, nil)
	if err != nil {
		return r, err
	}
	path, err := url.Parse("./" + trimSlash(address))
	if err != nil {
		return r, errors.New("its address is no path: " + address)
	}
	base := *t.base
	if base.Path != "" {
		base.Path = "/" + trimSlash(base.Path)
	}
	r.URL = base.JoinPath(path.EscapedPath())
	r.URL.RawQuery = path.RawQuery
	if !t.query.IsNull() {
		err = effecthttp.AddQuery(r.URL, t.query)
	}
	return r, err
}

func trimSlash(path string) string {
	for len(path) > 0 && path[0] == '/' {
		path = path[1:]
	}
	return path
}

// bodyless are methods whose payload is the query.
var bodyless = []string{"GET", "HEAD", "DELETE"}

// publishHTTP sends a message as a request.
func (i *Invoker) publishHTTP(ctx context.Context, c effect.Call, t target, msg expr.Value) effect.Outcome {
	method := t.method
	if method == "" {
		method = "POST"
	}
	r, err := t.request(method, msg)
	if err != nil {
		return refused(t.where, err)
	}
	headers, _ := msg.Get("headers")
	if r.Header, err = effecthttp.ReadHeaders(headers); err != nil {
		return refused(t.where, err)
	}
	if slices.Contains(bodyless, method) {
		if payload, _ := msg.Get("payload"); !payload.IsNull() {
			err = effecthttp.AddQuery(r.URL, payload)
		}
	} else {
		var media string
		if r.Body, media, err = t.encode(msg); r.Body != nil && r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", media)
		}
	}
	if err != nil {
		return refused(t.where, err)
	}
	if r.Header.Get("Idempotency-Key") == "" { // the author's own lasts longer than one call
		r.Key = c.Key
	}
	where := method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.EscapedPath()
	a, err := i.client.Do(ctx, r)
	if err != nil {
		return refused(where, err)
	}
	if a.Status >= nethttp.StatusMultipleChoices {
		return effecthttp.CallOptions{}.Outcome(a, where, nil)
	}
	return effect.Outcome{}
}
