package openapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// form of a body.
type bodyKind uint8

const (
	bodyJSON bodyKind = iota + 1
	bodyForm
	bodyMultipart
	bodyText // text, or whatever a string can hold
)

// body is what an operation takes beside its parameters.
type body struct {
	kind       bodyKind
	media      string // to send as Content-Type
	name       string // of the body parameter, in 2.0
	required   bool
	check      *check
	properties []string          // those that are described
	open       bool              // there may be others
	strict     bool              // form fields of 2.0: what is not listed has no place, whichever way it comes
	fields     map[string]*field // of forms
}

// field is how a property is written in a form.
type field struct {
	parameter        // name, style
	styled    bool   // the document says how
	media     string // of a part, where the document says so
	file      bool   // a part with a file name
	content   bool   // media is that of the text itself (contentMediaType)
}

var preferred = []string{"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}

// chooseMedia takes JSON where that is among what is accepted, else a form, else text.
func chooseMedia(all []string) (chosen string, kind bodyKind) {
	for _, media := range all {
		if isJSON(media) {
			return media, bodyJSON
		}
	}
	for i, want := range preferred {
		for _, media := range all {
			if plain, _, _ := strings.Cut(strings.ToLower(media), ";"); strings.TrimSpace(plain) == want {
				return media, bodyForm + bodyKind(i)
			}
		}
	}
	if slices.Contains(all, "*/*") || slices.Contains(all, "application/*") || len(all) == 0 {
		return "", bodyJSON
	}
	return all[0], bodyText
}

func (c *compiler) body3(p place) (*body, error) {
	content, _ := p.member("content")
	var all []string
	for _, m := range content.Members() {
		all = append(all, m.Key)
	}
	if len(all) == 0 {
		return nil, broken("its request body has no content")
	}
	chosen, kind := chooseMedia(all)
	b := &body{kind: kind, media: chosen, open: true}
	var err error
	if b.required, _, err = flag(p, "the request body", "required"); err != nil {
		return nil, err
	}
	if chosen == "" {
		chosen, b.media = all[0], "application/json"
	}
	if kind == bodyText && strings.Contains(chosen, "*") {
		if b.media = "application/octet-stream"; strings.HasPrefix(chosen, "text/") {
			b.media = "text/plain"
		}
	}
	media, _ := content.member(chosen)
	schema, ok := media.member("schema")
	if ok {
		c.describe(b, schema)
	}
	encoding, _ := media.member("encoding")
	for _, m := range encoding.Members() {
		if err := b.encode(m.Key, place{encoding.doc, "", m.Value}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// describe takes from a schema what a body needs. What is sent as text has no
// properties: a schema of XML, for example, describes what the text stands for.
func (c *compiler) describe(b *body, schema place) {
	if b.kind == bodyText {
		if !c.structured(schema, map[string]bool{}) {
			b.check = c.compileSchema("the request body", schema, sent)
		}
		return
	}
	b.check = c.compileSchema("the request body", schema, sent)
	properties := map[string]place{}
	b.open = c.shape(schema, properties, 0) || len(properties) == 0
	b.fields = map[string]*field{}
	for name, p := range properties {
		b.properties = append(b.properties, name)
		c.file(b.field(name), p)
	}
	slices.Sort(b.properties)
}

// file reads whether a field, or each item of it, is a file.
func (c *compiler) file(f *field, p place) {
	if c.textOf(p, "type") == "array" {
		for _, one := range c.lib.same(p, c.version) {
			if items, ok := one.member("items"); ok {
				p = items
				break
			}
		}
	}
	if media := c.textOf(p, "contentMediaType"); media != "" && c.version == v31 {
		f.file, f.media, f.content = true, media, true
		return
	}
	format := c.textOf(p, "format")
	f.file = c.textOf(p, "type") == "string" && (format == "binary" || format == "base64")
}

// field finds or makes the description of a field: a list repeats its name, an object
// is JSON.
func (b *body) field(name string) *field {
	if f := b.fields[name]; f != nil {
		return f
	}
	f := &field{parameter: parameter{name: name, style: form, explode: true}}
	if b.fields == nil {
		b.fields = map[string]*field{}
	}
	b.fields[name] = f
	return f
}

// encode reads an Encoding Object.
func (b *body) encode(name string, p place) error {
	f := b.field(name)
	if media := effect.Text(p.Value, "contentType"); media != "" {
		f.media, f.content = media, false
	}
	if text := effect.Text(p.Value, "style"); text != "" {
		s, ok := styles[text]
		if !ok || !slices.Contains(s.in, inQuery) {
			return broken("the field %q of the request body: the style %q is not one for forms", name, text)
		}
		f.style, f.styled, f.explode = s.style, true, s.style == form
	}
	what := fmt.Sprintf("the field %q of the request body", name)
	explode, given, err := flag(p, what, "explode")
	if err != nil {
		return err
	}
	if given {
		f.explode, f.styled = explode, true
	}
	f.reserved, given, err = flag(p, what, "allowReserved")
	f.styled = f.styled || given
	return err
}

func (c *compiler) body2(o *operation, p place, consumes []string) error {
	if o.body != nil {
		return broken("it has a body and form fields, or two bodies")
	}
	var usable []string
	for _, media := range consumes {
		if media != "application/x-www-form-urlencoded" && media != "multipart/form-data" {
			usable = append(usable, media)
		}
	}
	b := &body{name: effect.Text(p.Value, "name"), open: true}
	if b.media, b.kind = chooseMedia(usable); b.media == "" {
		b.media = "application/json"
	}
	var err error
	if b.required, _, err = flag(p, fmt.Sprintf("parameter %q", b.name), "required"); err != nil {
		return err
	}
	if schema, ok := p.member("schema"); ok {
		c.describe(b, schema)
	}
	o.body = b
	return nil
}

// field2 adds a form field of 2.0, which has a check of its own, as a parameter has.
func (c *compiler) field2(o *operation, p place, consumes []string) error {
	if o.body == nil {
		o.body = &body{kind: bodyForm, media: "application/x-www-form-urlencoded", strict: true}
		if slices.Contains(consumes, "multipart/form-data") {
			o.body.kind, o.body.media = bodyMultipart, "multipart/form-data"
		}
	}
	if o.body.kind != bodyForm && o.body.kind != bodyMultipart {
		return broken("it has a body and form fields")
	}
	f := o.body.field(effect.Text(p.Value, "name"))
	var err error
	if f.required, _, err = flag(p, fmt.Sprintf("parameter %q", f.name), "required"); err != nil {
		return err
	}
	if f.file = effect.Text(p.Value, "type") == "file"; f.file {
		o.body.kind, o.body.media = bodyMultipart, "multipart/form-data"
	}
	if f.style, f.explode, err = collection(p, form, "formData"); err != nil {
		return err
	}
	f.styled = true
	f.check = c.compileSchema(fmt.Sprintf("the field %q", f.name), p, sent)
	o.body.required = o.body.required || f.required
	o.body.properties = append(o.body.properties, f.name)
	return nil
}

// encoded writes a body and says its Content-Type.
func (b *body) encoded(v expr.Value) (text []byte, media string, err error) {
	switch b.kind {
	case bodyJSON:
		return v.AppendJSON(nil), b.media, nil
	case bodyText:
		if v.Kind() != expr.KindString {
			return nil, "", fmt.Errorf("the body is sent as %s and must be a string, not %s; give it as the argument \"body\"", b.media, v.Kind().WithArticle())
		}
		return []byte(v.Str()), b.media, nil
	}
	if !v.IsObject() {
		return nil, "", fmt.Errorf("the body is a form and must be an object, not %s", v.Kind().WithArticle())
	}
	if b.kind == bodyMultipart {
		return b.multipart(v)
	}
	var pairs []string
	for _, m := range v.Members() {
		if m.Value.IsNull() {
			continue
		}
		f := b.field2(m.Key)
		f.json = !f.styled && (m.Value.IsObject() || isJSON(f.media) && !f.content)
		value := escapeForm
		if f.reserved {
			value = escapeReservedForm
		}
		more, err := f.pairs(m.Value, escapeForm, value)
		if err != nil {
			return nil, "", fmt.Errorf("the field %q: %w", m.Key, err)
		}
		pairs = append(pairs, more...)
	}
	return []byte(strings.Join(pairs, "&")), b.media, nil
}

// field2 is a copy of a field's description, for one call.
func (b *body) field2(name string) field {
	if f := b.fields[name]; f != nil {
		return *f
	}
	return field{parameter: parameter{name: name, style: form, explode: true}}
}

func (b *body) multipart(v expr.Value) ([]byte, string, error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, m := range v.Members() {
		f := b.field2(m.Key)
		items := []expr.Value{m.Value}
		switch {
		case m.Value.IsArray() && b.strict && !f.explode: // 2.0: a list is one text unless it is multi
			text, err := f.inline(m.Value, asIs)
			if err != nil {
				return nil, "", fmt.Errorf("the field %q: %w", m.Key, err)
			}
			items = []expr.Value{expr.String(text)}
		case m.Value.IsArray() && (f.content || !isJSON(f.media)):
			items = m.Value.Items()
		}
		for _, item := range items {
			if item.IsNull() {
				continue
			}
			if err := f.part(w, item); err != nil {
				return nil, "", fmt.Errorf("the field %q: %w", m.Key, err)
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return out.Bytes(), w.FormDataContentType(), nil
}

var quoteName = strings.NewReplacer("\\", "\\\\", `"`, "\\\"")

// part writes one field: simple values as text, others as JSON.
func (f *field) part(w *multipart.Writer, v expr.Value) error {
	if strings.ContainsAny(f.name, "\r\n\x00") {
		return errors.New("its name holds a control character")
	}
	header := textproto.MIMEHeader{}
	disposition := fmt.Sprintf(`form-data; name="%s"`, quoteName.Replace(f.name))
	media := f.media
	if f.file {
		disposition += fmt.Sprintf(`; filename="%s"`, quoteName.Replace(f.name))
		media = cmp.Or(media, "application/octet-stream")
	}
	if media == "" && (v.IsObject() || v.IsArray()) {
		media = "application/json"
	}
	if first, _, several := strings.Cut(media, ","); several {
		media = first
	}
	header.Set("Content-Disposition", disposition)
	text := v.Text()
	if media != "" {
		header.Set("Content-Type", media)
		if isJSON(media) && (!f.content || v.Kind() != expr.KindString) {
			text = v.String()
		}
	}
	part, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = part.Write([]byte(text))
	return err
}
