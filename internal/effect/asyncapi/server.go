package asyncapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// The protocols that can be used.
const (
	protocolHTTP = "http"
	protocolNATS = "nats"
)

// server is one of a document.
type server struct {
	name      string
	protocol  string // as written
	url       string // with {variables}
	variables place
	secure    bool // its security asks for TLS
}

// kind is the protocol of a server that can be used; "": none is.
func (s server) kind() string {
	switch strings.ToLower(s.protocol) {
	case "http", "https":
		return protocolHTTP
	case "nats", "tls":
		return protocolNATS
	}
	return ""
}

// readServers finds the servers of a channel: those that it names, else all of the document.
func (c *compiler) readServers(o *operation, channel place) error {
	all, err := c.at(c.root, "servers")
	if err != nil {
		return err
	}
	names := c.root.doc.servers
	if own, ok := channel.Get("servers"); ok && own.Len() > 0 {
		names = nil
		for _, v := range own.Items() { // a name, or a reference to it
			name := v.Str()
			if ref := effect.Name(v, "$ref"); ref != "" {
				name = ref[strings.LastIndexByte(ref, '/')+1:]
			}
			names = append(names, name)
		}
	}
	for _, name := range names {
		p, ok, err := c.member(all, name)
		if err != nil || !ok {
			return orBroken(err, "%s names the server %q, which the document does not have", o.title, name)
		}
		s, err := c.readServer(name, p)
		if err != nil {
			return err
		}
		o.servers = append(o.servers, s)
	}
	return nil
}

func (c *compiler) readServer(name string, p place) (server, error) {
	s := server{name: name, protocol: effect.Name(p.Value, "protocol"), url: effect.Name(p.Value, "url")}
	if c.major == 3 {
		s.url = effect.Name(p.Value, "host") + effect.Name(p.Value, "pathname")
	}
	if s.url != "" && !strings.Contains(s.url, "://") {
		s.url = strings.ToLower(s.protocol) + "://" + s.url
	}
	var err error
	if s.variables, _, err = c.member(p, "variables"); err != nil {
		return s, err
	}
	list, _ := p.Get("security")
	for _, v := range list.Items() {
		scheme, err := c.follow(place{doc: p.doc, Value: v})
		if err != nil {
			return s, err
		}
		if c.major == 2 { // it names schemes of the components
			for _, m := range v.Members() {
				if scheme, err = c.at(c.root, "components", "securitySchemes", m.Key); err != nil {
					return s, err
				}
			}
		}
		s.secure = s.secure || effect.Name(scheme.Value, "type") == "X509"
	}
	return s, nil
}

// choose finds the server of a call: the named one, else the first of the protocol, else the first that can
// be used.
func (o *operation) choose(name, protocol string) (server, error) {
	var names []string
	for _, s := range o.servers {
		if names = append(names, s.name); name != "" && s.name == name {
			return s, s.usable()
		}
	}
	if name != "" {
		p := &problem{msg: fmt.Sprintf("%s has no server %q", o.title, name)}
		if near := dialect.Suggest(name, names); near != "" {
			p.hint = fmt.Sprintf("did you mean %q?", near)
		} else if len(names) > 0 {
			p.hint = "there are " + strings.Join(names, ", ")
		}
		return server{}, p
	}
	if protocol != "" {
		asked := server{protocol: protocol}
		if err := asked.usable(); err != nil {
			return server{}, err
		}
		i := slices.IndexFunc(o.servers, func(s server) bool { return s.kind() == asked.kind() })
		if i < 0 {
			return server{}, broken("%s has no server of the protocol %s", o.title, protocol)
		}
		return o.servers[i], nil
	}
	if i := slices.IndexFunc(o.servers, func(s server) bool { return s.kind() != "" }); i >= 0 {
		return o.servers[i], nil
	}
	if len(o.servers) == 0 {
		return server{}, broken("%s has no server", o.title)
	}
	return server{}, o.servers[0].usable()
}

func (s server) usable() error {
	switch {
	case s.kind() != "":
		return nil
	case s.protocol == "":
		return broken("the server %q has no protocol", s.name)
	}
	return &problem{msg: fmt.Sprintf("protocol %s cannot be used by this server", s.protocol), hint: "http, https and nats can"}
}

// address is where the server is. given are the values of its variables; others have their defaults.
func (s server) address(given expr.Value) (*url.URL, error) {
	var out strings.Builder
	if s.url == "" {
		return nil, broken("the server %q has no address", s.name)
	}
	for text := s.url; ; {
		before, rest, ok := strings.Cut(text, "{")
		out.WriteString(before)
		if !ok {
			break
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return nil, broken("the address of the server %q has a { without }", s.name)
		}
		value, err := s.variable(name, given)
		if err != nil {
			return nil, err
		}
		out.WriteString(value)
		text = after
	}
	u, err := url.Parse(out.String())
	switch {
	case err != nil || u.Host == "":
		return nil, broken("the address of the server %q is not valid", s.name)
	case u.User != nil:
		return nil, broken("the address of the server %q holds a user or password; use authentication", s.name)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, broken("the address of the server %q has a query or a fragment", s.name)
	case effecthttp.CheckPort(u) != nil:
		return nil, broken("the address of the server %q: %v", s.name, effecthttp.CheckPort(u))
	}
	if fits := (server{protocol: u.Scheme}).kind(); fits != s.kind() {
		return nil, broken("the server %q has the protocol %s and an address that begins with %s:", s.name, s.protocol, u.Scheme)
	}
	return u, nil
}

func (s server) variable(name string, given expr.Value) (string, error) {
	described, known := s.variables.Get(name)
	value := effect.Text(described, "default")
	if v, ok := given.Get(name); ok {
		if v.IsNull() || v.IsObject() || v.IsArray() {
			return "", broken("the variable %q of the server %q must be text, not %s", name, s.name, v.Kind().WithArticle())
		}
		value = v.Text()
	}
	var among []string
	list, _ := described.Get("enum")
	for _, v := range list.Items() {
		among = append(among, v.Text())
	}
	switch {
	case !known:
		return "", broken("the address of the server %q has the variable %q, which is not described", s.name, name)
	case value == "":
		return "", broken("the variable %q of the server %q has no value and no default", name, s.name)
	case len(among) > 0 && !slices.Contains(among, value):
		return "", broken("the variable %q of the server %q is %q, and must be one of %s", name, s.name, value, strings.Join(among, ", "))
	}
	return value, nil
}

// strangers are names of given variables that the server does not have.
func (s server) strangers(given expr.Value) error {
	for _, m := range given.Members() {
		if _, ok := s.variables.Get(m.Key); ok {
			continue
		}
		var names []string
		for _, v := range s.variables.Members() {
			names = append(names, v.Key)
		}
		p := &problem{msg: fmt.Sprintf("the server %q has no variable %q", s.name, m.Key)}
		if near := dialect.Suggest(m.Key, names); near != "" {
			p.hint = fmt.Sprintf("did you mean %q?", near)
		}
		return p
	}
	return nil
}
