package nats

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// pingEvery finds connections that are dead although they were never closed: two pings
// without an answer.
const pingEvery = 20 * time.Second

// Tests give a busy machine more time.
var (
	// dialTime bounds the wait for one server while a connection is made.
	dialTime = 5 * time.Second
	// requestTime bounds the wait for an answer of the server.
	requestTime = 10 * time.Second
)

// connect makes a connection, which comes back by itself when it is lost.
func (c Connection) connect(log *slog.Logger, more ...nats.Option) (*nats.Conn, error) {
	options, err := c.options(log)
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(strings.Join(c.Servers, ","), append(options, more...)...)
	if err != nil {
		return nil, c.explain(err)
	}
	return conn, nil
}

func (c Connection) options(log *slog.Logger) ([]nats.Option, error) {
	out := []nats.Option{
		nats.Name("lockstep"), nats.Timeout(dialTime), nats.PingInterval(pingEvery),
		nats.MaxReconnects(-1), nats.ReconnectWait(time.Second), nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: it was closed on purpose
				log.Warn("the connection is lost; it is made again", "server", c.Servers[0], "error", err)
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) { log.Info("connected again", "server", conn.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("the server reports", "server", c.Servers[0], "error", err)
		}),
	}
	encrypted, err := c.tls()
	if err != nil {
		return nil, err
	}
	if encrypted != nil {
		out = append(out, nats.Secure(encrypted))
	}
	credentials, err := c.credentials()
	if err != nil {
		return nil, err
	}
	if credentials != nil {
		out = append(out, credentials)
	}
	return out, nil
}

// credentials is how this client authenticates. Files are read anew with every connection.
func (c Connection) credentials() (nats.Option, error) {
	switch {
	case c.Credentials != "":
		return nats.UserCredentials(c.Credentials), nil
	case c.NKey != "":
		option, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey: %s: %w", c.NKey, err)
		}
		return option, nil
	case c.User != "":
		return nats.UserInfoHandler(func() (string, string) { return c.User, secret(c.Password) }), nil
	case c.Token != "":
		return nats.TokenHandler(func() string { return secret(c.Token) }), nil
	}
	return nil, nil
}

// secret is what a file holds. One that cannot be read any more is nothing, which the
// server refuses.
func secret(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// explain says what to do about a connection that could not be made.
func (c Connection) explain(err error) error {
	servers := strings.Join(c.Servers, ", ")
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return fmt.Errorf("%s refuses %s: %w", servers, c.identity(), err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("%s offers no TLS, which ca, cert or tls:// ask for: %w", servers, err)
	}
	return fmt.Errorf("cannot connect to %s: %w", servers, err)
}

// identity names what the server is told, never what is in it.
func (c Connection) identity() string {
	switch {
	case c.Credentials != "":
		return "the credentials of " + c.Credentials
	case c.NKey != "":
		return "the nkey of " + c.NKey
	case c.User != "":
		return fmt.Sprintf("user %q with the password of %s", c.User, c.Password)
	case c.Token != "":
		return "the token of " + c.Token
	}
	return "a client without credentials"
}

// explainRequest says what to do about a request that JetStream did not do.
func (c Connection) explainRequest(stream string, err error) error {
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("there is no stream %q at %s; it is for the operator of NATS to make it: %w", stream, c.Servers[0], err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("JetStream is not there at %s, or not for this account: %w", c.Servers[0], err)
	}
	return fmt.Errorf("%s, stream %s: %w", c.Servers[0], stream, err)
}
