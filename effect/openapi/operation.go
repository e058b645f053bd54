package openapi

import (
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// operation is everything a call needs to know.
type operation struct {
	id         string
	method     string
	base       *url.URL
	path       string // with {placeholders}
	parameters []*parameter
	body       *body // nil: it takes none
	responses  []response
}

// where parameters go.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
	inCookie = "cookie"
)

// parameter is an argument that goes into the path, the query, a header or a cookie.
type parameter struct {
	name, in string
	required bool
	style    style
	explode  bool
	reserved bool // reserved characters stay as they are
	json     bool // it is written as JSON (content: application/json)
	check    *check
}

// response is what an operation may answer with a status.
type response struct {
	status string // 200, 2XX or default
	media  []mediaCheck
}

type mediaCheck struct {
	media string
	check *check
}

type version uint8

const (
	v2 version = iota + 1
	v30
	v31
)

// compiler makes an operation of a document.
type compiler struct {
	lib     *library
	root    *document
	version version
	notes   []string // what is not checked, and why
	twice   bool     // another operation bears the same id
	values  int      // of schemas so far
}

var httpMethods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// compile finds an operation and reads all of it.
func (l *library) compile(ref, id string) (*operation, *compiler, error) {
	root, err := l.get(ref)
	if err != nil {
		return nil, nil, err
	}
	c := &compiler{lib: l, root: root}
	if c.version, err = versionOf(root); err != nil {
		return nil, c, err
	}
	found, err := c.find(id)
	if err != nil {
		return nil, c, err
	}
	o := &operation{id: id, method: strings.ToUpper(found.method), path: found.path}
	if c.version == v2 {
		err = c.read2(o, found)
	} else {
		err = c.read3(o, found)
	}
	if err == nil {
		err = o.checkPath()
	}
	return o, c, err
}

func versionOf(d *document) (version, error) {
	text := effect.Text(d.root, "openapi")
	switch {
	case strings.HasPrefix(text, "3.0"):
		return v30, nil
	case strings.HasPrefix(text, "3."): // later ones of the same family only add
		return v31, nil
	case effect.Text(d.root, "swagger") == "2.0":
		return v2, nil
	}
	p := &problem{code: codeNoOpenAPI, document: true, msg: fmt.Sprintf("%q is not an OpenAPI document: it has neither openapi: 3.x.y nor swagger: \"2.0\"", d.ref)}
	if text != "" {
		p.msg = fmt.Sprintf("the OpenAPI version %q of %q is not known; 2.0, 3.0 and 3.1 are", text, d.ref)
	}
	return 0, p
}

// candidate is an operation and where it stands.
type candidate struct {
	method, path string
	op, item     place
}

// find looks for an operationId, in the order of paths and methods.
func (c *compiler) find(id string) (candidate, error) {
	paths, _ := c.root.root.Get("paths")
	var found []candidate
	var ids []string
	for _, m := range paths.Members() {
		item, err := c.lib.follow(place{c.root, "", m.Value})
		if err != nil {
			continue // told if it is this one that is missed
		}
		for _, method := range httpMethods {
			op, ok := item.member(method)
			if !ok {
				continue
			}
			name := effect.Text(op.Value, "operationId")
			if name == id && id != "" {
				found = append(found, candidate{method, m.Key, op, item})
			} else if name != "" {
				ids = append(ids, name)
			}
		}
	}
	if len(found) > 0 {
		c.twice = len(found) > 1
		return found[0], nil
	}
	p := &problem{code: codeNoID, msg: fmt.Sprintf("%q has no operation %q", c.root.ref, id)}
	switch near := dialect.Suggest(id, ids); {
	case near != "":
		p.hint = fmt.Sprintf("did you mean %q?", near)
	case len(ids) == 0:
		p.hint = "its operations have no operationId"
	default:
		p.hint = "it has " + few(ids)
	}
	return candidate{}, p
}

// few lists the first of many names.
func few(names []string) string {
	const most = 8
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// parameters lists those of the path and those of the operation, which take the
// place of the former by name and kind.
func (c *compiler) parameters(k candidate) ([]place, error) {
	var out []place
	at := map[[2]string]int{}
	for _, p := range []place{k.item, k.op} {
		list, _ := p.member("parameters")
		for _, item := range list.Items() {
			param, err := c.lib.follow(place{list.doc, "", item})
			if err != nil {
				return nil, err
			}
			name, in := effect.Text(param.Value, "name"), effect.Text(param.Value, "in")
			if name == "" || in == "" {
				return nil, broken("a parameter of %q has no name, or does not say where it goes (in)", effect.Text(k.op.Value, "operationId"))
			}
			if in == inHeader {
				name = textproto.CanonicalMIMEHeaderKey(name)
			}
			key := [2]string{in, name}
			if i, ok := at[key]; ok {
				out[i] = param
				continue
			}
			at[key] = len(out)
			out = append(out, param)
		}
	}
	return out, nil
}

func (c *compiler) read3(o *operation, k candidate) error {
	var err error
	if o.base, err = c.server(k.op, k.item); err != nil {
		return err
	}
	list, err := c.parameters(k)
	if err != nil {
		return err
	}
	for _, p := range list {
		param, err := c.parameter3(p)
		if err != nil {
			return err
		}
		if param != nil {
			o.parameters = append(o.parameters, param)
		}
	}
	if raw, ok := k.op.member("requestBody"); ok {
		p, err := c.lib.follow(raw)
		if err != nil {
			return err
		}
		if o.body, err = c.body3(p); err != nil {
			return err
		}
	}
	return c.responses(o, k.op, func(p place) []mediaCheck {
		content, _ := p.member("content")
		var out []mediaCheck
		for _, m := range content.Members() {
			if schema, ok := (place{content.doc, "", m.Value}).member("schema"); ok {
				out = append(out, mediaCheck{strings.ToLower(m.Key), c.compileSchema("the answer ("+m.Key+")", schema, received)})
			}
		}
		return out
	})
}

// notOurs are headers that belong to the connection, or that the body decides.
var notOurs = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer", "Expect",
	"Proxy-Authorization", "Proxy-Connection", "Idempotency-Key",
}

func (c *compiler) parameter3(p place) (*parameter, error) {
	param := &parameter{name: effect.Text(p.Value, "name"), in: effect.Text(p.Value, "in")}
	required, _ := p.Get("required")
	param.required = required.Bool() || param.in == inPath
	reserved, _ := p.Get("allowReserved")
	param.reserved = reserved.Bool() && param.in == inQuery
	switch param.in {
	case inPath, inHeader:
		param.style = simple
	case inQuery, inCookie:
		param.style = form
	default:
		return nil, broken("parameter %q goes to %q, which is not path, query, header or cookie", param.name, param.in)
	}
	if param.in == inHeader {
		name := textproto.CanonicalMIMEHeaderKey(param.name)
		switch {
		case name == "Accept" || name == "Content-Type":
			return nil, nil // OpenAPI 3 §Parameter Object: ignored
		case slices.Contains(notOurs, name):
			return nil, broken("parameter %q is a header that no argument may set", param.name)
		}
	}
	if name := effect.Text(p.Value, "style"); name != "" {
		s, ok := styles[name]
		if !ok || !slices.Contains(s.in, param.in) {
			return nil, broken("parameter %q: the style %q is not one for in: %s", param.name, name, param.in)
		}
		param.style = s.style
	}
	param.explode = param.style == form
	if explode, ok := p.Get("explode"); ok {
		param.explode = explode.Bool()
	}
	schema, ok := p.member("schema")
	if content, has := p.member("content"); has && content.Len() > 0 {
		m := content.Members()[0]
		param.json = isJSON(m.Key)
		if !param.json && !strings.HasPrefix(m.Key, "text/") {
			return nil, broken("parameter %q is written as %s, and only JSON and text are supported", param.name, m.Key)
		}
		schema, ok = place{content.doc, "", m.Value}.member("schema")
	}
	if ok {
		param.check = c.compileSchema(fmt.Sprintf("parameter %q", param.name), schema, sent)
	}
	return param, nil
}

// responses reads what may come back; media lists the checks of one response.
func (c *compiler) responses(o *operation, op place, media func(place) []mediaCheck) error {
	all, _ := op.member("responses")
	for _, m := range all.Members() {
		status := strings.ToUpper(m.Key)
		if status != "DEFAULT" && status[:min(1, len(status))] != "2" {
			continue // failures are described by what they hold, not by a schema
		}
		p, err := c.lib.follow(place{all.doc, "", m.Value})
		if err != nil {
			return err
		}
		o.responses = append(o.responses, response{status, media(p)})
	}
	return nil
}

// checkPath sees to it that every placeholder has a parameter.
func (o *operation) checkPath() error {
	if !strings.HasPrefix(o.path, "/") {
		return broken("the path %q does not begin with /", o.path)
	}
	for _, piece := range pieces(o.path) {
		if piece.name != "" && o.parameter(piece.name) == nil {
			return broken("the path %q has the placeholder {%s}, for which there is no parameter", o.path, piece.name)
		}
	}
	return nil
}

// parameter finds one of the path.
func (o *operation) parameter(name string) *parameter {
	for _, p := range o.parameters {
		if p.in == inPath && p.name == name {
			return p
		}
	}
	return nil
}

// piece is a part of a path: text, or a placeholder.
type piece struct{ text, name string }

func pieces(path string) []piece {
	var out []piece
	for {
		before, rest, ok := strings.Cut(path, "{")
		if before != "" {
			out = append(out, piece{text: before})
		}
		if !ok {
			return out
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok || name == "" {
			return append(out, piece{text: "{" + rest})
		}
		out = append(out, piece{name: name})
		path = after
	}
}

func isJSON(media string) bool {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	media = strings.TrimSpace(media)
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

func textsOf(v expr.Value) []string {
	var out []string
	for _, item := range v.Items() {
		out = append(out, item.Str())
	}
	return out
}
