package auth

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// digestServer is a service that knows a user by digest, written from RFC 7616 alone.
type digestServer struct {
	algorithm string // as offered; "" is MD5
	qop       string
	uses      int // of a nonce before it is stale
	mu        sync.Mutex
	nonce     int
	counts    map[string]int // of a nonce
	requests  []string
}

func (d *digestServer) sum(text string) string {
	if strings.HasPrefix(d.algorithm, "SHA-256") {
		s := sha256.Sum256([]byte(text))
		return hex.EncodeToString(s[:])
	}
	s := md5.Sum([]byte(text))
	return hex.EncodeToString(s[:])
}

func (d *digestServer) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	ok := d.check(r)
	d.requests = append(d.requests, fmt.Sprintf("%t%s", ok, body))
	if ok {
		io.WriteString(w, "welcome")
		return
	}
	d.nonce++
	challenge := fmt.Sprintf(`Digest realm="the \"realm\", here", nonce="n%d", opaque="o=p,q"`, d.nonce)
	if d.qop != "" {
		challenge += fmt.Sprintf(`, qop="%s"`, d.qop)
	}
	if d.algorithm != "" {
		challenge += ", algorithm=" + d.algorithm
	}
	w.Header().Add("WWW-Authenticate", `Negotiate abc==, Basic realm="x", `+challenge)
	w.WriteHeader(401)
	io.WriteString(w, "go away")
}

func (d *digestServer) check(r *nethttp.Request) bool {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Digest ")
	if !ok {
		return false
	}
	p := parseChallenges("Digest " + text)[0].params
	if p["nonce"] != fmt.Sprintf("n%d", d.nonce) || p["realm"] != `the "realm", here` || p["opaque"] != "o=p,q" || p["uri"] != r.URL.RequestURI() {
		return false
	}
	a1 := d.sum(p["username"] + `:the "realm", here:open sesame`)
	if strings.HasSuffix(d.algorithm, "-sess") {
		a1 = d.sum(a1 + ":" + p["nonce"] + ":" + p["cnonce"])
	}
	a2 := d.sum(r.Method + ":" + p["uri"])
	want := d.sum(a1 + ":" + p["nonce"] + ":" + a2)
	if d.qop != "" {
		want = d.sum(a1 + ":" + p["nonce"] + ":" + p["nc"] + ":" + p["cnonce"] + ":auth:" + a2)
		d.counts[p["nonce"]]++
		if p["nc"] != fmt.Sprintf("%08x", d.counts[p["nonce"]]) || d.counts[p["nonce"]] > d.uses {
			return false
		}
	}
	return p["response"] == want
}

func TestDigest(t *testing.T) {
	for _, c := range []*digestServer{
		{algorithm: "", qop: "auth", uses: 100},
		{algorithm: "MD5", qop: "auth-int, auth", uses: 100},
		{algorithm: "SHA-256", qop: "auth", uses: 100},
		{algorithm: "SHA-256-sess", qop: "auth", uses: 100},
		{algorithm: "MD5", qop: ""},
	} {
		d := &digestServer{algorithm: c.algorithm, qop: c.qop, uses: c.uses, counts: map[string]int{}}
		s := httptest.NewServer(d)
		t.Cleanup(s.Close)
		k := keeper()
		policy := `{"digest":{"username":"ali \"b\"","password":"open sesame"}}`
		for i := range 3 {
			status, body, err := send(t, k, policy, "POST", s.URL+"/cave?x=1&y=%20", fmt.Sprint(i))
			if err != nil || status != 200 || body != "welcome" {
				t.Errorf("%s %s: %d %q %v", c.algorithm, c.qop, status, body, err)
			}
		}
		// The first is asked, with its body again; those after it know the nonce and count on.
		if got := fmt.Sprint(d.requests); got != "[false0 true0 true1 true2]" {
			t.Errorf("%s %s: %s", c.algorithm, c.qop, got)
		}
		d.requests = nil
		status, body, err := send(t, keeper(), `{"digest":{"username":"ali","password":"wrong"}}`, "GET", s.URL, "")
		if err != nil || status != 401 || body != "go away" || len(d.requests) != 2 {
			t.Errorf("a wrong password gives %d %q %v after %d requests", status, body, err, len(d.requests))
		}
	}
}

// TestDigestStale: a nonce that does not count any more is replaced once.
func TestDigestStale(t *testing.T) {
	d := &digestServer{qop: "auth", uses: 2, counts: map[string]int{}}
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	k := keeper()
	for range 5 {
		if status, _, err := send(t, k, `{"digest":{"username":"ali","password":"open sesame"}}`, "GET", s.URL, ""); status != 200 || err != nil {
			t.Fatal(status, err)
		}
	}
	if got := fmt.Sprint(d.requests); got != "[false true true false true true false true]" {
		t.Error(got)
	}
}

func TestDigestThatCannotBe(t *testing.T) {
	for challenge, fails := range map[string]bool{
		`Digest realm="r", nonce="n", qop="auth-int"`:                true,
		`Digest realm="r", nonce="n", algorithm=SHA-512-256`:         true,
		`Digest realm="r", qop="auth"`:                               true,
		`Basic realm="r"`:                                            false, // it is the service's 401
		`Digest realm="r", nonce="n", qop="auth", algorithm="MD5" x`: false,
		``:          false,
		`,,,==";;"`: false,
	} {
		address := serve(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(401)
		})
		status, _, err := send(t, keeper(), `{"digest":{"username":"ali","password":"open sesame"}}`, "GET", address, "")
		var e *Error
		if fails != errors.As(err, &e) || !fails && status != 401 {
			t.Errorf("%s gives %d, %v", challenge, status, err)
		}
	}
	// Of several the strongest one is answered.
	best, _ := pickChallenge([]string{`Digest realm="a", nonce="1"`, `Digest realm="b", nonce="2", algorithm=SHA-256, Digest realm="c", nonce="3", algorithm=MD5`})
	if best == nil || best.realm != "b" {
		t.Errorf("%+v", best)
	}
}

func FuzzChallenges(f *testing.F) {
	f.Add(`Digest realm="a", nonce="b" , Basic x==`)
	f.Fuzz(func(t *testing.T, text string) {
		parseChallenges(text)
		pickChallenge([]string{text})
	})
}
