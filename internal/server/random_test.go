package server

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestRandomRequests: whatever is sent, the answer adheres to the contract, and is never
// a fault of the server.
func TestRandomRequests(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello", "pay", "await", "onorder")
		w.answers.put("charge", failing("CardDeclined"))
		ids := []string{w.start("hello", `{}`), w.start("pay", `{"amount":1}`), w.start("await", `{"order":"1"}`), "none", "a:1.2", "%2F", "%00", "é"}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		one := func(list ...string) string { return list[r.IntN(len(list))] }
		for range 600 {
			rt := routes[r.IntN(len(routes))]
			if rt.operation == "stream" {
				continue
			}
			path := rt.path
			for _, p := range [][]string{{"{definition}", one("hello", "pay", "await", "onorder", "none", "%20")}, {"{instance}", one(ids...)}, {"{ticket}", one("1.1", "2.1", "x", "99999999999.1")}, {"{code}", one("not-found", "x")}} {
				path = strings.ReplaceAll(path, p[0], p[1])
			}
			query := url.Values{}
			for _, name := range append(rt.params, "nonsense") {
				if r.IntN(3) == 0 && (name != "nonsense" || r.IntN(10) == 0) {
					query.Set(name, one("", "1", "0", "-1", "1.0", "true", "false", "all", "text", "oldest", "1ms", "x y", "status:failed", "age:>1h", "-bank tag:a=b", "\x00", "\xff", strings.Repeat("a", 5000), "aDE", "bzE"))
				}
			}
			if len(query) > 0 {
				path += "?" + query.Encode()
			}
			body := ""
			headers := []string{"Idempotency-Key", one("a", "b", "c d", "\"")}
			if rt.method == "POST" {
				body = one("", "{}", "[]", "null", "{", `{"a":1}`, `{"output":1}`, `{"output":{}}`, `{"data":{"amount":2}}`, `{"data":null}`, `{"input":{"x":1}}`, `{"version":"1.0"}`, `{"reason":"x"}`, `{"compensate":true}`,
					`{"result":null}`, `{"error":{"name":"E"}}`, `{"specversion":"1.0","id":"1","source":"s","type":"ordered","orderid":"1"}`, `[{"specversion":"1.0","id":"2","source":"s","type":"paid","data":1}]`, "\xff\xfe", greeting("1.0", "x"), strings.Repeat("[", 2000))
				headers = append(headers, "Content-Type", one("application/json", "application/json", "application/yaml", "application/cloudevents+json", "application/cloudevents-batch+json", "text/plain", ";;", ""))
			}
			if r.IntN(4) == 0 {
				headers = append(headers, "If-Match", one(`"1"`, `"2"`, "*", "x"))
			}
			if r.IntN(6) == 0 {
				headers = append(headers, "ce-specversion", one("1.0", "2"), "ce-id", one("9", "%41"), "ce-source", "s", "ce-type", one("paid", "%"))
			}
			a := w.do(rt.method, path, body, headers...)
			if a.status >= 500 {
				t.Errorf("%s %.200s %q %.200q gives %d %s", rt.method, path, headers, body, a.status, a.text)
			}
			if id := a.str("id"); id != "" && rt.operation == "startInstance" {
				ids = append(ids, id)
			}
		}
	})
}
