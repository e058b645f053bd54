package engine

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
)

func TestExchangeText(t *testing.T) {
	for name, x := range map[string]*effect.Exchange{
		"success":   {Method: "GET", Address: "https://shop.example/orders/7", Status: 200},
		"failure":   {Method: "POST", Address: "https://shop.example/a b", Status: 422, Headers: []effect.Header{{Name: "Retry-After", Value: "30"}, {Name: "X", Value: "a: b"}}},
		"no answer": {Method: "PUT", Address: "http://127.0.0.1:1/", RequestHeaders: []effect.Header{{Name: "200"}, {Name: "Accept", Value: "a/b"}}},
		"redacted":  {Method: "GET", Address: "https://shop.example/", Status: 200, Headers: []effect.Header{{Name: "404"}, {Name: "Set-Cookie"}}, RequestHeaders: []effect.Header{{Name: "Authorization"}}},
	} {
		if got := ParseExchange(exchangeText(x)); !reflect.DeepEqual(got, x) {
			t.Errorf("%s: %+v, not %+v", name, got, x)
		}
	}
	if exchangeText(nil) != "" || ParseExchange("") != nil {
		t.Error("there is an exchange where there was none")
	}
	large := &effect.Exchange{Method: "GET", Address: strings.Repeat("a", 9999), Status: 500}
	for range 100 {
		large.Headers = append(large.Headers, effect.Header{Name: "N", Value: strings.Repeat("v", 100) + "\nforged: yes"})
		large.RequestHeaders = large.Headers
	}
	text := exchangeText(large)
	if len(text) > maxExchange || strings.Contains(text, "forged") {
		t.Errorf("the text has %d bytes: %.100q", len(text), text)
	}
}
