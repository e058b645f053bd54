package graph

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// SVGOptions change how a drawing is written. The zero value suits a page that
// shows the name itself.
type SVGOptions struct {
	Heading bool   // the definition's name above the drawing
	NoStyle bool   // the page serves Stylesheet
	Prefix  string // before every id, where a page has several drawings
}

// The fonts with Helvetica's metrics come first. Where none is installed, textLength squeezes each
// text to the width that was measured, so that it stays in its box.
const fontFamily = `Helvetica, Arial, 'Liberation Sans', Arimo, 'Nimbus Sans', FreeSans, sans-serif`

// SVG writes a drawing: light or dark as the reader's screen is, without scripts
// and without anything from elsewhere. Every state is a group with the id
// state-…, a class for its type and its name in data-state.
func SVG(w io.Writer, d *Drawing, opts SVGOptions) error {
	s := &svg{d: d, opts: opts, ground: "paper"}
	s.document()
	_, err := w.Write(s.Bytes())
	return err
}

type svg struct {
	bytes.Buffer
	d     *Drawing
	opts  SVGOptions
	asked int // bytes that were written when stop was last asked

	ground string // what is drawn on: a colour
}

func (s *svg) putf(format string, args ...any) {
	fmt.Fprintf(&s.Buffer, format, args...)
	if s.Len()-s.asked >= askEvery {
		s.asked = s.Len()
		s.d.Graph.ask()
	}
}

func (s *svg) document() {
	g := s.d.Graph
	width, top := s.d.W, 0.0
	if s.opts.Heading {
		top = 44
		width = max(width, 2*margin+titleFont.width(heading(g))+10+subtitleFont.width(subtitleFont.cut(clean(g.Version), 200)))
	}
	height := s.d.H + top
	s.putf(`<svg xmlns="http://www.w3.org/2000/svg" class="ls-graph" role="img" aria-labelledby="%sgraph-title %[1]sgraph-desc" `, attr(s.opts.Prefix))
	s.putf(`viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" font-family="%s">`+"\n", num(width), num(height), fontFamily)
	s.putf("<title id=\"%sgraph-title\">%s</title>\n", attr(s.opts.Prefix), attr(g.Title()))
	s.putf("<desc id=\"%sgraph-desc\">%s</desc>\n", attr(s.opts.Prefix), attr(Summary(g)))
	if !s.opts.NoStyle {
		s.putf("<style>\n%s</style>\n", Stylesheet)
	}
	s.putf(`<rect class="ls-paper" width="100%%" height="100%%" fill="%s"/>`+"\n", light["paper"])
	if s.opts.Heading {
		s.text(Text{X: margin, Y: 42, Text: heading(g), Class: "heading"}, titleFont, light["text"])
		if g.Version != "" {
			after := margin + titleFont.width(heading(g)) + 10
			s.text(Text{X: after, Y: 42, Text: subtitleFont.cut(clean(g.Version), 200), Class: "subtitle"}, subtitleFont, light["muted"])
		}
		s.putf("\n")
	}
	// A drawing narrower than its heading stands in the middle.
	s.putf(`<g transform="translate(%s %s)">`+"\n", num((width-s.d.W)/2), num(top))
	s.drawing(s.d)
	s.putf("</g>\n</svg>\n")
}

// drawing writes the lines, boxes and marks of a drawing. What is inside of a box comes behind its
// group, not in it: each is something of its own to point at.
func (s *svg) drawing(d *Drawing) {
	around := s.d
	s.d = d
	for i := range d.Lines {
		s.line(&d.Lines[i])
	}
	for i, b := range d.Boxes {
		s.box(b, d.Graph.Nodes[i])
		for _, inner := range b.Inner {
			s.putf(`<g transform="translate(%s %s)">`+"\n", num(inner.X), num(inner.Y))
			around := s.ground
			if s.ground = "box"; inner.Framed {
				s.ground = "inner"
			}
			s.drawing(inner.Drawing)
			s.ground = around
			s.putf("</g>\n")
		}
	}
	for _, m := range d.Marks {
		s.mark(m)
	}
	s.d = around
}

func heading(g *Graph) string { return titleFont.cut(clean(cmp.Or(g.Name, g.ID)), 900) }

func (s *svg) box(b *Box, n Node) {
	accent, icon := look(n.Type)
	if s.d.Graph.Job {
		accent, icon = s.d.Graph.groupAccent(n.Group), jobIcons[n.Type]
		if n.Type == "final" && fails(n.Group) {
			icon = jobIcons["failed"]
		}
	}
	more := ""
	if n.Start {
		more += " ls-begins"
	}
	if n.End {
		more += " ls-ends"
	}
	if n.Compensation {
		more += " ls-compensates"
	}
	data := ""
	for _, d := range [][2]string{
		{"group", n.Group},
		{"type", clean(n.Type)},
		{"does", strings.Join(Node{Parts: n.Parts, Notes: n.Notes}.words(), "\n")},
		{"runs", strings.Join(n.Runs, "\n")},
	} {
		if d[1] != "" {
			data += fmt.Sprintf(` data-%s="%s"`, d[0], attr(d[1]))
		}
	}
	if n.Alias {
		s.putf(`<g class="ls-node ls-%s%s"><title>%s</title>`, accent, more, attr(describe(n)))
	} else {
		s.putf(`<g id="%sstate-%s" class="ls-node ls-%s%s" data-state="%s"%s><title>%s</title>`, attr(s.opts.Prefix), slug(n.Name), accent, more, attr(n.Name), data, attr(describe(n)))
	}
	dash := ""
	if n.Compensation {
		dash = ` stroke-dasharray="5 3"`
	}
	s.putf(`<rect class="ls-box" x="%s" y="%s" width="%s" height="%s" rx="9" fill="%s" stroke="%s" stroke-width="1.2"%s/>`,
		num(b.X), num(b.Y), num(b.W), num(b.H), light["box"], light["frame"], dash)
	if s.d.Graph.Job && n.End { // nothing follows
		frame := light["frame"]
		if accent == "raise" {
			frame = light["error"]
		}
		s.putf(`<rect class="ls-final" x="%s" y="%s" width="%s" height="%s" rx="6" fill="none" stroke="%s"/>`,
			num(b.X+7), num(b.Y+3), num(b.W-10), num(b.H-6), frame)
	}
	s.putf(`<path class="ls-bar" d="M%s %sa9 9 0 0 0 -9 9v%sa9 9 0 0 0 9 9a4 4 0 0 1 -4 -4v%sa4 4 0 0 1 4 -4z" fill="%s"/>`,
		num(b.X+9), num(b.Y), num(b.H-18), num(8-b.H), light[accent])
	s.putf(`<path class="ls-icon" transform="translate(%s %s)" d="%s" fill="none" stroke="%s" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/>`,
		num(b.Icon.X), num(b.Icon.Y), icon, light[accent])
	if b.Rule > 0 {
		s.putf(`<path class="ls-rule" d="M%s %sH%s" stroke="%s"/>`, num(b.X+boxPad), num(b.Rule), num(b.X+b.W-boxPad), light["frame"])
	}
	for _, r := range b.Rects {
		s.group(r)
	}
	for _, t := range b.Texts {
		switch t.Class {
		case "name":
			s.text(t, nameFont, light["text"])
		case "type":
			s.text(t, typeFont, light["muted"])
		case "note":
			s.text(t, partFont, light["muted"])
		default:
			s.text(t, partFont, light["text"])
		}
	}
	s.putf("</g>\n")
}

// group draws the frame of a branch or a loop; a loop has a second one behind it, and that of a
// catch is dashed as errors are.
func (s *svg) group(r Rect) {
	stroke, dash := light["frame"], ""
	if r.Class == string(AreaCatch) {
		stroke, dash = light["error"], ` stroke-dasharray="6 4"`
	}
	rect := func(dx float64) {
		s.putf(`<rect class="ls-group ls-%s" x="%s" y="%s" width="%s" height="%s" rx="6" fill="%s" stroke="%s"%s/>`,
			r.Class, num(r.X+dx), num(r.Y+dx), num(r.W), num(r.H), light["inner"], stroke, dash)
	}
	if r.Class == string(PartEach) {
		rect(behind)
	}
	rect(0)
}

func (s *svg) text(t Text, f font, fill string) {
	anchor, weight, full, long := "", "", "", ""
	if t.Middle {
		anchor = ` text-anchor="middle"`
	}
	if f.bold = f.bold || t.Class == "group-name"; f.bold {
		weight = ` font-weight="bold"`
	}
	if width := f.width(t.Text); width > 0 {
		long = fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, num(width))
	}
	if t.Full != "" {
		full = "<title>" + attr(t.Full) + "</title>"
	}
	classes := strings.Fields(t.Class)
	for i := range classes {
		classes[i] = "ls-" + class(classes[i])
	}
	s.putf(`<text class="%s" x="%s" y="%s" font-size="%s" fill="%s"%s%s%s>%s%s</text>`,
		strings.Join(classes, " "), num(t.X), num(t.Y), num(f.size), fill, anchor, weight, long, full, attr(t.Text))
}

func (s *svg) mark(m Mark) {
	switch m.Kind {
	case MarkStart:
		s.putf(`<circle class="ls-dot" cx="%s" cy="%s" r="8" fill="%s"><title>start</title></circle>`+"\n", num(m.X), num(m.Y), light["line"])
	case MarkEnd:
		s.putf(`<g><title>end</title><circle class="ls-ring" cx="%s" cy="%s" r="9" fill="none" stroke="%s" stroke-width="1.6"/>`+
			`<circle class="ls-dot" cx="%[1]s" cy="%[2]s" r="5" fill="%[3]s"/></g>`+"\n", num(m.X), num(m.Y), light["line"])
	case MarkExit:
		s.putf(`<g><title>the list ends</title><rect class="ls-reference" x="%s" y="%s" width="%s" height="%s" rx="11" fill="%s" stroke="%s"/>`,
			num(m.X-m.W/2), num(m.Y-m.H/2), num(m.W), num(m.H), light["box"], light["frame"])
		s.text(Text{X: m.X, Y: m.Y + 4, Text: m.Text, Middle: true, Class: "label"}, labelFont, light["muted"])
		s.putf("</g>\n")
	case MarkReference:
		name := s.d.Graph.Nodes[s.d.Graph.Edges[m.Edge].To].Name
		s.putf(`<g><title>%s</title><rect class="ls-reference" x="%s" y="%s" width="%s" height="%s" rx="12" fill="%s" stroke="%s"/>`,
			attr("goes on at "+name), num(m.X-m.W/2), num(m.Y-m.H/2), num(m.W), num(m.H), light["box"], light["frame"])
		s.text(Text{X: m.X, Y: m.Y + 4, Text: m.Text, Middle: true, Class: "label"}, labelFont, light["muted"])
		s.putf("</g>\n")
	}
}

// num writes a coordinate with at most one decimal.
func num(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

// slug makes an id of a name: letters and digits stay, and everything else is
// written so that no two names share one.
func slug(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// class makes a word fit for a class attribute.
func class(word string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, word)
}

// attr escapes a text for an attribute or an element; what XML cannot hold
// becomes the replacement character.
func attr(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\n' || r == '\t' || r == '\r':
			fmt.Fprintf(&b, "&#%d;", r)
		case r < 0x20 || r >= 0xD800 && r <= 0xDFFF || r == 0xFFFE || r == 0xFFFF:
			b.WriteRune('\uFFFD')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
