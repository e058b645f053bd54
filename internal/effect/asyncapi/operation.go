package asyncapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// direction says what a call does.
type direction string

const (
	sends    direction = "publish" // as AsyncAPI 2 names it
	receives direction = "subscribe"
)

// operation is what a call names: a channel of AsyncAPI 2, or an operation of AsyncAPI 3.
type operation struct {
	title      string // for messages
	channel    string // its address, with {parameters}
	parameters []parameter
	servers    []server // where it may be made, in order
	messages   []message
	media      string // of payloads
	method     string // of HTTP; "": POST, or GET to subscribe
	query      expr.Value
}

// parameter is a part of the address of a channel.
type parameter struct {
	name     string
	location string // where a message has it, such as $message.payload#/user/id
	value    string // its default; "": none
	among    []string
}

// compiler makes an operation of a document.
type compiler struct {
	*library
	root  place
	major int
	left  int      // values of schemas that there may still be
	notes []string // what is not checked
}

// compile finds a channel or an operation of a document.
func (l *library) compile(ref, name string, way direction) (*operation, *compiler, error) {
	doc, err := l.get(ref)
	if err != nil {
		return nil, nil, err
	}
	c := &compiler{library: l, root: place{doc: doc, Value: doc.root}, left: maxSchemaValues}
	if c.major, err = doc.version(); err != nil {
		return nil, c, err
	}
	o := &operation{media: effect.Name(doc.root, "defaultContentType")}
	if c.major == 2 {
		err = c.channel2(o, name, way)
	} else {
		err = c.operation3(o, name)
	}
	return o, c, err
}

// named finds a member of a map of the document by its name.
func (c *compiler) named(kind, plural, name string) (place, error) {
	all, err := c.at(c.root, plural)
	if err != nil {
		return place{}, err
	}
	found, ok, err := c.member(all, name)
	if err != nil || ok {
		return found, err
	}
	var names []string
	for _, m := range all.Members() {
		names = append(names, m.Key)
	}
	p := &problem{msg: fmt.Sprintf("%q has no %s %q", c.root.doc.ref, kind, name)}
	switch near := dialect.Suggest(name, names); {
	case near != "":
		p.hint = fmt.Sprintf("did you mean %q?", near)
	case len(names) > 0 && len(names) <= 8:
		p.hint = "there are " + strings.Join(names, ", ")
	}
	return place{}, p
}

// operationChannel is the channel of AsyncAPI 2 with the operation of an operationId; else the name itself.
func (c *compiler) operationChannel(name string, way direction) string {
	channels, err := c.at(c.root, "channels")
	if _, known := channels.Get(name); known || err != nil {
		return name
	}
	for _, m := range channels.Members() {
		if op, _ := m.Value.Get(string(way)); effect.Name(op, "operationId") == name {
			return m.Key
		}
	}
	return name
}

// channel2 reads a channel of AsyncAPI 2, where the operations stand below the channel. It is known by its name, or by
// the operationId of its operation.
func (c *compiler) channel2(o *operation, name string, way direction) error {
	name = c.operationChannel(name, way)
	channel, err := c.named("channel", "channels", name)
	if err != nil {
		return err
	}
	o.title, o.channel = fmt.Sprintf("channel %q", name), name
	op, ok, err := c.member(channel, string(way))
	switch {
	case err != nil:
		return err
	case !ok && way == sends:
		return &problem{msg: fmt.Sprintf("%s has no operation publish, which a message needs", o.title), hint: "with subscription its messages are received"}
	case !ok:
		return &problem{msg: fmt.Sprintf("%s has no operation subscribe, which a subscription needs", o.title), hint: "with message one is sent"}
	}
	if err := c.describe(o, channel, op); err != nil {
		return err
	}
	msg, ok, err := c.member(op, "message")
	if err != nil || !ok {
		return err
	}
	if list, _ := msg.Get("oneOf"); list.IsArray() {
		return c.readMessages(o, place{doc: msg.doc, Value: list})
	}
	return c.readMessage(o, msg)
}

// operation3 reads an operation of AsyncAPI 3, which names its channel. A document may be of the workflow's
// side, where what it sends is a send, or of the other one, which receives it: the action is no contradiction.
func (c *compiler) operation3(o *operation, name string) error {
	op, err := c.named("operation", "operations", name)
	if err != nil {
		return err
	}
	o.title = fmt.Sprintf("operation %q", name)
	channel, ok, err := c.member(op, "channel")
	if err != nil || !ok {
		return orBroken(err, "%s has no channel", o.title)
	}
	address, _ := channel.Get("address")
	if o.channel = address.Str(); o.channel == "" {
		return broken("the channel of %s has no address", o.title)
	}
	if err := c.describe(o, channel, op); err != nil {
		return err
	}
	if list, ok := op.Get("messages"); ok {
		return c.readMessages(o, place{doc: op.doc, Value: list})
	}
	all, _, err := c.member(channel, "messages")
	if err != nil {
		return err
	}
	for _, m := range all.Members() {
		msg, err := c.follow(place{doc: all.doc, Value: m.Value})
		if err != nil {
			return err
		}
		if err := c.readMessage(o, msg); err != nil {
			return err
		}
	}
	return nil
}

func orBroken(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return broken(format, args...)
}

// describe reads what channels and operations of both versions have.
func (c *compiler) describe(o *operation, channel, op place) error {
	if err := c.readParameters(o, channel); err != nil {
		return err
	}
	for _, p := range []place{channel, op} { // of AsyncAPI 3 method and query are the operation's; some documents have them above
		binding, err := c.at(p, "bindings", "http")
		if err != nil {
			return err
		}
		if method := effect.Name(binding.Value, "method"); method != "" {
			o.method = strings.ToUpper(method)
		}
		query, err := c.at(binding, "query", "properties")
		if err != nil {
			return err
		}
		if err := c.readQuery(o, query); err != nil {
			return err
		}
	}
	return c.readServers(o, channel)
}

// readQuery takes the parameters of the query that the document gives a value: a call has no place for others.
func (c *compiler) readQuery(o *operation, properties place) error {
	for _, m := range properties.Members() {
		schema, err := c.follow(place{doc: properties.doc, Value: m.Value})
		if err != nil {
			return err
		}
		for _, key := range []string{"default", "const"} {
			if v, ok := schema.Get(key); ok {
				if o.query.IsNull() {
					o.query = expr.EmptyObject
				}
				o.query = o.query.With(m.Key, v)
			}
		}
	}
	return nil
}

// readParameters reads the parameters of the address.
func (c *compiler) readParameters(o *operation, channel place) error {
	described, _, err := c.member(channel, "parameters")
	if err != nil {
		return err
	}
	for rest := o.channel; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			return nil
		}
		name, after, ok := strings.Cut(after, "}")
		if !ok {
			return broken("the address %q of %s has a { without }", o.channel, o.title)
		}
		rest = after
		p, _, err := c.member(described, name)
		if err != nil {
			return err
		}
		one := parameter{name: name, location: effect.Name(p.Value, "location")}
		schema := p // AsyncAPI 3 has default and enum in the parameter, AsyncAPI 2 in its schema
		if inner, ok, err := c.member(p, "schema"); err != nil {
			return err
		} else if ok {
			schema = inner
		}
		one.value = effect.Text(schema.Value, "default")
		among, _ := schema.Get("enum")
		for _, v := range among.Items() {
			one.among = append(one.among, v.Text())
		}
		if !slices.ContainsFunc(o.parameters, func(p parameter) bool { return p.name == name }) {
			o.parameters = append(o.parameters, one)
		}
	}
}

// valued reports a parameter that never has a value: only a message that is sent can give one.
func (o *operation) valued(way direction) error {
	for _, p := range o.parameters {
		switch {
		case p.value != "":
		case way == receives:
			return broken("the parameter %q of %s has no value: the document gives it no default", p.name, o.title)
		case p.location == "":
			return broken("the parameter %q of %s has no value: the document gives it neither a default nor a location in the message", p.name, o.title)
		}
	}
	return nil
}

// address is the address of the channel for a message, each parameter escaped; otherwise is what stands for a
// parameter without a value; nil: there is nothing.
func (o *operation) address(msg expr.Value, escape func(string) (string, error), otherwise *string) (string, error) {
	var values []string
	for _, p := range o.parameters {
		value, ok := located(p.location, msg)
		if !ok {
			value, ok = p.value, p.value != ""
		}
		var text string
		switch {
		case ok && len(p.among) > 0 && !slices.Contains(p.among, value):
			return "", fmt.Errorf("the parameter %q of %s is %q, which is not one of %s", p.name, o.title, value, strings.Join(p.among, ", "))
		case ok:
			var err error
			if text, err = escape(value); err != nil {
				return "", fmt.Errorf("the parameter %q of %s: %w", p.name, o.title, err)
			}
		case otherwise != nil:
			text = *otherwise
		case p.location != "":
			return "", fmt.Errorf("the parameter %q of %s has no value: the message has none at %s, and there is no default", p.name, o.title, p.location)
		default:
			return "", o.valued(sends)
		}
		values = append(values, "{"+p.name+"}", text)
	}
	return strings.NewReplacer(values...).Replace(o.channel), nil
}
