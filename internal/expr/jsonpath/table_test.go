package jsonpath

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// parseJSON reads JSON that the test knows to be valid.
func parseJSON(t testing.TB, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

// run compiles and evaluates with the default budget.
func run(c expr.Compiler, src string, data expr.Value) (expr.Result, error) {
	p, err := c.Compile(src)
	if err != nil {
		return expr.Result{}, err
	}
	b := expr.NewBudget()
	return p.Eval(data, &b)
}

// show writes a result as the tables do.
func show(r expr.Result, err error) string {
	var se *expr.SyntaxError
	switch {
	case errors.As(err, &se):
		return fmt.Sprintf("error %d: %s | %s", se.Offset+1, se.Msg, se.Hint)
	case err != nil:
		return "failure: " + err.Error()
	case r.List && r.Missing:
		return "none"
	case r.Missing:
		return "missing"
	case r.List:
		return "list " + r.Value.String()
	}
	return r.Value.String()
}

// tableLine is one line of a table.
type tableLine struct {
	at        string // file:line
	data      string
	src, want string
}

// readTable reads a file of testdata; paths.txt explains the format.
func readTable(t testing.TB, name string) []tableLine {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []tableLine
	data := "null"
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if d, ok := strings.CutPrefix(line, "data "); ok {
			data = d
			continue
		}
		cut := strings.LastIndex(line, "=> ")
		if e := strings.LastIndex(line, "=> error "); e >= 0 {
			cut = e
		}
		if cut < 0 {
			t.Fatalf("%s:%d: no =>", name, i+1)
		}
		// the blanks before => make the columns of the table
		lines = append(lines, tableLine{fmt.Sprintf("%s:%d", name, i+1), data, strings.TrimRight(line[:cut], " "), strings.TrimSpace(line[cut+3:])})
	}
	return lines
}

// TestPaths runs the tables of paths, filters and functions.
func TestPaths(t *testing.T) {
	for _, name := range []string{"paths.txt", "filters.txt", "functions.txt"} {
		lines := readTable(t, name)
		if len(lines) < 20 {
			t.Fatalf("%s has %d lines", name, len(lines))
		}
		for _, l := range lines {
			data := parseJSON(t, l.data)
			got := show(run(Compiler{}, l.src, data))
			if want, ok := strings.CutPrefix(l.want, "error "); ok {
				if !strings.HasPrefix(got, "error "+want+":") {
					t.Errorf("%s: %s\n got %s", l.at, l.src, got)
				}
				continue
			}
			if got != l.want {
				t.Errorf("%s: %s\n got %s\nwant %s", l.at, l.src, got, l.want)
			}
			if data.String() != parseJSON(t, l.data).String() {
				t.Fatalf("%s: %s changed the data", l.at, l.src)
			}
		}
	}
}

// TestErrorsSayWhereAndWhatInstead runs the table of errors.
func TestErrorsSayWhereAndWhatInstead(t *testing.T) {
	for _, l := range readTable(t, "errors.txt") {
		column, rest, _ := strings.Cut(strings.TrimPrefix(l.want, "error "), ": ")
		at := strings.LastIndex(rest+" ", " | ")
		if at < 0 {
			t.Fatalf("%s: no hint", l.at)
		}
		msg, hint := rest[:at], rest[at+2:]
		_, err := Compiler{}.Compile(l.src)
		var se *expr.SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%s: %s: error %v", l.at, l.src, err)
			continue
		}
		if want, err := strconv.Atoi(column); err != nil || se.Offset+1 != want ||
			!strings.Contains(se.Msg, strings.TrimSpace(msg)) || !strings.Contains(se.Hint, strings.TrimSpace(hint)) {
			t.Errorf("%s: %s\n got %s\nwant %s", l.at, l.src, show(expr.Result{}, se), l.want)
		}
		if _, err := Describe(l.src); err == nil {
			t.Errorf("%s: Describe accepts %s", l.at, l.src)
		}
	}
}
