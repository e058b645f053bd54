package auth

import (
	"crypto/md5" // RFC 7616 has it, and many services ask for nothing else
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	nethttp "net/http"
	"strings"
)

// challenge is a digest challenge of a service (RFC 7616 §3.3).
type challenge struct {
	realm, nonce, opaque string
	algorithm            string // as written; empty: MD5
	sess                 bool
	qop                  bool // auth, else that of RFC 2069
	sum                  func() hash.Hash
}

// digest makes a request with the answer to a challenge: to the one that the service gave last,
// and if that does not count any more, once to a new one.
func (k *Keeper) digest(p *Policy, r *nethttp.Request, send func(*nethttp.Request) (*nethttp.Response, error)) (*nethttp.Response, error) {
	key := sha256.Sum256(append(p.key[:], []byte(r.URL.Scheme+"://"+r.URL.Host)...))
	first := r
	if c, n, ok := k.known(key, nil); ok {
		first = with(r, c.answer(p, r, n))
	} else {
		first = r.Clone(r.Context())
		first.Header.Del("Authorization")
	}
	answer, err := send(first)
	if err != nil || answer.StatusCode != nethttp.StatusUnauthorized {
		return answer, err
	}
	fresh, asked := pickChallenge(answer.Header.Values("Www-Authenticate"))
	if fresh == nil {
		if asked {
			discard(answer)
			return nil, failf("%s asks for a digest that is not supported: only MD5 and SHA-256 with qop auth are", r.URL.Host)
		}
		return answer, nil
	}
	again, ok := repeat(r)
	if !ok {
		return answer, nil
	}
	discard(answer)
	c, n, _ := k.known(key, fresh)
	return send(with(again, c.answer(p, r, n)))
}

// known is the challenge to answer, and how often its nonce is used with that. fresh takes the
// place of an older one.
func (k *Keeper) known(key [sha256.Size]byte, fresh *challenge) (challenge, uint32, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.slot(key)
	if fresh != nil && fresh.nonce != s.challenge.nonce {
		s.challenge, s.count = *fresh, 0
	}
	if s.challenge.nonce == "" {
		return challenge{}, 0, false
	}
	s.count++
	return s.challenge, s.count, true
}

// answer is the value of Authorization (RFC 7616 §3.4).
func (c challenge) answer(p *Policy, r *nethttp.Request, count uint32) string {
	h := func(parts ...string) string {
		d := c.sum()
		d.Write([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(d.Sum(nil))
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // it never fails
	nonce, nc := hex.EncodeToString(random), fmt.Sprintf("%08x", count)
	a1 := h(p.username, c.realm, p.password)
	if c.sess {
		a1 = h(a1, c.nonce, nonce)
	}
	uri := r.URL.RequestURI()
	a2 := h(r.Method, uri)
	out := fmt.Sprintf("Digest username=%s, realm=%s, nonce=%s, uri=%s", quote(p.username), quote(c.realm), quote(c.nonce), quote(uri))
	if c.qop {
		out += fmt.Sprintf(", response=%q, qop=auth, nc=%s, cnonce=%q", h(a1, c.nonce, nc, nonce, "auth", a2), nc, nonce)
	} else {
		out += fmt.Sprintf(", response=%q", h(a1, c.nonce, a2))
		if c.sess {
			out += fmt.Sprintf(", cnonce=%q", nonce)
		}
	}
	if c.algorithm != "" {
		out += ", algorithm=" + c.algorithm
	}
	if c.opaque != "" {
		out += ", opaque=" + quote(c.opaque)
	}
	return out
}

// quote writes a quoted-string (RFC 9110 §5.6.4).
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "").Replace(text) + `"`
}

// pickChallenge is the best digest challenge that can be answered. asked says that there is one
// of that scheme.
func pickChallenge(headers []string) (best *challenge, asked bool) {
	for _, header := range headers {
		for _, given := range parseChallenges(header) {
			if !strings.EqualFold(given.scheme, "digest") {
				continue
			}
			asked = true
			c := challengeOf(given.params)
			if c != nil && (best == nil || best.weak() && !c.weak()) {
				best = c
			}
		}
	}
	return best, asked
}

func (c *challenge) weak() bool { return c.sum().Size() == md5.Size }

func challengeOf(params map[string]string) *challenge {
	c := &challenge{realm: params["realm"], nonce: params["nonce"], opaque: params["opaque"], algorithm: params["algorithm"]}
	name, sess := strings.CutSuffix(strings.ToUpper(c.algorithm), "-SESS")
	c.sess = sess
	switch name {
	case "", "MD5":
		c.sum = md5.New
	case "SHA-256":
		c.sum = sha256.New
	default:
		return nil
	}
	qop, offered := params["qop"]
	for word := range strings.SplitSeq(qop, ",") {
		c.qop = c.qop || strings.EqualFold(strings.TrimSpace(word), "auth")
	}
	if c.nonce == "" || offered && !c.qop {
		return nil
	}
	return c
}

// offered is one challenge of a WWW-Authenticate header.
type offered struct {
	scheme string
	params map[string]string // names in lower case
}

// parseChallenges reads a header with any number of challenges (RFC 9110 §11.6.1). What it does
// not understand it skips.
func parseChallenges(text string) []offered {
	var out []offered
	for {
		text = strings.TrimLeft(text, " \t,=")
		word := tokenOf(text)
		if word == "" {
			if text == "" {
				return out
			}
			text = text[1:]
			continue
		}
		text = text[len(word):]
		rest := strings.TrimLeft(text, " \t")
		if len(out) == 0 || !strings.HasPrefix(rest, "=") {
			out = append(out, offered{word, map[string]string{}})
			continue
		}
		rest = strings.TrimLeft(rest[1:], " \t")
		value := tokenOf(rest)
		text = rest[len(value):]
		if strings.HasPrefix(rest, `"`) {
			value, text = quoted(rest[1:])
		}
		if name := strings.ToLower(word); value != "" {
			out[len(out)-1].params[name] = value
		}
	}
}

// quoted reads a quoted-string after its first quote.
func quoted(text string) (value, rest string) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return out.String(), text[i+1:]
		case c == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), ""
}

// tokenOf is the token (RFC 9110 §5.6.2) that a text begins with.
func tokenOf(text string) string {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return text[:i]
		}
	}
	return text
}
