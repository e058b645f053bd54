package openapi

import (
	"context"
	"fmt"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
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

// compile finds an operation and reads all of it, unless ctx ends before.
func (l *library) compile(ctx context.Context, ref, id string) (*operation, *compiler, error) {
	l.ctx = ctx
	o, c, err := l.compileOne(ref, id)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return o, c, err
}

func (l *library) compileOne(ref, id string) (*operation, *compiler, error) {
	root, err := l.get(ref)
	if root == nil {
		return nil, nil, err
	}
	c := &compiler{lib: l, root: root}
	if err != nil {
		return nil, c, err
	}
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

// index is the operations of a document, in the order in which they stand there.
type index struct {
	byID map[string][]candidate
	ids  []string
	lost []lostPath
}

// lostPath is a path that cannot be read; any operation may stand in it.
type lostPath struct {
	path string
	err  error
}

func (c *compiler) index() *index {
	if known := c.lib.indexes[c.root]; known != nil {
		return known
	}
	x := &index{byID: map[string][]candidate{}}
	paths, _ := c.root.root.Get("paths")
	for _, path := range c.root.paths {
		v, _ := paths.Get(path)
		item, err := c.lib.follow(place{c.root, "", v})
		if err == nil && !item.IsObject() {
			err = broken("it is %s, and must be an object", item.Value.Kind().WithArticle())
		}
		if err != nil {
			x.lost = append(x.lost, lostPath{path, err})
			continue
		}
		for _, method := range httpMethods {
			op, ok := item.member(method)
			if id := effect.Text(op.Value, "operationId"); ok && id != "" {
				x.byID[id] = append(x.byID[id], candidate{method, path, op, item})
				x.ids = append(x.ids, id)
			}
		}
	}
	c.lib.indexes[c.root] = x
	return x
}

// find looks for an operationId, in the order of paths in the document and of methods.
func (c *compiler) find(id string) (candidate, error) {
	x := c.index()
	if found := x.byID[id]; len(found) > 0 {
		c.twice = len(found) > 1
		return found[0], nil
	}
	near := dialect.Suggest(id, x.ids)
	if len(x.lost) > 0 && near == "" { // else it is more likely misspelled
		lost := x.lost[0]
		return candidate{}, broken("%q has no operation %q that can be read; its path %q: %v", c.root.ref, id, lost.path, lost.err)
	}
	p := &problem{code: codeNoID, msg: fmt.Sprintf("%q has no operation %q", c.root.ref, id)}
	switch {
	case near != "":
		p.hint = fmt.Sprintf("did you mean %q?", near)
	case len(x.ids) == 0:
		p.hint = "its operations have no operationId"
	default:
		p.hint = "it has " + few(x.ids)
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
		list, ok := p.member("parameters")
		if ok && !list.IsArray() {
			return nil, broken("the parameters of the path %q must be an array, not %s", k.path, list.Value.Kind().WithArticle())
		}
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

// headerName is a token (RFC 9110 §5.6.2).
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// newParameter reads what all versions say in the same way.
func newParameter(p place) (*parameter, error) {
	param := &parameter{name: effect.Text(p.Value, "name"), in: effect.Text(p.Value, "in")}
	required, _, err := flag(p, param.what(), "required")
	param.required = required || param.in == inPath
	return param, err
}

func (p *parameter) what() string { return fmt.Sprintf("parameter %q", p.name) }

// header judges the name of a header parameter; ignored ones are none.
func (p *parameter) header() (ignored bool, err error) {
	name := textproto.CanonicalMIMEHeaderKey(p.name)
	switch {
	case name == "Accept" || name == "Content-Type":
		return true, nil // OpenAPI 3 §Parameter Object: ignored
	case slices.Contains(notOurs, name):
		return false, broken("parameter %q is a header that no argument may set", p.name)
	case !headerName.MatchString(p.name):
		return false, broken("parameter %q goes into a header, and that is not the name of one", p.name)
	}
	return false, nil
}

// flag reads a member that is true or false. Anything else would be taken for false,
// also a "true" that was meant.
func flag(p place, what, key string) (value, given bool, err error) {
	v, given := p.Get(key)
	if given && v.Kind() != expr.KindBool {
		return false, true, broken("%s: %q must be true or false, not %s", what, key, v.String())
	}
	return v.Bool(), given, nil
}

func (c *compiler) parameter3(p place) (*parameter, error) {
	param, err := newParameter(p)
	if err != nil {
		return nil, err
	}
	reserved, _, err := flag(p, param.what(), "allowReserved")
	if err != nil {
		return nil, err
	}
	param.reserved = reserved && param.in == inQuery
	switch param.in {
	case inPath, inHeader:
		param.style = simple
	case inQuery, inCookie:
		param.style = form
	default:
		return nil, broken("parameter %q goes to %q, which is not path, query, header or cookie", param.name, param.in)
	}
	if param.in == inHeader {
		if ignored, err := param.header(); ignored || err != nil {
			return nil, err
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
	if explode, ok, err := flag(p, param.what(), "explode"); err != nil {
		return nil, err
	} else if ok {
		param.explode = explode
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
		param.check = c.compileSchema(param.what(), schema, sent)
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
