package dialect

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// IsDocument reports whether a file name is that of YAML or JSON.
func IsDocument(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// IsDefinition reports whether a document of a folder is a definition, and not functions, a schema, an API
// description, or a file of another program.
func (c Compiled) IsDefinition() bool {
	return c.FrontEnd != nil || c.Document.Resembles()
}

// IsDefinition is [Compiled.IsDefinition] for a file that is not compiled yet.
func (r *Registry) IsDefinition(file string, text []byte) bool {
	doc, _ := Read(file, text)
	if doc.Root != nil {
		if front, _, _ := r.Detect(doc, ""); front != nil {
			return true
		}
	}
	return doc.Resembles()
}

// Resembles reports whether a document looks like a definition, as far as it can be read: it has the top-level key
// states, or document and do, as Open Workflow 1.0 has.
func (doc *Document) Resembles() bool {
	has := func(key string) bool {
		switch {
		case doc.Root != nil:
			return doc.Root.Get(key) != nil
		case doc.Format == JSON:
			return topKey(doc.Source, key)
		}
		return keyLine[key].Match(doc.Source)
	}
	return has("states") || has("document") && has("do")
}

// keyLine finds a top-level key in text that may be invalid YAML.
var keyLine = map[string]*regexp.Regexp{
	"states":   regexp.MustCompile(`(?m)^(\x{feff})?(states|"states"|'states')[ \t]*:`),
	"document": regexp.MustCompile(`(?m)^(\x{feff})?(document|"document"|'document')[ \t]*:`),
	"do":       regexp.MustCompile(`(?m)^(do|"do"|'do')[ \t]*:`),
}

// topKey looks for a key of the outermost object in text that may be invalid JSON.
func topKey(text []byte, key string) bool {
	var open []byte // brackets
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			open = append(open, c)
		case '}', ']':
			// A missing inner bracket is closed with the outer one.
			if at := bytes.LastIndexByte(open, c-2); at >= 0 {
				open = open[:at]
			}
		case '"':
			begin := i + 1
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			name := text[begin:min(i, len(text))]
			rest := bytes.TrimLeft(text[min(i+1, len(text)):], " \t\r\n")
			if len(open) == 1 && string(name) == key && bytes.HasPrefix(rest, []byte(":")) {
				return true
			}
		}
	}
	return false
}
