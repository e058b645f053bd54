package http

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// azureHost serves metadata to machines of one provider from a public address.
var azureHost = netip.AddrFrom4([4]byte{168, 63, 129, 16})

// policy decides which addresses may be dialled.
type policy struct {
	guard    *ssrf.Guardian
	prefixes []netip.Prefix
	sockets  []netip.AddrPort
	hosts    []hostPort
}

// hostPort is an allowed name; port 0 allows all.
type hostPort struct {
	host string
	port uint16
}

func newPolicy(allow []string) (*policy, error) {
	p := &policy{guard: ssrf.New(ssrf.WithAnyPort())}
	for _, entry := range allow {
		if err := p.add(entry); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add takes one entry of the allow-list: CIDR, ADDRESS[:PORT] or HOST[:PORT].
func (p *policy) add(entry string) error {
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 { // addresses are judged as IPv4
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		p.prefixes = append(p.prefixes, prefix.Masked())
		return nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		addr = addr.Unmap()
		p.prefixes = append(p.prefixes, netip.PrefixFrom(addr, addr.BitLen()))
		return nil
	}
	if socket, err := netip.ParseAddrPort(entry); err == nil {
		p.sockets = append(p.sockets, netip.AddrPortFrom(socket.Addr().Unmap(), socket.Port()))
		return nil
	}
	host, port := entry, uint64(0)
	if h, portText, ok := strings.Cut(entry, ":"); ok {
		var err error
		if port, err = strconv.ParseUint(portText, 10, 16); err != nil || port == 0 {
			return fmt.Errorf("outbound allow %q: want CIDR or HOST[:PORT]", entry)
		}
		host = h
	}
	if host == "" || strings.ContainsAny(host, "/@*[] ") {
		return fmt.Errorf("outbound allow %q: want CIDR or HOST[:PORT]", entry)
	}
	p.hosts = append(p.hosts, hostPort{canonicalHost(host), uint16(port)})
	return nil
}

func canonicalHost(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// dial connects to host:port of a URL. A name that is allowed may resolve to any
// address; for all others the address decides.
func (p *policy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !p.allowsHost(address) {
		d.Control = func(_, dialled string, _ syscall.RawConn) error { return p.check(dialled) }
	}
	return d.DialContext(ctx, network, address)
}

func (p *policy) allowsHost(address string) bool {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	port, _ := strconv.ParseUint(portText, 10, 16)
	host = canonicalHost(host)
	for _, h := range p.hosts {
		if h.host == host && (h.port == 0 || h.port == uint16(port)) {
			return true
		}
	}
	return false
}

// check says whether an address may be connected to.
func (p *policy) check(dialled string) error {
	socket, err := netip.ParseAddrPort(dialled)
	if err != nil {
		return &Error{Code: CodeRefused, Msg: fmt.Sprintf("%q is not an address", dialled)}
	}
	// An IPv4 address inside an IPv6 one is judged as what it is.
	addr := socket.Addr().Unmap()
	socket = netip.AddrPortFrom(addr, socket.Port())
	for _, s := range p.sockets {
		if s == socket {
			return nil
		}
	}
	for _, prefix := range p.prefixes {
		if prefix.Contains(addr.WithZone("")) {
			return nil
		}
	}
	if err := p.guard.SafeAddr(addr); err != nil || addr == azureHost {
		return &Error{Code: CodeRefused, Msg: fmt.Sprintf(
			"the outbound policy refuses %s, an address that is not public; allow it with --outbound-allow CIDR or HOST[:PORT]", socket)}
	}
	return nil
}
