package grpc

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/parser/fastscan"

	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// sources are the files of one document, by the path under which they are imported.
type sources struct {
	root  string // its path
	files map[string][]byte
	bytes int
}

// builtIn has the files google/protobuf/*.proto.
var builtIn = protocompile.WithStandardImports(protocompile.ResolverFunc(func(string) (protocompile.SearchResult, error) {
	return protocompile.SearchResult{}, fs.ErrNotExist
}))

// collect opens what a .proto file imports, directly or not.
func collect(ref string, text []byte, open func(ref string) ([]byte, error)) (*sources, error) {
	s := &sources{root: path.Base(ref), files: map[string][]byte{}}
	folders := foldersOf(ref)
	if err := s.add(s.root, text); err != nil {
		return nil, err
	}
	for queue := []string{s.root}; len(queue) > 0; queue = queue[1:] {
		found, err := fastscan.Scan(queue[0], bytes.NewReader(s.files[queue[0]]))
		if err != nil {
			return nil, firstLine(err)
		}
		for _, i := range found.Imports {
			if s.files[i.Path] != nil {
				continue
			}
			if _, err := builtIn.FindFileByPath(i.Path); err == nil {
				continue
			}
			text, err := find(folders, i.Path, open)
			if err != nil {
				return nil, fmt.Errorf("%s imports %q, which cannot be opened: %w", queue[0], i.Path, err)
			}
			if err := s.add(i.Path, text); err != nil {
				return nil, err
			}
			queue = append(queue, i.Path)
		}
	}
	return s, nil
}

// add takes a file, unless that is too much for the compiler.
func (s *sources) add(name string, text []byte) error {
	if s.bytes += len(text); s.bytes > maxSource {
		return errLarge
	}
	if !isText(text) {
		return fmt.Errorf("%s is not a .proto file: it is not text", name)
	}
	if depth(text) > maxNested {
		return fmt.Errorf("%s nests deeper than %d levels (limit proto-depth)", name, maxNested)
	}
	if text == nil {
		text = []byte{}
	}
	s.files[name] = text
	return nil
}

var errLarge = fmt.Errorf("it has more than %d bytes, with what it imports (limit proto-bytes)", maxSource)

// find opens an import in the first folder that has it. The error is that of the nearest one.
func find(folders []string, name string, open func(ref string) ([]byte, error)) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, errors.New("an import is a path such as folder/file.proto, without .. in it")
	}
	var first error
	for _, folder := range folders {
		text, err := open(folder + name)
		if err == nil {
			return text, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// foldersOf are the folder of a reference and those above it, each with the slash after it.
func foldersOf(ref string) (out []string) {
	prefix, rest := "", ref
	if u, err := url.Parse(ref); err == nil && route.Remote(ref) {
		prefix, rest = u.Scheme+"://"+u.Host, u.EscapedPath()
	} else {
		for _, scheme := range []string{"file://", "file:"} {
			if r, ok := strings.CutPrefix(ref, scheme); ok {
				prefix, rest = scheme, r
				break
			}
		}
	}
	for {
		rest = path.Dir(rest)
		switch rest {
		case ".":
			return append(out, prefix)
		case "/":
			return append(out, prefix+"/")
		case "..":
			return append(out, prefix+"../")
		}
		out = append(out, prefix+rest+"/")
	}
}

// descriptorSet is a document that is one: binary, or base64 of that. A .proto file has signs that base64 has not.
func descriptorSet(text []byte) ([]byte, bool) {
	if !isText(text) {
		return text, true
	}
	if bytes.ContainsAny(text, ";{") {
		return nil, false
	}
	plain := slices.DeleteFunc(slices.Clone(text), func(c byte) bool { return strings.IndexByte(" \t\r\n", c) >= 0 })
	set, err := base64.StdEncoding.DecodeString(string(plain))
	return set, err == nil && len(set) > 0
}

// isText reports whether a document can be a .proto file.
func isText(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(c rune) bool { return c < ' ' && !strings.ContainsRune("\t\n\v\f\r", c) || c == 0x7f })
}

// depth is how deep the brackets of a .proto file nest. The compiler is recursive, and a stack that is too
// deep ends the process.
func depth(text []byte) int {
	most, now := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[', '(', '<':
			now++
			most = max(most, now)
		case '}', ']', ')', '>':
			now = max(now-1, 0)
		case '"', '\'':
			for i++; i < len(text) && text[i] != c && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			switch rest := text[i:]; {
			case bytes.HasPrefix(rest, []byte("//")):
				i = after(text, i, "\n")
			case bytes.HasPrefix(rest, []byte("/*")):
				i = after(text, i+2, "*/")
			}
		}
	}
	return most
}

// after is where the next end is over: the index of its last byte.
func after(text []byte, from int, end string) int {
	at := bytes.Index(text[min(from, len(text)):], []byte(end))
	if at < 0 {
		return len(text)
	}
	return from + at + len(end) - 1
}

// firstLine is an error that has many.
func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}
