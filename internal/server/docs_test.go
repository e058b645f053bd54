package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// step is a command of a document, and what it shows as its output.
type step struct {
	line   int
	words  []string
	output string
}

// readWalk takes the steps and the files out of a document: blocks of console begin
// commands with $, and a block of yaml begins with its file's name as a comment.
func readWalk(t *testing.T, file string) (steps []step, files map[string]string) {
	t.Helper()
	files = map[string]string{}
	block, name := "", ""
	for i, line := range strings.Split(read(t, file), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			block, name = strings.TrimPrefix(line, "```"), ""
		case block == "yaml" && name == "":
			name = strings.TrimPrefix(line, "# ")
		case block == "yaml":
			files[name] += line + "\n"
		case block == "console" && strings.HasPrefix(line, "$ "):
			steps = append(steps, step{line: i + 1, words: words(t, line[2:])})
		case block == "console":
			steps[len(steps)-1].output += line + "\n"
		}
	}
	return steps, files
}

// words takes a command line apart as a shell does, quotes included.
func words(t *testing.T, line string) []string {
	t.Helper()
	var out []string
	var b strings.Builder
	var quote rune // that is open
	in := false
	for _, c := range line {
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case c == quote:
			quote = 0
		case c == ' ' && quote == 0:
			if in {
				out = append(out, b.String())
			}
			b.Reset()
			in = false
		default:
			b.WriteRune(c)
			in = true
		}
	}
	if quote != 0 {
		t.Fatalf("a quote is not closed: %s", line)
	}
	return append(out, b.String())
}

// curl carries out the part of curl's command line that the document uses.
func (w *world) curl(dir string, words []string) (*http.Response, error) {
	if words[0] != "curl" {
		return nil, fmt.Errorf("%s is not curl", words[0])
	}
	method, address, body := "GET", "", ""
	header := http.Header{}
	for i := 1; i < len(words); i++ {
		switch word := words[i]; word {
		case "-s", "-sN":
		case "-X", "-H", "-d", "--data-binary":
			i++
			value := words[i]
			switch word {
			case "-X":
				method = value
				continue
			case "-H":
				name, text, _ := strings.Cut(value, ": ")
				header.Set(name, text)
				continue
			}
			if method, body = "POST", value; strings.HasPrefix(value, "@") {
				text, err := os.ReadFile(filepath.Join(dir, value[1:]))
				if err != nil {
					return nil, err
				}
				body = string(text)
			}
		default:
			address = word
		}
	}
	address = strings.Replace(address, "localhost:8081", strings.TrimPrefix(w.url, "http://"), 1)
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	return w.client.Do(r)
}

// TestWalkThrough runs the commands of docs/api.md as they stand there, and compares
// what they give with what it shows.
func TestWalkThrough(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	steps, files := readWalk(t, "../../docs/api.md")
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	order := ""
	for _, s := range steps {
		for i, word := range s.words {
			if strings.Contains(word, "$TICKET") || strings.Contains(strings.Join(s.words, " "), "/calls?") {
				ticket := w.parkedCall(order, "ship")
				word = strings.ReplaceAll(word, "$TICKET", ticket)
			}
			s.words[i] = strings.ReplaceAll(word, "$ORDER", order)
		}
		a, err := w.curl(dir, s.words)
		if err != nil {
			t.Fatalf("docs/api.md:%d: %v", s.line, err)
		}
		got := output(a.Body, s.output)
		_ = a.Body.Close()
		if !shown(got, s.output) {
			t.Fatalf("docs/api.md:%d gives\n%s\nand shows\n%s", s.line, got, s.output)
		}
		if strings.HasPrefix(got, `{"id":"key:`) && order == "" {
			order, _, _ = strings.Cut(strings.TrimPrefix(got, `{"id":"`), `"`)
		}
	}
	if len(steps) < 15 {
		t.Errorf("only %d commands", len(steps))
	}
}

// output reads an answer to its end, or a stream as far as it is shown.
func output(body io.Reader, want string) string {
	var b strings.Builder
	r := bufio.NewReader(body)
	for {
		line, err := r.ReadString('\n')
		b.WriteString(line)
		if err != nil || strings.HasPrefix(want, "id: ") && shown(b.String(), want) {
			return b.String()
		}
	}
}

// shown reports whether a text is what is shown of it, where … stands for anything.
func shown(got, want string) bool {
	parts := strings.Split(strings.TrimRight(want, "\n"), "…")
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	got = got[len(parts[0]):]
	for _, part := range parts[1:] {
		i := strings.Index(got, part)
		if i < 0 {
			return false
		}
		got = got[i+len(part):]
	}
	return len(parts) > 1 || strings.TrimSpace(got) == ""
}
