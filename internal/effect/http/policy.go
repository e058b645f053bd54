package http

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// azureHost is the metadata service of Azure, which has a public address.
var azureHost = netip.AddrFrom4([4]byte{168, 63, 129, 16})

// policy decides which addresses may be dialled.
type policy struct {
	guard    *ssrf.Guardian
	prefixes []netip.Prefix
	sockets  []netip.AddrPort
	hosts    []hostPort
}

// hostPort is an allowed host name; port 0: every port.
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
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 { // check compares IPv4 addresses
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

// dialer connects to host:port of a URL.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// dial connects to what the policy allows. An allowed name may resolve to any address; for all
// other names the address is checked.
func (p *policy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return p.connect(ctx, network, address, p.check)
}

// dialListed connects only to what is on the allow-list.
func (p *policy) dialListed(ctx context.Context, network, address string) (net.Conn, error) {
	return p.connect(ctx, network, address, p.checkListed)
}

func (p *policy) connect(ctx context.Context, network, address string, check func(named, dialled string) error) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !p.allowsHost(address) {
		d.Control = func(_, dialled string, _ syscall.RawConn) error { return check(address, dialled) }
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

// check refuses an address that is neither public nor on the allow-list. The message has the name that was asked for:
// what it resolves to, inside of a network, is not told.
func (p *policy) check(named, dialled string) error {
	socket, listed, err := p.lists(dialled)
	if err != nil || listed {
		return err
	}
	if err := p.guard.SafeAddr(socket.Addr()); err != nil || socket.Addr() == azureHost {
		return &Error{Code: CodeRefused, Msg: fmt.Sprintf(
			"the outbound policy refuses %s, an address that is not public; allow it with --outbound-allow %[1]s", named)}
	}
	return nil
}

// checkListed refuses an address that is not on the allow-list.
func (p *policy) checkListed(named, dialled string) error {
	_, listed, err := p.lists(dialled)
	if err != nil || listed {
		return err
	}
	return &Error{Code: CodeRefused, Msg: fmt.Sprintf(
		"the outbound policy refuses %s: an expression chose the address, and it is not on the allow-list; allow it with --outbound-allow %[1]s", named)}
}

// lists reports whether an address is on the allow-list. An IPv4-mapped IPv6 address is looked up as IPv4.
func (p *policy) lists(dialled string) (socket netip.AddrPort, listed bool, err error) {
	socket, err = netip.ParseAddrPort(dialled)
	if err != nil {
		return socket, false, &Error{Code: CodeRefused, Msg: fmt.Sprintf("%q is not an address", dialled)}
	}
	addr := socket.Addr().Unmap()
	socket = netip.AddrPortFrom(addr, socket.Port())
	if slices.Contains(p.sockets, socket) {
		return socket, true, nil
	}
	listed = slices.ContainsFunc(p.prefixes, func(prefix netip.Prefix) bool { return prefix.Contains(addr.WithZone("")) })
	return socket, listed, nil
}
