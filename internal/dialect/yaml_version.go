package dialect

import "bytes"

// version reads the directive %YAML before a document, and returns the text for
// the library. That knows only 1.1, and scans 1.2 just the same; what a scalar
// means is decided here, after 1.2. So a document that says 1.1 is refused: its
// author may mean a boolean by `yes`.
func (y *yamlReader) version(begin int) []byte {
	src, said := y.doc.Source[begin:], false
	for at := 0; at < len(src); {
		line := src[at:]
		if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
			line = line[:i+1]
		}
		text := bytes.TrimSpace(line)
		fields := bytes.Fields(text)
		switch {
		case len(text) == 0 || text[0] == '#':
		case line[0] != '%':
			if said && !bytes.HasPrefix(line, []byte("---")) {
				y.fatal(begin+at, begin+at+1, CodeSyntax, "a line \"---\" is missing here, between %%YAML and the document")
			}
			return src
		case string(fields[0]) != "%YAML":
		case len(fields) < 2 || string(fields[1]) != "1.2" || len(fields) > 2 && fields[2][0] != '#':
			y.fatal(begin+at, begin+at+len(text), CodeSyntax, "documents are read as YAML 1.2, and this line asks for something else").
				WithHint("write %q, or remove the line", "%YAML 1.2")
			return nil
		default:
			src, said = bytes.Clone(src), true
			src[at+bytes.Index(line, []byte("1.2"))+2] = '1'
		}
		at += len(line)
	}
	return src
}
