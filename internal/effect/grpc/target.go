package grpc

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// target is where a service is.
type target struct {
	address string // host:port
	plain   bool   // without TLS
	local   bool   // by its name it is this machine
	guarded bool   // data may have chosen it
}

// plaintext says of each scheme that a host may be written with whether it is without TLS.
var plaintext = map[string]bool{"http": true, "grpc": true, "https": false, "grpcs": false}

// readTarget reads {host, port}.
func readTarget(service expr.Value, guarded bool) (target, error) {
	t := target{guarded: guarded}
	port := int64(0)
	if v, _ := service.Get("port"); !v.IsNull() {
		n, ok := v.Int()
		if !ok || n < 0 || n > 65535 {
			return t, errors.New("service.port must be a whole number from 0 to 65535")
		}
		port = n
	}
	host := effect.Name(service, "host")
	scheme, rest, schemed := strings.Cut(host, "://")
	if schemed {
		plain, known := plaintext[strings.ToLower(scheme)]
		if !known {
			return t, fmt.Errorf("service.host begins with %q, and must begin with https://, grpcs://, http:// or grpc://, or be a name", scheme+"://")
		}
		t.plain, host = plain, rest
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	isIP := err == nil && ip.Zone() == ""
	if isIP {
		host = ip.Unmap().String()
	}
	switch name := strings.ToLower(strings.TrimSuffix(host, ".")); {
	case isIP:
		t.local = ip.Unmap().IsLoopback()
	case host == "":
		return t, errors.New("service.host is required: a name such as greeter.example.com")
	case strings.ContainsRune(host, ':'):
		return t, errors.New("service.host must not have a port; write it as service.port")
	case strings.ContainsFunc(host, notInName):
		return t, errors.New("service.host must be a name such as greeter.example.com, or an address")
	default:
		t.local = name == "localhost" || strings.HasSuffix(name, ".localhost")
	}
	switch {
	case !schemed:
		t.plain = t.local && port != 0 && port != 443
	case port == 0 && t.plain:
		port = 80
	}
	if port == 0 {
		port = 443
	}
	t.address = net.JoinHostPort(host, strconv.FormatInt(port, 10))
	return t, nil
}

func notInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_'
}
