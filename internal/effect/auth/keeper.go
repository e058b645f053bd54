package auth

import (
	"container/list"
	"context"
	"crypto/sha256"
	"io"
	nethttp "net/http"
	"sync"
	"time"
)

// MaxKept is the limit auth-cache: tokens, digest challenges and discovered authorities that a
// process keeps. What was not used lately makes room, and is asked for again.
const MaxKept = 1024

// Exchange makes a request of a policy's own: for a token, or to discover. It follows no
// redirects: the request may hold credentials.
type Exchange func(ctx context.Context, r *nethttp.Request, guarded bool) (status int, body []byte, err error)

// Keeper authenticates requests. It is safe for concurrent use.
type Keeper struct {
	exchange Exchange
	now      func() time.Time

	mu    sync.Mutex
	byKey map[[sha256.Size]byte]*list.Element // of *slot
	used  *list.List                          // last used first
}

// slot is what is kept of one policy (a token, or a challenge) or of one authority.
type slot struct {
	key       [sha256.Size]byte
	token     token
	flight    *flight // while a token is asked for
	challenge challenge
	count     uint32 // how often the challenge's nonce was used
	endpoint  string // of tokens, as discovered
	until     time.Time
}

// New returns a keeper that makes its own requests through x.
func New(x Exchange) *Keeper {
	return &Keeper{exchange: x, now: time.Now, byKey: map[[sha256.Size]byte]*list.Element{}, used: list.New()}
}

// slot returns what is kept for a key. k.mu is held.
func (k *Keeper) slot(key [sha256.Size]byte) *slot {
	if e := k.byKey[key]; e != nil {
		k.used.MoveToFront(e)
		return e.Value.(*slot)
	}
	s := &slot{key: key}
	k.byKey[key] = k.used.PushFront(s)
	for k.used.Len() > MaxKept {
		last := k.used.Remove(k.used.Back()).(*slot)
		delete(k.byKey, last.key)
	}
	return s
}

// Send makes a request with the credentials of the policy. send is the transport: it does not
// follow redirects. guarded says that data may have chosen addresses of the policy.
func (k *Keeper) Send(p *Policy, guarded bool, r *nethttp.Request, send func(*nethttp.Request) (*nethttp.Response, error)) (*nethttp.Response, error) {
	switch p.scheme {
	case "basic":
		return send(with(r, "Basic "+p.Sent()))
	case "bearer":
		return send(with(r, "Bearer "+p.token))
	case "digest":
		return k.digest(p, r, send)
	}
	access, err := k.access(r.Context(), p, guarded, "")
	if err != nil {
		closeBody(r)
		return nil, err
	}
	answer, err := send(with(r, "Bearer "+access))
	if err != nil || answer.StatusCode != nethttp.StatusUnauthorized {
		return answer, err
	}
	again, ok := repeat(r)
	if !ok {
		return answer, nil
	}
	discard(answer)
	if access, err = k.access(r.Context(), p, guarded, access); err != nil {
		closeBody(again)
		return nil, err
	}
	return send(with(again, "Bearer "+access))
}

// Credentials are the scheme and the parameter of the header Authorization. The parameter of digest
// is empty: it depends on what the server says first.
func (k *Keeper) Credentials(ctx context.Context, p *Policy, guarded bool) (scheme, parameter string, err error) {
	switch p.scheme {
	case "basic":
		return "Basic", p.Sent(), nil
	case "bearer":
		return "Bearer", p.token, nil
	case "digest":
		return "Digest", "", nil
	}
	parameter, err = k.access(ctx, p, guarded, "")
	return "Bearer", parameter, err
}

// Renewed is a token other than the one that a service refused. It reports false where the policy has none to ask for.
func (k *Keeper) Renewed(ctx context.Context, p *Policy, guarded bool, refused string) (parameter string, ok bool, err error) {
	if p.grant == nil {
		return "", false, nil
	}
	parameter, err = k.access(ctx, p, guarded, refused)
	return parameter, err == nil, err
}

// with is a copy of a request with credentials: a transport must not change what it is given.
func with(r *nethttp.Request, credentials string) *nethttp.Request {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", credentials)
	return out
}

// repeat is a request that was sent, to be sent again. It reports false where its body is gone.
func repeat(r *nethttp.Request) (*nethttp.Request, bool) {
	out := r.Clone(r.Context())
	if r.Body == nil || r.Body == nethttp.NoBody {
		return out, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	var err error
	out.Body, err = r.GetBody()
	return out, err == nil
}

// discard ends an answer so that its connection can be used again, unless that would be long.
func discard(answer *nethttp.Response) {
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10)
	_ = answer.Body.Close()
}

// closeBody does what a transport does with the body of a request that fails.
func closeBody(r *nethttp.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
