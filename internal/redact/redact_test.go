package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/expr"
)

func redactor(t testing.TB, text string) *Redactor {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]expr.Value{}
	for _, m := range v.Members() {
		all[m.Key] = m.Value
	}
	return NewRedactor(all)
}

// sealText seals a text.
func (r *Redactor) sealText(text string) string { return r.Seal(expr.String(text)).Str() }

func TestRedact(t *testing.T) {
	r := redactor(t, `{"a":"open sesame","b":{"user":"ada","keys":["abcdef","abcdefghi"],"n":12345678},"c":"open sesame","d":"short","e":"x&y \"z\"/1"}`)
	special := `x&y "z"/1`
	for text, want := range map[string]string{
		"":                                    "",
		"nothing here, not even ada or short": "nothing here, not even ada or short",
		"open sesame":                         "‹secret a›",
		"<open sesame><open sesame>":          "<‹secret a›><‹secret a›>",
		"open sesam":                          "open sesam",
		"abcdefghi abcdefgh abcdef":           "‹secret b› ‹secret b›gh ‹secret b›",
		"12345678":                            "12345678",
		"q=" + url.QueryEscape(special):       "q=‹secret e›",
		"/" + url.PathEscape(special):         "/‹secret e›",
		`{"k":"x&y \"z\"/1"}`:                 `{"k":"‹secret e›"}`,
		base64.StdEncoding.EncodeToString([]byte("open sesame")): "‹secret a›",
		hex.EncodeToString([]byte("open sesame")):                "‹secret a›",
		"OPEN SESAME": "‹secret a›",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	v, _ := expr.ParseJSON([]byte(`{"open sesame":["a open sesame",1,null,{"x":"abcdef"}],"same":"y"}`))
	if got := r.Redact(v).String(); got != `{"same":"y","‹secret a›":["a ‹secret a›",1,null,{"x":"‹secret b›"}]}` {
		t.Error(got)
	}
	plain, _ := expr.ParseJSON([]byte(`{"a":["b",{"c":1}]}`))
	if !r.Redact(plain).Same(plain) || !r.Seal(plain).Same(plain) {
		t.Error("a value without secrets is copied")
	}
}

// TestRedactInside: a service that echoes a header in base64 does not give away the secret in it, wherever it begins.
func TestRedactInside(t *testing.T) {
	const secret = "TopSecretValue42"
	r := NewRedactor(map[string]expr.Value{"s": expr.String(secret)})
	for _, before := range []string{"", "B", "Be", "Bearer ", "user:", "Basic x:"} {
		for _, after := range []string{"", "!", "\r\n", "\xff\xfe\xfd"} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				text := r.Text(encoding.EncodeToString([]byte(before + secret + after)))
				if !strings.Contains(text, "‹secret s›") {
					t.Errorf("%q and %q around it: %s", before, after, text)
				}
				rest := strings.ReplaceAll(text, "‹secret s›", "")
				if most := (len(before)+len(after))*8/6 + 6; len(rest) > most {
					t.Errorf("%q and %q around it: %s leaves %d characters", before, after, text, len(rest))
				}
			}
		}
	}
}

// TestRedactEscaped: a secret in an address or in a page is found in every way in which it is escaped there.
func TestRedactEscaped(t *testing.T) {
	const secret = `zq ss&w0rd,<Zq>/x"y+e=[ü]!`
	r := NewRedactor(map[string]expr.Value{"s": expr.String(secret)})
	asJSON, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse("http://shop.example/in/" + secret + "/x")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"the path of an address": address.EscapedPath(),
		"an address":             address.String(),
		"@uri of a filter":       "/in/" + strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
		"encodeURIComponent":     "/in/" + strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"), "%21", "!"),
		"a page":                 "<p>" + html.EscapeString(secret) + "</p>",
		"JSON of a page":         string(asJSON),
	} {
		if got := r.Text(text); !strings.Contains(got, "‹secret s›") || strings.Contains(got, "w0rd") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSeal(t *testing.T) {
	r := redactor(t, `{"a":"open sesame","b":{"user":"adalove","k/e~y›":["abcdef"]}}`)
	for text, want := range map[string]string{
		"Bearer open sesame!":  "Bearer ‹secret a›!",
		"adalove:abcdef":       "‹secret b/user›:‹secret b/k~1e~0y~2/0›",
		"‹secret a›":           "‹secret ›a›",
		"‹secret ›":            "‹secret ››",
		"‹secret":              "‹secret",
		"‹secret open sesame›": "‹secret ›‹secret a››",
	} {
		if got := r.sealText(text); got != want {
			t.Errorf("%q is sealed as %q, want %q", text, got, want)
		}
		if got, err := r.openText(want); err != nil || got != text {
			t.Errorf("%q is opened as %q, %v", want, got, err)
		}
	}
	var missing *MissingError
	if _, err := r.openText("x ‹secret gone›"); !errors.As(err, &missing) || missing.Ref != "gone" {
		t.Errorf("%v", err)
	}
	if _, err := r.openText("x ‹secret gone"); err == nil {
		t.Error("a reference without an end is opened")
	}
	// A secret that changed has its new value.
	if got, err := redactor(t, `{"a":"close sesame"}`).openText("Bearer ‹secret a›"); err != nil || got != "Bearer close sesame" {
		t.Errorf("%q, %v", got, err)
	}
	var none *Redactor
	v := expr.String("‹secret a›")
	if back, err := none.Open(none.Seal(v)); err != nil || !expr.Equal(back, v) {
		t.Errorf("%s, %v", back, err)
	}
}

// pieces make texts that look like secrets and references.
var pieces = []string{"‹secret ", "›", "‹", "secret ", "a", "b/x", "open sesame", "open ses", "ame", "‹secret a›", "abcdef", "defabc", "~2", "\"", " ", "‹secret", "é"}

func genText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "")
	})
}

func genValue(depth int) *rapid.Generator[expr.Value] {
	return rapid.Custom(func(t *rapid.T) expr.Value {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case kind == 0:
			return expr.Int(rapid.Int64().Draw(t, "int"))
		case kind <= 3 || depth == 0:
			return expr.String(genText().Draw(t, "text"))
		case kind == 4:
			return expr.Array(rapid.SliceOfN(genValue(depth-1), 0, 4).Draw(t, "items")...)
		}
		var members []expr.Member
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, expr.Member{Key: genText().Draw(t, "key"), Value: genValue(depth-1).Draw(t, "value")})
		}
		return expr.Object(members...)
	})
}

// TestSealIsUndone: what is sealed is opened again, whatever it looks like, and until then no text of a
// secret is in it that a reference does not spell itself.
func TestSealIsUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := map[string]expr.Value{}
		for range rapid.IntRange(0, 4).Draw(t, "secrets") {
			all[rapid.SampledFrom([]string{"a", "b", "c.d", "e"}).Draw(t, "name")] = genValue(2).Draw(t, "secret")
		}
		r := NewRedactor(all)
		v := genValue(3).Draw(t, "value")
		sealed := r.Seal(v)
		back, err := r.Open(sealed)
		if err != nil || !expr.Equal(back, v) {
			t.Fatalf("%s is sealed as %s and opened as %s, %v", v, sealed, back, err)
		}
		twice, err := r.Open(r.Seal(sealed))
		if err != nil || !expr.Equal(twice, sealed) {
			t.Fatalf("what is sealed already, %s, is opened as %s, %v", sealed, twice, err)
		}
	})
}

// TestSealedHasNoSecret: with values that no reference can spell.
func TestSealedHasNoSecret(t *testing.T) {
	all := map[string]expr.Value{}
	for i := range 5 {
		all[fmt.Sprintf("name%d", i)] = expr.String(fmt.Sprintf("VALUE#%d", i))
	}
	r := NewRedactor(all)
	values := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			text += genText().Draw(t, "text") + all[rapid.SampledFrom(values).Draw(t, "name")].Str()
		}
		for _, got := range []string{r.sealText(text), r.Text(text)} {
			if strings.Contains(got, "VALUE#") {
				t.Fatalf("%q becomes %q", text, got)
			}
		}
	})
}

// TestSieve: it never misses what is there.
func TestSieve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[ab]{6,9}`), 1, 5).Draw(t, "texts")
		s := newSieve(texts)
		text := rapid.StringMatching(`[abc]{0,40}`).Draw(t, "text")
		holds := slices.ContainsFunc(texts, func(one string) bool { return strings.Contains(text, one) })
		if holds && !s.holds(text) {
			t.Fatalf("%q is not found to hold one of %q", text, texts)
		}
	})
	s := newSieve([]string{"abcdef", "xyzxyzxyz"})
	for text, want := range map[string]bool{"": false, "abcde": false, "abcdef": true, "--xyzxyzxyz": true, "ab cd ef gh": false} {
		if s.holds(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// BenchmarkRedact: 100 secrets in a megabyte of text.
func BenchmarkRedact(b *testing.B) {
	all := map[string]expr.Value{}
	for i := range 100 {
		all[fmt.Sprintf("name%d", i)] = expr.String(base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%d a secret of some length %d", i*7919, i)))
	}
	r := NewRedactor(all)
	line := `{"time":"2026-11-16T12:00:00Z","level":"INFO","msg":"instance completed","id":"0b56f2","data":{"order":42,"customer":"Ada Lovelace"}}` + "\n"
	text := strings.Repeat(line, (1<<20)/len(line))
	for name, run := range map[string]func(string) string{"text": r.Text, "seal": r.sealText} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				run(text)
			}
		})
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			NewRedactor(all)
		}
	})
}

// TestMessage: the beginning of a secret is found where a message cuts it off.
func TestMessage(t *testing.T) {
	r := redactor(t, `{"a":"open sesame, it is late","b":"open s","c":"‹‹‹‹"}`)
	for text, want := range map[string]string{
		`string ("open sesam ...")`:          `string ("‹secret a› ...")`,
		`"open sesame, "… is no`:             `"‹secret a›"… is no`,
		"open sesame, it is lat…, twice op…": "‹secret a›…, twice op…",
		"open sesame, it is late":            "‹secret a›",
		"open sesame, it is late…":           "‹secret a›…",
		"open sesame and more":               "‹secret b›esame and more",
		"‹‹…":                                "‹secret c›…",
		"":                                   "",
	} {
		if got := r.Message(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if got := (*Redactor)(nil).Message("open s"); got != "open s" {
		t.Error(got)
	}
}

// TestOpenAfterRotation: what was sealed is opened with what the secret is by then, whatever that is.
func TestOpenAfterRotation(t *testing.T) {
	sealed := redactor(t, `{"a":"open sesame","b":{"key":"close sesame"}}`).sealText("<open sesame close sesame>")
	for now, want := range map[string]string{
		`{"a":"new sesame","b":{"key":"old sesame"}}`:     "<new sesame old sesame>",
		`{"a":"short","b":{"key":""}}`:                    "<short >",
		`{"a":"the same one","b":{"key":"the same one"}}`: "<the same one the same one>",
	} {
		if got, err := redactor(t, now).openText(sealed); err != nil || got != want {
			t.Errorf("with %s: %q, %v, want %q", now, got, err, want)
		}
	}
}
