package asyncapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// maxSchemaValues is how many values the schemas of one operation have in all ("asyncapi-schema-values"). Messages may
// refer to the same schema, each of which has a copy of it.
const maxSchemaValues = 100_000

// message is one that an operation may send or receive.
type message struct {
	name             string
	payload, headers expr.Program // schemas; nil: not checked
	correlation      string       // where its correlation id is
}

func (c *compiler) readMessages(o *operation, list place) error {
	for _, v := range list.Items() {
		msg, err := c.follow(place{doc: list.doc, Value: v})
		if err != nil {
			return err
		}
		if err := c.readMessage(o, msg); err != nil {
			return err
		}
	}
	return nil
}

// readMessage adds a message. Schemas that cannot be used are noted and not checked.
func (c *compiler) readMessage(o *operation, p place) error {
	msg := message{name: effect.Name(p.Value, "name")}
	if media := effect.Name(p.Value, "contentType"); media != "" {
		o.media = media
	}
	correlation, err := c.at(p, "correlationId")
	if err != nil {
		return err
	}
	msg.correlation = effect.Name(correlation.Value, "location")
	format := effect.Name(p.Value, "schemaFormat")
	if msg.payload, err = c.schema(p, "payload", format); err != nil {
		c.notes = append(c.notes, fmt.Sprintf("the payload of %s is not checked: %v", o.title, err))
	}
	if msg.headers, err = c.schema(p, "headers", ""); err != nil {
		c.notes = append(c.notes, fmt.Sprintf("the headers of %s are not checked: %v", o.title, err))
	}
	o.messages = append(o.messages, msg)
	return nil
}

// schema compiles a schema of a message, if it is JSON Schema.
func (c *compiler) schema(msg place, key, format string) (expr.Program, error) {
	v, ok := msg.Get(key)
	if !ok {
		return nil, nil
	}
	p := place{doc: msg.doc, Value: v}
	target, err := c.follow(p)
	if err != nil {
		return nil, err
	}
	if inner, ok := target.Get("schema"); ok && c.major == 3 { // a Multi Format Schema Object
		if _, has := target.Get("schemaFormat"); has {
			format, p = effect.Name(target.Value, "schemaFormat"), place{doc: target.doc, Value: inner}
		}
	}
	if !jsonSchema(format) {
		return nil, fmt.Errorf("its schema is of the format %s, and only JSON Schema is understood", format)
	}
	b := bundler{c: c, names: map[string]string{}}
	root, err := b.schema(p)
	if err != nil {
		return nil, err
	}
	if len(b.defs) > 0 {
		root = expr.Object(expr.Member{Key: "allOf", Value: expr.Array(root)}, expr.Member{Key: "$defs", Value: expr.Object(b.defs...)})
	}
	return jsonschema.Compiler{}.Compile(root.String())
}

// jsonSchema reports whether a format of schemas is JSON Schema, or AsyncAPI's own, which extends it.
func jsonSchema(format string) bool {
	media, _, _ := strings.Cut(format, ";")
	switch strings.TrimSuffix(strings.TrimSuffix(media, "+json"), "+yaml") {
	case "", "application/vnd.aai.asyncapi", "application/schema":
		return true
	}
	return false
}

// bundler makes one schema of a schema and what it refers to, in the document and in others.
type bundler struct {
	c     *compiler
	names map[string]string // in $defs, by document and pointer
	defs  []expr.Member
}

// plain are keywords whose values are data, not schemas.
var plain = []string{"const", "default", "enum", "example", "examples"}

func (b *bundler) schema(p place) (expr.Value, error) {
	if b.c.left--; b.c.left < 0 {
		return expr.Null, fmt.Errorf("the schemas have more than %d values (limit asyncapi-schema-values)", maxSchemaValues)
	}
	switch {
	case p.IsArray():
		items := make([]expr.Value, p.Len())
		for i, v := range p.Items() {
			var err error
			if items[i], err = b.schema(place{doc: p.doc, Value: v}); err != nil {
				return expr.Null, err
			}
		}
		return expr.Array(items...), nil
	case !p.IsObject():
		return p.Value, nil
	}
	if ref, ok := p.Get("$ref"); ok && ref.Kind() == expr.KindString {
		name, err := b.target(p.doc, ref.Str())
		return expr.Object(expr.Member{Key: "$ref", Value: expr.String("#/$defs/" + name)}), err
	}
	var members []expr.Member
	for _, m := range p.Members() {
		switch {
		case m.Key == "$id" || m.Key == "discriminator" || m.Key == "externalDocs":
			continue // references are resolved here
		case !slices.Contains(plain, m.Key):
			var err error
			if m.Value, err = b.schema(place{doc: p.doc, Value: m.Value}); err != nil {
				return expr.Null, err
			}
		}
		members = append(members, m)
	}
	return expr.Object(members...), nil
}

// target is the name of what a reference refers to.
func (b *bundler) target(doc *document, ref string) (string, error) {
	to, err := b.c.resolve(doc, ref)
	if err != nil {
		return "", err
	}
	key := to.doc.ref + "#" + to.ptr
	if name, ok := b.names[key]; ok {
		return name, nil
	}
	name := strconv.Itoa(len(b.names))
	b.names[key] = name // before what is in it: schemas may refer to themselves
	v, err := b.schema(to)
	b.defs = append(b.defs, expr.Member{Key: name, Value: v})
	return name, err
}

// check says what is wrong with a message that is to be sent. It must fit one of those of the operation.
func (o *operation) check(msg expr.Value) error {
	var first error
	for _, m := range o.messages {
		err := m.check(msg)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	if first != nil && len(o.messages) > 1 {
		return fmt.Errorf("it fits none of the %d messages of %s; of the first: %w", len(o.messages), o.title, first)
	}
	return first
}

func (m *message) check(msg expr.Value) error {
	for _, part := range []struct {
		key    string
		schema expr.Program
	}{{"payload", m.payload}, {"headers", m.headers}} {
		v, ok := msg.Get(part.key)
		if part.schema == nil || !ok && part.key == "headers" {
			continue
		}
		budget := expr.NewBudget()
		r, err := part.schema.Eval(v, &budget)
		if err != nil {
			return fmt.Errorf("%s cannot be checked: %w", part.key, err)
		}
		for _, found := range r.Value.Items() {
			return fmt.Errorf("%s%s: %s", part.key, effect.Name(found, "pointer"), effect.Name(found, "message"))
		}
	}
	return nil
}

// located is what a message has at a location such as $message.header#/correlationId.
func located(location string, msg expr.Value) (string, bool) {
	where, pointer, ok := strings.Cut(location, "#")
	if !ok {
		return "", false
	}
	var part expr.Value
	switch where {
	case "$message.header":
		part, ok = msg.Get("headers")
	case "$message.payload":
		part, ok = msg.Get("payload")
	default:
		return "", false
	}
	if !ok {
		return "", false
	}
	_, v, err := pin.Point(part, pointer)
	if err != nil || v.IsNull() || v.IsObject() || v.IsArray() {
		return "", false
	}
	return v.Text(), true
}

// inbound is a received message as expressions see it.
func (o *operation) inbound(payload expr.Value, headers []expr.Member) expr.Value {
	out := expr.Object(expr.Member{Key: "payload", Value: payload}, expr.Member{Key: "headers", Value: expr.Object(headers...)})
	for _, m := range o.messages {
		if id, ok := located(m.correlation, out); ok {
			return out.With("correlationId", expr.String(id))
		}
	}
	return out
}
