package log

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// logged is the record of a call.
func logged(t *testing.T, c effect.Call, args string) (map[string]string, effect.Outcome) {
	t.Helper()
	var err error
	if c.Args, err = expr.ParseJSON([]byte(args)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	outcome := New(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))).Invoke(t.Context(), c)
	record := map[string]string{}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &record); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		delete(record, "time")
	}
	return record, outcome
}

func TestMessages(t *testing.T) {
	for args, want := range map[string]string{
		`{"message":"hello","other":1}`: "hello",
		`{"message":{"a":[1]}}`:         `{"a":[1]}`,
		`{"message":null}`:              "null",
		`{"text":"hello"}`:              `{"text":"hello"}`,
		`{}`:                            "{}",
		`"plain"`:                       "plain",
		`{"message":"a\nlevel=ERROR msg=forged"}`: "a\nlevel=ERROR msg=forged",
	} {
		record, out := logged(t, effect.Call{Function: "print", Instance: "i1", Operation: "call:log:INFO"}, args)
		if out.Failure != nil || !out.None || len(record) != 5 || record["level"] != "INFO" || record["msg"] != Message ||
			record["function"] != "print" || record["instance"] != "i1" || record["message"] != want {
			t.Errorf("%s: %v %+v", args, record, out)
		}
	}
	if record, _ := logged(t, effect.Call{Function: "print", Operation: "call:log"}, `{}`); len(record) != 4 {
		t.Errorf("without an instance: %v", record)
	}
	var lines bytes.Buffer
	New(slog.New(slog.NewTextHandler(&lines, nil))).Invoke(t.Context(), effect.Call{Operation: "call:log", Args: expr.String("a\nlevel=ERROR")})
	if strings.Count(lines.String(), "\n") != 1 {
		t.Errorf("a message makes a line of its own: %s", lines.String())
	}
	if out := New(nil).Invoke(t.Context(), effect.Call{Operation: "call:log"}); out.Failure != nil {
		t.Errorf("without a log: %+v", out.Failure)
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[string]string{
		"call:log": "INFO", "call:log:INFO": "INFO", "call:log:trace": "DEBUG", "call:log:DEBUG": "DEBUG", "call:log:WARN": "WARN", "call:log:error": "ERROR",
	} {
		if record, out := logged(t, effect.Call{Operation: level}, `{}`); out.Failure != nil || record["level"] != want {
			t.Errorf("%s: %v %+v", level, record, out.Failure)
		}
	}
	record, out := logged(t, effect.Call{Function: "print", Operation: "call:log:LOUD"}, `{}`)
	if f := out.Failure; f == nil || f.Name != effect.NotFound || !strings.Contains(f.Detail, `"LOUD"`) || len(record) > 0 {
		t.Errorf("%v %+v", record, f)
	}
}

// TestLongMessagesAreCut: at a character, and it is said.
func TestLongMessagesAreCut(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("x", MaxMessage):       strings.Repeat("x", MaxMessage),
		strings.Repeat("x", MaxMessage+1):     strings.Repeat("x", MaxMessage) + "… (8193 bytes, limit log-message-bytes)",
		"x" + strings.Repeat("ü", MaxMessage): "x" + strings.Repeat("ü", MaxMessage/2-1) + "… (16385 bytes, limit log-message-bytes)",
	} {
		record, _ := logged(t, effect.Call{Operation: "call:log"}, expr.Object(expr.Member{Key: "message", Value: expr.String(text)}).String())
		if got := record["message"]; got != want || !utf8.ValidString(got) {
			t.Errorf("%d bytes become %d: …%s", len(text), len(got), got[len(got)-60:])
		}
	}
}
