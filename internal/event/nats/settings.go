package nats

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	defaultPort    = "4222"
	defaultDurable = "lockstep"
	defaultSubject = "lockstep.events.{type}"

	// defaultInFlight is how many unacknowledged messages a new consumer may have, for all nodes
	// together.
	defaultInFlight = 256
	// maxInFlight is the maximum in a URL ("source-pending").
	maxInFlight = 65536
)

// Connection has the addresses of servers and the identity to connect with. Secrets are in files.
type Connection struct {
	Servers     []string // nats://host:port or tls://host:port, each
	Credentials string   // a file of NATS credentials (.creds)
	NKey        string   // a file with the seed of an NKey
	User        string   // with Password
	Password    string   // a file
	Token       string   // a file
	CA          string   // a PEM file of certificate authorities; "": those of the system
	Cert, Key   string   // PEM files of this client's certificate
}

// SourceSettings select the messages of a source.
type SourceSettings struct {
	Connection
	Stream   string
	Durable  string   // the consumer that all nodes share
	Subjects []string // none: those of the consumer; for a new consumer, all subjects of the stream

	// InFlight is how many unacknowledged messages all nodes together may have. 1 keeps messages in
	// order; 0 leaves the consumer as it is.
	InFlight int
	New      bool // a new consumer skips the messages that the stream has already
}

// SinkSettings say where a sink publishes.
type SinkSettings struct {
	Connection
	Stream  string // the stream that must store the message; "": any
	Subject string // with attributes in braces
	Binary  bool   // binary mode, else structured
}

// IsURL reports whether text is a URL of NATS.
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (strings.EqualFold(scheme, "nats") || strings.EqualFold(scheme, "tls"))
}

// ParseSource reads nats://HOST:PORT/STREAM?durable=NAME&subject=SUBJECT.
func ParseSource(text string) (SourceSettings, error) {
	p, err := parse(text, "durable", "subject", "in-flight", "deliver")
	if err != nil {
		return SourceSettings{}, err
	}
	out := SourceSettings{Connection: p.connection(), Stream: p.stream, Subjects: p.query["subject"]}
	if out.Stream == "" {
		return SourceSettings{}, fmt.Errorf("the URL names no stream: nats://%s/STREAM", p.host)
	}
	if out.Durable, err = p.one("durable", defaultDurable); err != nil {
		return SourceSettings{}, err
	}
	if !validName(out.Durable) {
		return SourceSettings{}, fmt.Errorf("durable=%q is not the name of a consumer: it has letters, digits, - and _", out.Durable)
	}
	for _, subject := range out.Subjects {
		if !validSubject(subject, true) {
			return SourceSettings{}, fmt.Errorf("subject=%q is not a subject such as orders.created or orders.>", subject)
		}
	}
	if text, _ := p.one("in-flight", ""); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxInFlight {
			return SourceSettings{}, fmt.Errorf("in-flight=%q is not a number from 1 to %d (limit source-pending)", text, maxInFlight)
		}
		out.InFlight = n
	}
	switch deliver, _ := p.one("deliver", "all"); deliver {
	case "all":
	case "new":
		out.New = true
	default:
		return SourceSettings{}, fmt.Errorf("deliver=%q is neither all nor new", deliver)
	}
	return out, p.errs()
}

// ParseSink reads nats://HOST:PORT/STREAM?subject=TEMPLATE, where the stream can be left out.
func ParseSink(text string) (SinkSettings, error) {
	p, err := parse(text, "subject")
	if err != nil {
		return SinkSettings{}, err
	}
	out := SinkSettings{Connection: p.connection(), Stream: p.stream}
	if out.Subject, err = p.one("subject", defaultSubject); err != nil {
		return SinkSettings{}, err
	}
	if _, err := parseTemplate(out.Subject); err != nil {
		return SinkSettings{}, err
	}
	return out, p.errs()
}

// parsed is a parsed URL.
type parsed struct {
	scheme, host, stream string
	query                url.Values
	bad                  []error
}

// connectionParameters are the parameters of every URL.
var connectionParameters = []string{"server", "credentials", "nkey", "user", "password-file", "token-file", "ca", "cert", "key"}

func parse(text string, more ...string) (*parsed, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is not a URL such as nats://localhost:4222/STREAM")
	case !IsURL(text):
		return nil, errors.New("the scheme is neither nats nor tls")
	case u.Hostname() == "":
		return nil, errors.New("the URL names no host: nats://HOST:4222/STREAM")
	case strings.Contains(text, "@"): // anywhere: after a / or ? in a password it is not in the host
		return nil, errors.New("the URL contains a user or password, which others could see; " +
			"give files: credentials=FILE, or user=NAME and password-file=FILE")
	case u.Fragment != "":
		return nil, errors.New("the URL has a fragment; write # as %23")
	}
	p := &parsed{scheme: strings.ToLower(u.Scheme), stream: strings.Trim(u.Path, "/")}
	p.host = withPort(u.Host)
	if p.stream != "" && !validName(p.stream) {
		return nil, fmt.Errorf("%q is not the name of a stream: it has letters, digits, - and _", p.stream)
	}
	if p.query, err = url.ParseQuery(u.RawQuery); err != nil {
		return nil, errors.New("the parameters of the URL cannot be read: separate them by &, and write ; as %3B and % as %25")
	}
	known := append(more, connectionParameters...)
	for _, name := range sortedKeys(p.query) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown parameter %q; the parameters are %s", name, strings.Join(known, ", "))
		}
	}
	return p, nil
}

// one returns a parameter that may be given once.
func (p *parsed) one(name, otherwise string) (string, error) {
	switch values := p.query[name]; {
	case len(values) == 0:
		return otherwise, nil
	case len(values) > 1 || values[0] == "":
		err := fmt.Errorf("the parameter %s must have one value", name)
		p.bad = append(p.bad, err)
		return "", err
	default:
		return values[0], nil
	}
}

func (p *parsed) errs() error { return errors.Join(p.bad...) }

// connection reads the parameters of every URL; errs returns what is wrong with them.
func (p *parsed) connection() Connection {
	c := Connection{Servers: []string{p.scheme + "://" + p.host}}
	for _, server := range p.query["server"] {
		if server == "" || strings.ContainsAny(server, "@/?#, ") {
			p.bad = append(p.bad, errors.New("server must be HOST or HOST:PORT of a further server"))
			continue
		}
		c.Servers = append(c.Servers, p.scheme+"://"+withPort(server))
	}
	for _, field := range []struct {
		name string
		to   *string
	}{
		{"credentials", &c.Credentials},
		{"nkey", &c.NKey},
		{"user", &c.User},
		{"password-file", &c.Password},
		{"token-file", &c.Token},
		{"ca", &c.CA},
		{"cert", &c.Cert},
		{"key", &c.Key},
	} {
		*field.to, _ = p.one(field.name, "")
	}
	p.bad = append(p.bad, c.check()...)
	return c
}

// check reads the files that a connection needs, so that a wrong name is reported at once.
func (c Connection) check() (bad []error) {
	ways := 0
	for _, way := range []string{c.Credentials, c.NKey, c.User, c.Token} {
		if way != "" {
			ways++
		}
	}
	if ways > 1 {
		bad = append(bad, errors.New("credentials, nkey, user and token-file are mutually exclusive"))
	}
	if (c.User == "") != (c.Password == "") {
		bad = append(bad, errors.New("user and password-file must be given together"))
	}
	if (c.Cert == "") != (c.Key == "") {
		bad = append(bad, errors.New("cert and key must be given together"))
	}
	for _, f := range []struct{ name, file string }{
		{"credentials", c.Credentials},
		{"nkey", c.NKey},
		{"password-file", c.Password},
		{"token-file", c.Token},
	} {
		if f.file == "" {
			continue
		}
		if text, err := os.ReadFile(f.file); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", f.name, err))
		} else if strings.TrimSpace(string(text)) == "" {
			bad = append(bad, fmt.Errorf("%s: %s is empty", f.name, f.file))
		}
	}
	if len(bad) == 0 {
		if _, err := c.tls(); err != nil {
			bad = append(bad, err)
		}
	}
	return bad
}

// tls is the TLS configuration of a connection; nil: as the server requires.
func (c Connection) tls() (*tls.Config, error) {
	if c.CA == "" && c.Cert == "" && !strings.HasPrefix(c.Servers[0], "tls://") {
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca: %s contains no PEM certificate", c.CA)
		}
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("cert, key: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
}

// validName reports whether a stream or a consumer can have this name. NATS allows more
// characters; these are the ones that need no quoting anywhere.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return name != "" && len(name) <= 255
}

func sortedKeys(v url.Values) []string {
	keys := make([]string, 0, len(v))
	for key := range v {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
