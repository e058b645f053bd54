package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// programs are what the test binary does as a server, by the variable MCP_TEST.
var programs = map[string]func(){
	"counterpart": func() { _ = counterpart().Run(context.Background(), &sdk.StdioTransport{}) },
	"exit": func() {
		fmt.Fprintln(os.Stderr, "starting\nno configuration")
		os.Exit(3)
	},
	"never":   func() { select {} },
	"deaf":    func() { answerFirst(); select {} },
	"noisy":   func() { fmt.Println("starting…"); select {} },
	"huge":    func() { answerFirst(); flood(strings.Repeat("x", 1<<16)) },
	"endless": func() { answerFirst(); flood(strings.Repeat(progress+"\n", 100)) },
	"quits":   func() { answerFirst() },
	"wrong":   func() { answerFirst(); fmt.Println(`{"jsonrpc":"2.0","id":9,"result":{}}`); select {} },
	"env": func() {
		in := answerFirst()
		for in.Scan() {
			if strings.Contains(in.Text(), `"tools/list"`) {
				env, _ := json.Marshal(append(os.Environ(), os.Args[1:]...))
				fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":%s}\n", env)
			}
		}
	},
}

// answerFirst answers initialize.
func answerFirst() *bufio.Scanner {
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`)
	return in
}

func flood(text string) {
	for err := error(nil); err == nil; {
		_, err = fmt.Print(text)
	}
}

// The test binary is the program too.
func TestMain(m *testing.M) {
	if program := programs[os.Getenv("MCP_TEST")]; program != nil {
		go func() { // one that its test forgot
			<-time.After(5 * time.Minute)
			os.Exit(9)
		}()
		program()
		return
	}
	os.Exit(m.Run())
}

func stdio(program string) string {
	return fmt.Sprintf(`,"transport":{"stdio":{"command":%q,"arguments":["a b","$HOME"],"environment":{"GORACE":"atexit_sleep_ms=0","MCP_TEST":%q}}}}`, os.Args[0], program)
}

// TestMethodsOverStdio: every method, with a program.
func TestMethodsOverStdio(t *testing.T) {
	i := New(client(t, effecthttp.Limits{}), true)
	for args, want := range methodCases {
		if out := called(t, i, "call:mcp&", "", args+stdio("counterpart")); out.Failure != nil || !strings.Contains(out.Value.String(), want) {
			t.Errorf("%s:\n got %s %+v\nwant %s", args, out.Value, out.Failure, want)
		}
	}
	f := called(t, i, "call:mcp&", "", `{"method":"tools/call","parameters":{"name":"fail"}`+stdio("counterpart")).Failure
	if f == nil || f.Code != CodeTool || f.Detail != "the kettle is empty" {
		t.Errorf("%+v", f)
	}
}

// TestEnvironment: a program gets its arguments as they are, what the call gives it, PATH, a mark, and nothing else.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	i := New(client(t, effecthttp.Limits{}), true)
	out := called(t, i, "call:mcp&", "", `{"method":"tools/list"`+stdio("env"))
	want := fmt.Sprintf(`["PATH=%s","GORACE=atexit_sleep_ms=0","MCP_TEST=env","LOCKSTEP_SESSION=‹random›","a b","$HOME"]`, os.Getenv("PATH"))
	got := regexp.MustCompile(`(LOCKSTEP_SESSION=)\w+`).ReplaceAllString(out.Value.String(), "${1}‹random›")
	if out.Failure != nil || got != want {
		t.Errorf("%s %+v\nwant %s", out.Value, out.Failure, want)
	}
}

// TestHostilePrograms: each is a failure that says why, within the limits.
func TestHostilePrograms(t *testing.T) {
	for program, want := range map[string]string{
		"exit":    "unreachable program NAME: the program ended before the answer (no configuration)",
		"quits":   "unreachable program NAME: the program ended before the answer",
		"noisy":   "invalid-response program NAME: a message is not JSON",
		"huge":    "response-too-large program NAME: the command wrote more than",
		"endless": "response-too-large program NAME:",
		"wrong":   "invalid-response program NAME: an answer is for the request 9, and not for 2",
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			f := called(t, New(client(t, effecthttp.Limits{}), true), "call:mcp&", "", `{"method":"tools/list"`+stdio(program)).Failure
			want := strings.Replace(want, "NAME", fmt.Sprintf("%q", os.Args[0]), 1)
			if f == nil || f.Name != effect.Runtime || !strings.HasPrefix(f.Code+" "+f.Detail, want) {
				t.Errorf("got %+v\nwant %s", f, want)
			}
		})
	}
	for _, program := range []string{"never", "deaf"} {
		args := fmt.Sprintf(`{"method":"tools/call","timeout":"PT0.3S","parameters":{"name":"x","arguments":{"a":%q}}`, strings.Repeat("x", 1<<20)) + stdio(program)
		f := called(t, New(client(t, effecthttp.Limits{}), true), "call:mcp&", "", args).Failure
		if f == nil || f.Code != effecthttp.CodeTimeout || !strings.Contains(f.Detail, "within 300ms (its timeout)") {
			t.Errorf("%s: %+v", program, f)
		}
	}
}

// TestProgramsWaitForAPlace: a call without one starts nothing, and ends with its context.
func TestProgramsWaitForAPlace(t *testing.T) {
	i := New(client(t, effecthttp.Limits{}), true)
	for range maxPrograms {
		i.places <- struct{}{}
	}
	call := effect.Call{Function: "f", Operation: "call:mcp&", Args: value(t, `{"method":"tools/list"`+stdio("counterpart"))}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := i.Invoke(t.Context(), call).Wait(ctx).Failure; f == nil || f.Code != effecthttp.CodeCancelled {
		t.Errorf("without a place: %+v", f)
	}
	done := make(chan effect.Outcome)
	go func() { done <- i.Invoke(t.Context(), call).Wait(t.Context()) }()
	<-i.places
	if out := <-done; out.Failure != nil || len(i.places) != maxPrograms-1 {
		t.Errorf("with a place: %+v; %d are taken", out.Failure, len(i.places))
	}
}

// TestPrograms: what cannot be started.
func TestPrograms(t *testing.T) {
	i := New(client(t, effecthttp.Limits{}), true)
	for transport, want := range map[string]string{
		`{"command":"/no/such/program"}`:            `unreachable program "/no/such/program": the program cannot be started`,
		`{"command":""}`:                            `invalid-arguments call "f": transport.stdio.command must be the name of a program`,
		`{"command":"x","arguments":"y"}`:           `invalid-arguments call "f": transport.stdio.arguments must be an array`,
		`{"command":"x","arguments":[1]}`:           `invalid-arguments call "f": transport.stdio.arguments[0] must be a text`,
		`{"command":"x","environment":{"A=B":"c"}}`: `invalid-arguments call "f": transport.stdio.environment: "A=B"`,
		`{"command":"x","environment":[]}`:          `invalid-arguments call "f": transport.stdio.environment must be an object`,
	} {
		f := called(t, i, "call:mcp&", "", `{"method":"tools/list","transport":{"stdio":`+transport+`}}`).Failure
		if f == nil || f.Name != effect.Runtime || !strings.HasPrefix(f.Code+" "+f.Detail, want) {
			t.Errorf("%s:\n got %+v\nwant %s", transport, f, want)
		}
	}
	f := called(t, i, "call:mcp", "", `{"method":"tools/list"`+stdio("never")).Failure // not marked as one that runs a program
	if f == nil || f.Code != effecthttp.CodeRefused {
		t.Errorf("%+v", f)
	}
}

// TestSecretsInCommandLine: everybody on the machine can read it.
func TestSecretsInCommandLine(t *testing.T) {
	c, err := effecthttp.New(effecthttp.Options{Holds: func(v expr.Value) bool { return strings.Contains(v.String(), "s3cret") }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for transport, want := range map[string]string{
		`{"command":"/bin/s3cret"}`:                    `call "f": transport.stdio.command holds a secret, which lists of processes would show`,
		`{"command":"x","arguments":["a","-ps3cret"]}`: `call "f": transport.stdio.arguments[1] holds a secret, which lists of processes would show; pass it by environment`,
	} {
		f := called(t, New(c, true), "call:mcp&", "", `{"method":"tools/list","transport":{"stdio":`+transport+`}}`).Failure
		if f == nil || f.Code != effecthttp.CodeArguments || f.Detail != want {
			t.Errorf("%s:\n got %+v\nwant %s", transport, f, want)
		}
	}
}
