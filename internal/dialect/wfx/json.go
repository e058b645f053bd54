package wfx

import "github.com/lockstep-workflows/lockstep/expr"

// AppendJSON writes the workflow as wfx's API shows it: keys in alphabetical order, what
// is empty left out. The time limits of states stand in it too.
func (w *Workflow) AppendJSON(b []byte) []byte {
	o := openObject(b)
	o.text("description", w.Description)
	if len(w.Groups) > 0 {
		o.key("groups")
		o.b = appendList(o.b, w.Groups, Group.appendJSON)
	}
	o.text("name", w.Name)
	o.key("states")
	o.b = appendList(o.b, w.States, State.appendJSON)
	o.key("transitions")
	o.b = appendList(o.b, w.Transitions, Transition.appendJSON)
	return o.close()
}

func (g Group) appendJSON(b []byte) []byte {
	o := openObject(b)
	o.text("description", g.Description)
	o.text("name", g.Name)
	o.key("states")
	o.b = appendList(o.b, g.States, func(name string, b []byte) []byte { return expr.AppendQuoted(b, name) })
	return o.close()
}

func (s State) appendJSON(b []byte) []byte {
	o := openObject(b)
	o.text("description", s.Description)
	o.text("name", s.Name)
	if s.Timeout != nil {
		o.key("timeout")
		t := openObject(o.b)
		t.text("after", s.Timeout.Text)
		t.text("to", s.Timeout.To)
		o.b = t.close()
	}
	return o.close()
}

func (t Transition) appendJSON(b []byte) []byte {
	o := openObject(b)
	o.text("action", t.Action)
	o.text("description", t.Description)
	o.text("eligible", t.Eligible)
	o.text("from", t.From)
	o.text("to", t.To)
	return o.close()
}

// object writes the members of a JSON object one by one.
type object struct {
	b     []byte
	begun bool
}

func openObject(b []byte) object { return object{b: append(b, '{')} }

func (o *object) key(key string) {
	if o.begun {
		o.b = append(o.b, ',')
	}
	o.begun = true
	o.b = append(expr.AppendQuoted(o.b, key), ':')
}

// text writes a member unless it is empty.
func (o *object) text(key, value string) {
	if value != "" {
		o.key(key)
		o.b = expr.AppendQuoted(o.b, value)
	}
}

func (o *object) close() []byte { return append(o.b, '}') }

func appendList[T any](b []byte, list []T, item func(T, []byte) []byte) []byte {
	b = append(b, '[')
	for i, one := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(one, b)
	}
	return append(b, ']')
}
