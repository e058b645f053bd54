package postgres

import (
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// reason is why an address cannot be used, without the address: pgx leaves out one password
// of several.
func reason(err error) string {
	var bad *pgconn.ParseConfigError
	if !errors.As(err, &bad) {
		return "the address cannot be used"
	}
	nameless := *bad
	nameless.ConnString = ""
	return "the address cannot be used: " + strings.TrimPrefix(nameless.Error(), "cannot parse ``: ")
}

// unprotected is the first host on another machine to which connections may be made without
// TLS, "" if there is none. Without sslmode they are where the server has no TLS.
func unprotected(c *pgconn.Config) string {
	if c.TLSConfig == nil && !local(c.Host) {
		return c.Host
	}
	for _, f := range c.Fallbacks {
		if f.TLSConfig == nil && !local(f.Host) {
			return f.Host
		}
	}
	return ""
}

// local reports whether a host is this machine: a socket, or loopback.
func local(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
