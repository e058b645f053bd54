package wfx_test

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// TestOtherSites walks every operation × origin × side, with and without tokens: a preflight
// allows a request exactly where the request is not refused for its origin, and no answer can
// be read by a page that may not send the request.
func TestOtherSites(t *testing.T) {
	const trusted = "https://board.example"
	_, hash := server.NewToken()
	tokens, err := server.ParseTokens([]byte(`{name: a, role: admin, hash: "` + hash + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, withTokens := range []bool{false, true} {
		w := newWorld(t, func(c *server.Config, _ *engine.Config) {
			c.Origins = []string{trusted}
			if withTokens {
				c.Tokens, c.Client = tokens, server.Devices{Tokens: tokens}.Client
			}
		})
		for _, s := range []*side{w.south, w.north} {
			for _, origin := range []string{trusted, s.url, "https://evil.example", "http://127.0.0.1:1", "null"} {
				want := ""
				switch {
				case withTokens:
					want = "*"
				case origin == trusted || origin == s.url:
					want = origin
				}
				for _, op := range theContract().Operations() {
					path := strings.NewReplacer("{id}", "x", "{name}", "x").Replace(op.Path)
					if op.ID == "followJobs" {
						path += "?actions=NOSUCH" // else it would not end
					}
					for _, site := range []string{"", "cross-site"} {
						if site != "" && origin == s.url {
							continue // no browser says so
						}
						headers := []string{"Origin", origin, "Sec-Fetch-Site", site}
						may := s.do("OPTIONS", path, "", append(headers, "Access-Control-Request-Method", op.Method)...).want(204)
						allowed := may.header.Get("Access-Control-Allow-Origin") == want && want != "" &&
							strings.Contains(may.header.Get("Access-Control-Allow-Methods"), op.Method) &&
							strings.Contains(may.header.Get("Access-Control-Allow-Headers"), "X-Response-Filter")
						a := s.do(op.Method, path, "", headers...)
						refused := a.status == 403 && strings.Contains(a.text, "cross-origin")
						if allowed == refused || allowed != (want != "") {
							t.Errorf("%s %s from %s, tokens %v: the preflight says %v, the request is refused: %v (%d %s)",
								op.Method, path, origin, withTokens, allowed, refused, a.status, a.text)
						}
						if got := a.header.Get("Access-Control-Allow-Origin"); got != want && !(withTokens && a.status == 401) {
							t.Errorf("%s %s from %s, tokens %v: Access-Control-Allow-Origin is %q, want %q", op.Method, path, origin, withTokens, got, want)
						}
						if want == "" && may.header.Get("Access-Control-Allow-Methods")+may.header.Get("Access-Control-Allow-Origin") != "" {
							t.Errorf("%s %s from %s: the preflight says %v", op.Method, path, origin, may.header)
						}
						asked++
					}
				}
			}
			a := s.get("/health")
			if a.header.Get("Vary") != "Origin" || a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("without an origin: %v", a.header)
			}
			a = s.do("PUT", "/jobs/x/status", "{}", "Sec-Fetch-Site", "cross-site") // a form, or an old browser
			if refused := strings.Contains(a.text, "cross-origin"); refused == withTokens {
				t.Errorf("without an origin, tokens %v: %d %s", withTokens, a.status, a.text)
			}
		}
	}
	if want := 2 * 2 * 9 * len(theContract().Operations()); asked != want {
		t.Errorf("%d were asked, want %d", asked, want)
	}
}
