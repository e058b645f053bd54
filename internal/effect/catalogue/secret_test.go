package catalogue

import (
	"encoding/base64"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
)

func resolved(values ...string) *secrets {
	return &secrets{values: values}
}

// A secret is blotted out in every form in which it may come back.
func TestSecretsInAllForms(t *testing.T) {
	s := resolved("p\"ass\\word<>&x")
	r := s.replacer()
	for _, form := range []string{
		"p\"ass\\word<>&x",
		expr.String("p\"ass\\word<>&x").String(),
		"%7B%22k%22%3A%22p%5C%22ass%5C%5Cword%3C%3E%26x%22%7D",
	} {
		if got := r.Replace(form); !strings.Contains(got, blot) || strings.Contains(got, "ass") {
			t.Errorf("%s becomes %s", form, got)
		}
	}
	odd := "~~?secret?>>~" // in base64 both alphabets differ, and it is padded
	r = resolved(odd).replacer()
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		form := encoding.EncodeToString([]byte(odd))
		if got := strings.TrimRight(r.Replace(form), "="); got != blot {
			t.Errorf("%s becomes %s", form, got)
		}
	}
}

// Programs tell errors by lines, and the beginning of what they tell may be cut off.
func TestSecretsInErrorsOfCommands(t *testing.T) {
	s := resolved("-----BEGIN KEY\nMIIsecretsecret")
	if got := s.errors(exec.Result{Stderr: "-----BEGIN KEY\nMIIsecretsecret"}); strings.Contains(got, "MII") {
		t.Errorf("got %q", got)
	}
	if got := s.errors(exec.Result{Stderr: "oops: MIIsecretsecret"}); got != "oops: "+blot {
		t.Errorf("got %q", got)
	}
	long := resolved("hunter22hunter33hunter44")
	if got := long.errors(exec.Result{Stderr: "ter33hunter44" + strings.Repeat("x", 100), Cut: true}); strings.Contains(got, "hunter") {
		t.Errorf("got %q", got)
	}
}

// TestSecretsInHeaders: what is noted of a call has no value of a header with a secret in it, whoever sent it.
func TestSecretsInHeaders(t *testing.T) {
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("X-Request-Id", "of "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "text/plain")
	}))
	t.Cleanup(s.Close)
	x := invoke(t, options(t), "{http: {url: "+s.URL+"/a, headers: {Accept: text/plain, X-Key: '${env:TOKEN}', User-Agent: 'me ${env:TOKEN}'}, authentication: {bearer: {token: '${env:TOKEN}'}}}}", `{}`).Exchange
	if x == nil {
		t.Fatal("nothing is noted")
	}
	for _, want := range []effect.Header{{Name: "Accept", Value: "text/plain"}, {Name: "X-Key"}, {Name: "User-Agent"}, {Name: "Authorization"}} {
		if !slices.Contains(x.RequestHeaders, want) {
			t.Errorf("the request has %+v, without %+v", x.RequestHeaders, want)
		}
	}
	for _, want := range []effect.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "X-Request-Id"}} {
		if !slices.Contains(x.Headers, want) {
			t.Errorf("the answer has %+v, without %+v", x.Headers, want)
		}
	}
}
