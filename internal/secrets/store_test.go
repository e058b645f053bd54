package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/redact"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func get(t *testing.T, s *Store, name string) string {
	t.Helper()
	v, ok := s.Get(name)
	if !ok {
		return "absent"
	}
	return v.String()
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	yaml := write(t, filepath.Join(dir, "a.yaml"), "one: from-yaml\nlogin: {username: ada, password: open sesame}\nboth: first\n")
	json := write(t, filepath.Join(dir, "b.json"), `{"two": ["from-json"], "both": "second"}`)
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "three"), "text with an end\n")
	write(t, filepath.Join(folder, "three.json"), ` {"a": "b"} `+"\n")
	write(t, filepath.Join(folder, "brace"), "{not JSON\n\n")
	write(t, filepath.Join(folder, "number"), "12345678\r\n")
	write(t, filepath.Join(folder, ".hidden"), "\xff")
	if err := os.Mkdir(filepath.Join(folder, "sub dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_SECRET_four", "from-env")
	t.Setenv("TEST_SECRET_both", `{"third": true}`)
	s, warnings, err := Open(File(yaml), File(json), Dir(folder), Env("TEST_SECRET_"))
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	for name, want := range map[string]string{
		"one": `"from-yaml"`, "login": `{"password":"open sesame","username":"ada"}`, "two": `["from-json"]`,
		"three": `"text with an end"`, "three.json": `{"a":"b"}`, "brace": `"{not JSON\n"`, "number": `"12345678"`,
		"four": `"from-env"`, "both": `{"third":true}`, ".hidden": "absent", "sub dir": "absent", "five": "absent",
	} {
		if got := get(t, s, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := strings.Join(s.Snapshot().Names(), " "); got != "both brace four login number one three three.json two" {
		t.Error(got)
	}
	if got := redact.Find(s.Get).Object([]string{"two", "none", "one"}).String(); got != `{"one":"from-yaml","two":["from-json"]}` {
		t.Error(got)
	}
	var absent *Store
	if !s.Holds(expr.Array(expr.String("a from-yaml"))) || s.Holds(expr.String("from")) || absent.Holds(expr.String("from-yaml")) {
		t.Error("what holds a secret is not known")
	}
	if _, ok := absent.Get("x"); ok || absent.Redactor().Text("x") != "x" {
		t.Error("no store has secrets")
	}
}

// TestWrongSources: errors say where, and never a value.
func TestWrongSources(t *testing.T) {
	dir := t.TempDir()
	named := filepath.Join(dir, "named")
	binary := filepath.Join(dir, "binary")
	large := filepath.Join(dir, "large")
	for _, d := range []string{named, binary, large} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(named, "a b"), "hush-hush")
	write(t, filepath.Join(binary, "key"), "hush-hush\xff")
	write(t, filepath.Join(large, "key"), strings.Repeat("hush-hush", MaxBytes/8))
	t.Setenv("ODD_SECRET_a b", "hush-hush")
	many := ""
	for i := range MaxCount + 1 {
		many += fmt.Sprintf("n%d: hush-hush\n", i)
	}
	for name, c := range map[string]struct {
		source Source
		says   string
	}{
		"no file":   {File(filepath.Join(dir, "none")), "none"},
		"no folder": {Dir(filepath.Join(dir, "none")), "none"},
		"syntax":    {File(write(t, filepath.Join(dir, "1.yaml"), "a: \"hush-hush\n")), "1.yaml:"},
		"tabs":      {File(write(t, filepath.Join(dir, "2.json"), `{"a": hush-hush}`)), "2.json:1:"},
		"alias":     {File(write(t, filepath.Join(dir, "8.yaml"), "a: *hush-hush\n")), "8.yaml:1:"},
		"tag":       {File(write(t, filepath.Join(dir, "9.yaml"), "a: !hush-hush x\n")), "9.yaml:1:"},
		"list":      {File(write(t, filepath.Join(dir, "3.yaml"), "- hush-hush\n")), "must be an object"},
		"empty":     {File(write(t, filepath.Join(dir, "4.yaml"), "")), "4.yaml"},
		"twice":     {File(write(t, filepath.Join(dir, "5.yaml"), "a: hush-hush\na: hush-hush2\n")), "5.yaml:2:"},
		"name":      {File(write(t, filepath.Join(dir, "6.yaml"), "a/b: hush-hush\n")), `6.yaml:1:1: "a/b" cannot be`},
		"file name": {Dir(named), `"a b" cannot be`},
		"binary":    {Dir(binary), "base64"},
		"large":     {Dir(large), "limit secret-bytes"},
		"many":      {File(write(t, filepath.Join(dir, "7.yaml"), many)), "limit secret-count"},
		"prefix":    {Env(""), "prefix"},
		"variable":  {Env("ODD_SECRET_"), "variable ODD_SECRET_a b"},
	} {
		_, _, err := Open(c.source)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s gives %v, want %q", name, err, c.says)
		}
	}
}

func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "a.yaml"), "pin: 12345678\nshort: 123\ndeep: {list: [1234567]}\n")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := Open(File(file))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(warnings, "\n")
	for _, want := range []string{"chmod o-r", `"pin" has a number`, `"deep" has a number`} {
		if !strings.Contains(got, want) && (permissions || want != "chmod o-r") {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.Chmod(write(t, filepath.Join(folder, name), "hush-hush"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, all, err := Open(Dir(folder)); err != nil || permissions && (len(all) != 1 || !strings.Contains(all[0], folder)) {
		t.Errorf("of a folder: %q, %v", all, err)
	}
	if strings.Contains(got, "short") || strings.Contains(got, "12345678") {
		t.Error(got)
	}
}

// TestChanges: files and folders are read again, also when Kubernetes changes a link; what cannot be
// read leaves what there was.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	mount := func(version, text string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, version, "token"), text)
		next := filepath.Join(dir, "..tmp")
		if err := os.Symlink(version, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	mount("..1", "old-value")
	if err := os.Symlink(filepath.Join("..data", "token"), filepath.Join(dir, "token")); err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(t.TempDir(), "s.yaml"), "a: old-value\n")
	s, _, err := Open(Dir(dir), File(file))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s.now = func() time.Time { return now }
	var told []string
	s.OnError = func(err error) { told = append(told, err.Error()) }
	before := s.Snapshot()
	mount("..2", "new-value")
	if got := get(t, s, "token"); got != `"old-value"` {
		t.Errorf("at once it is %s", got)
	}
	now = now.Add(lookAgain)
	if got := get(t, s, "token"); got != `"new-value"` {
		t.Errorf("after a second it is %s", got)
	}
	if v, _ := before.Get("token"); v.Str() != "old-value" {
		t.Error("a snapshot changed")
	}
	if s.Redactor().Text("a new-value") != "a ‹secret token›" {
		t.Error("the redactor is that of before")
	}
	write(t, file, "a: [broken\n")
	for range 3 {
		now = now.Add(lookAgain)
		if got := get(t, s, "a"); got != `"old-value"` {
			t.Errorf("of a broken file: %s", got)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "s.yaml") {
		t.Errorf("told %q", told)
	}
	write(t, file, "a: good-value\n")
	now = now.Add(lookAgain)
	if got := get(t, s, "a"); got != `"good-value"` {
		t.Errorf("of a corrected file: %s", got)
	}
}

// TestLog: whatever is logged, no value of a secret is in it.
func TestLog(t *testing.T) {
	t.Setenv("LOG_SECRET_key", `{"a":"hush \"hush\"","b":"MIIsecret\nMIIother"}`)
	s, _, err := Open(Env("LOG_SECRET_"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for name, inner := range map[string]slog.Handler{"text": slog.NewTextHandler(&out, nil), "json": slog.NewJSONHandler(&out, nil)} {
		out.Reset()
		secret := `hush "hush"`
		log := slog.New(Handler(inner, s)).With("with", secret).WithGroup("g")
		log.Info("message "+secret, "text", secret, "error", errors.New("of "+secret), "bytes", []byte(secret),
			"value", expr.String(secret), "struct", struct{ A string }{secret}, "map", map[string]string{"x": secret},
			slog.Group("in", "deep", "MIIother"), secret, 1, "number", 7, "later", later(secret))
		log.Debug(secret)
		if got := out.String(); strings.Contains(got, "hush") || strings.Contains(got, "MII") {
			t.Errorf("%s: %s", name, got)
		}
		if !strings.Contains(out.String(), "secret key") || !strings.Contains(out.String(), "number") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
	if Handler(slog.DiscardHandler, nil) != slog.DiscardHandler {
		t.Error("without secrets there is nothing to redact")
	}
}

func TestWriter(t *testing.T) {
	t.Setenv("WRITE_SECRET_key", "hush-hush")
	s, _, err := Open(Env("WRITE_SECRET_"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	text := "log: hush-hush\n"
	if n, err := io.WriteString(Writer(&out, s), text); n != len(text) || err != nil || out.String() != "log: ‹secret key›\n" {
		t.Errorf("%d, %v: %s", n, err, out.String())
	}
	if Writer(&out, nil) != io.Writer(&out) {
		t.Error("without secrets there is nothing to redact")
	}
}

type later string

func (l later) LogValue() slog.Value { return slog.StringValue(string(l)) }

func TestInvoker(t *testing.T) {
	t.Setenv("CALL_SECRET_key", "hush-hush")
	s, _, err := Open(Env("CALL_SECRET_"))
	if err != nil {
		t.Fatal(err)
	}
	echo := effect.Func(func(_ context.Context, c effect.Call) effect.Outcome {
		if c.Function == "good" {
			return effect.Outcome{Value: c.Args}
		}
		return effect.Fail(effect.Failure{Name: "N", Title: "hush-hush", Detail: "of aHVzaC1odXNo", Data: c.Args})
	})
	args := expr.Object(expr.Member{Key: "k", Value: expr.String("a hush-hush")})
	if out := Invoker(echo, s).Invoke(context.Background(), effect.Call{Function: "good", Args: args}); !expr.Equal(out.Value, args) {
		t.Errorf("%s", out.Value)
	}
	f := Invoker(echo, s).Invoke(context.Background(), effect.Call{Args: args}).Failure
	if f.Name != "N" || f.Title != "‹secret key›" || f.Detail != "of ‹secret key›" || f.Data.String() != `{"k":"a ‹secret key›"}` {
		t.Errorf("%+v", f)
	}
}
