//go:build unix

package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// page is a document with what it asks a reader to do.
type page struct {
	path  string // from the root of the repository
	lines []string
	steps []step
}

// step is a command with its output, or a file to write.
type step struct {
	line    int    // of the command, or of the first line of the file; from 1
	command string // "": a file
	shown   []string
	file    string
	text    string
	kind    string // the language of a block that is neither; it only must be readable

	elsewhere bool // the command is not run, see notRun: of lockstep its flags are checked
}

var fileComment = regexp.MustCompile(`^(?:#|//) ([\w./-]+\.(?:yaml|yml|json|txt|proto|toml|env|jsonl))$`)

// parse reads a page. Errors are those of its author.
func parse(path, text string) (*page, error) {
	p := &page{path: path, lines: strings.Split(text, "\n")}
	for i := 0; i < len(p.lines); i++ {
		indent, info, ok := fence(p.lines[i])
		if !ok {
			continue
		}
		end := i + 1
		for end < len(p.lines) && strings.TrimSpace(p.lines[end]) != "```" {
			end++
		}
		if end == len(p.lines) {
			return nil, fmt.Errorf("%s:%d: the block has no end", path, i+1)
		}
		body := slices.Clone(p.lines[i+1 : end])
		for n := range body {
			body[n] = strings.TrimPrefix(body[n], indent)
		}
		if err := p.block(info, i+2, body); err != nil {
			return nil, err
		}
		i = end
	}
	return p, nil
}

// fence reads the line that begins a block.
func fence(line string) (indent, info string, ok bool) {
	trimmed := strings.TrimLeft(line, " ")
	info, ok = strings.CutPrefix(trimmed, "```")
	return line[:len(line)-len(trimmed)], strings.TrimSpace(info), ok
}

func (p *page) block(info string, line int, body []string) error {
	language, name, _ := strings.Cut(info, " ")
	text := strings.Join(body, "\n") + "\n"
	switch language {
	case "console":
		return p.console(line, body)
	case "sh":
		for n, command := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
			if strings.HasPrefix(command, "$ ") {
				return fmt.Errorf("%s:%d: a command with a prompt belongs into a block of console, which is run", p.path, line+n)
			}
			if command = strings.TrimSpace(command); command != "" {
				p.steps = append(p.steps, step{line: line + n, command: command, elsewhere: true})
			}
		}
		return nil
	case "", "text", "go", "xml", "lua", "proto", "http", "js", "ts", "mermaid", "ini", "toml", "diff", "jsonpath", "jq", "css":
		if name != "" {
			break
		}
		if strings.Contains("\n"+text, "\nlockstep ") || strings.Contains("\n"+text, "\n$ ") {
			return fmt.Errorf("%s:%d: commands belong into a block of console", p.path, line)
		}
		return nil
	}
	if name == "" && len(body) > 0 {
		if m := fileComment.FindStringSubmatch(body[0]); m != nil {
			name = m[1]
		}
	}
	p.steps = append(p.steps, step{line: line, file: name, text: text, kind: language})
	return nil
}

func (p *page) console(line int, body []string) error {
	for i := 0; i < len(body); i++ {
		command, ok := strings.CutPrefix(body[i], "$ ")
		if !ok {
			if i == 0 {
				return fmt.Errorf("%s:%d: a block of console begins with a command", p.path, line)
			}
			last := &p.steps[len(p.steps)-1]
			last.shown = append(last.shown, body[i])
			continue
		}
		s := step{line: line + i, command: command}
		for strings.HasSuffix(s.command, `\`) && i+1 < len(body) {
			i++
			s.command += "\n" + body[i]
		}
		p.steps = append(p.steps, s)
	}
	return nil
}

// fits reports whether lines are what a page shows.
func fits(shown, got []string) bool {
	if len(shown) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(shown[0]) == "…" {
		for i := range len(got) + 1 {
			if fits(shown[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && fitsLine(shown[0], got[0]) && fits(shown[1:], got[1:])
}

// took is how long something took, which differs from run to run.
var took = regexp.MustCompile(`\b[0-9.]+(ms|µs|s)\b`)

func fitsLine(shown, got string) bool {
	shown, got = took.ReplaceAllString(shown, "0s"), took.ReplaceAllString(got, "0s")
	parts := strings.Split(strings.TrimRight(shown, " "), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(strings.TrimRight(got, " "))
}
