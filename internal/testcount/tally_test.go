package main

import (
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, in, out, total string
	}{
		{
			name: "tests and subtests count, output of what passed is dropped",
			in: `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"ok  \tp\t(cached)\n"}
{"Action":"pass","Package":"p","Elapsed":0.25}
{"Action":"skip","Package":"q"}
`,
			out:   "ok   p (2 passed, cached, 1 skipped)\n-    q (no tests)\n",
			total: "2 passed, 0 failed",
		},
		{
			name: "a failing test shows its name, then its output",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA/x","Output":"    a_test.go:9: got 1\n"}
{"Action":"output","Package":"p","Test":"TestA/x","Output":"    --- FAIL: TestA/x (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA/x"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":1.5}
`,
			out:   "--- FAIL: TestA/x (0.00s)\n    a_test.go:9: got 1\n--- FAIL: TestA (0.00s)\nFAIL p (1 passed, 2 failed, 1.5s)\n",
			total: "1 passed, 2 failed",
		},
		{
			name: "a package that does not build is one failure",
			in: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"p/a.go:1:1: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
`,
			out:   "p/a.go:1:1: undefined: x\nFAIL p (0 passed, 1 failed, 0.0s)\n",
			total: "0 passed, 1 failed",
		},
		{
			name: "a package that stops without a word is one failure",
			in: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: oh\n"}
`,
			out:   "panic: oh\nFAIL p (0 passed, 1 failed, 0.0s)\n",
			total: "0 passed, 1 failed",
		},
		{
			name:  "what is not an event is shown",
			in:    "go: something to say\n",
			out:   "go: something to say\n",
			total: "0 passed, 0 failed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var total tally
			var out strings.Builder
			if err := newReport(&total, &out, time.Now).read(strings.NewReader(c.in)); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.out {
				t.Errorf("got\n%s\nwant\n%s", out.String(), c.out)
			}
			if total.String() != c.total {
				t.Errorf("got %q, want %q", total, c.total)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	var out strings.Builder
	var now time.Time
	r := newReport(&tally{}, &out, func() time.Time { return now })
	r.progress() // the first interval may have printed something
	r.progress()
	r.line([]byte(`{"Action":"start","Package":"p"}`))
	r.line([]byte(`{"Action":"run","Package":"p","Test":"TestA"}`))
	r.line([]byte(`{"Action":"pass","Package":"p","Test":"TestA"}`))
	r.line([]byte(`{"Action":"run","Package":"p","Test":"TestB"}`))
	now = now.Add(40 * time.Second)
	r.progress()
	r.line([]byte(`{"Action":"skip","Package":"q"}`))
	r.progress() // q ended
	want := "…    building\n…    p: 1 passed, in TestB for 40s\n-    q (no tests)\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
