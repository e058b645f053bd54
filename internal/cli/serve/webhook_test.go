package serve

import (
	"net/http"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestSign compares with a signature that openssl made:
// printf 'msg_1.1700000000.{"a":1}' | openssl dgst -sha256 -hmac 'hidden key' -binary | base64
func TestSign(t *testing.T) {
	h := http.Header{}
	sign(h, []byte("hidden key"), "msg_1", time.Unix(1700000000, 0), []byte(`{"a":1}`))
	if got, want := h.Get("Webhook-Signature"), "v1,c1t+79Jbijvw6XaYFa5yt5OxGXjry6IFTRoEuLfSnFk="; got != want || h.Get("Webhook-Id") != "msg_1" || h.Get("Webhook-Timestamp") != "1700000000" {
		t.Errorf("%v, want the signature %s", h, want)
	}
}

func TestSigningKey(t *testing.T) {
	for _, c := range []struct{ secret, want string }{
		{"plain text", "plain text"}, {"whsec_aGlkZGVuIGtleQ==", "hidden key"}, {"whsec_!", ""}, {"whsec_", ""}, {"", ""},
	} {
		w := webhookFlags{secret: "signing"}
		key, err := w.key(func(name string) (expr.Value, bool) { return expr.String(c.secret), name == "signing" })
		if string(key) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q: %q, %v", c.secret, key, err)
		}
	}
}
