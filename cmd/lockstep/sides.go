package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/server"
)

// A server has two sides: operators come by the north, devices by the south.

// noSide is the address of a side that is not served.
const noSide = "none"

// devicesPath is where devices find their jobs.
const devicesPath = "/api/wfx/v1"

// sideFlags say where the sides are.
type sideFlags struct {
	north, south           string
	addrFile, southFile    string
	socketMode             string
	download               string
	northOpened, southOpen net.Listener
	more                   map[server.Side][]net.Listener // beside those
}

func (s *sideFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.north, "north", "127.0.0.1:8081", "the `address` of the API: HOST:PORT, unix:PATH, systemd:NAME or fd:N; port 0 takes a free one")
	f.StringVar(&s.south, "south", "127.0.0.1:8080", "the `address` for devices, in the same forms; none serves no devices")
	f.StringVar(&s.socketMode, "socket-mode", "0660", "the `mode` of unix sockets: who may connect")
	f.StringVar(&s.addrFile, "addr-file", "", "write the API's address into this `file` once it is served")
	f.StringVar(&s.southFile, "south-addr-file", "", "write the address for devices into this `file`")
	f.StringVar(&s.download, "download", "", "serve the files of this `folder`, below /download/")
}

// listening says how a side is to be served; nil where it is not.
func (s *sideFlags) listening(side server.Side, insecure bool) (*server.Listening, error) {
	address := s.north
	if side == server.SouthSide {
		if address = s.south; address == "" || address == noSide {
			return nil, nil
		}
	}
	mode, err := strconv.ParseUint(s.socketMode, 8, 9)
	if err != nil {
		return nil, usagef("--socket-mode %q is not a mode like 0660", s.socketMode)
	}
	_, _, notPort := net.SplitHostPort(address)
	other := slices.ContainsFunc([]string{"unix:", "systemd:", "fd:"}, func(kind string) bool { return strings.HasPrefix(address, kind) })
	if notPort != nil && !other {
		return nil, usagef("--%s %q is not HOST:PORT, unix:PATH, systemd:NAME or fd:N", side, address)
	}
	return &server.Listening{Side: side, Address: address, SocketMode: fs.FileMode(mode), Insecure: insecure}, nil
}

// inherit takes the sockets that a service manager opened, where they have the names of
// the sides and nothing else was said.
func (s *sideFlags) inherit(cmd *cobra.Command) {
	for _, name := range server.Inherited() {
		if f := cmd.Flags().Lookup(name); f != nil && (name == "north" || name == "south") && !f.Changed {
			_ = f.Value.Set("systemd:" + name) // any text will do
		}
	}
}

// open opens the sides that are to be served, each at an address, and what is served beside.
func (s *sideFlags) open(north, south *server.Listening, more ...*server.Listening) error {
	s.more = map[server.Side][]net.Listener{}
	for _, l := range more {
		opened, err := server.Listen(*l)
		if err != nil {
			return listenFailure(*l, err)
		}
		s.more[l.Side] = append(s.more[l.Side], opened)
	}
	var err error
	if s.northOpened, err = server.Listen(*north); err != nil {
		return listenFailure(*north, err)
	}
	if south == nil {
		return nil
	}
	if s.southOpen, err = server.Listen(*south); err != nil {
		return listenFailure(*south, err)
	}
	return nil
}

// close lets go of them; serving has done so already, if it began.
func (s *sideFlags) close() {
	for _, l := range slices.Concat([]net.Listener{s.northOpened, s.southOpen}, s.more[server.NorthSide], s.more[server.SouthSide]) {
		if l != nil {
			_ = l.Close()
		}
	}
}

// listenFailure says what to do where a side cannot be opened.
func listenFailure(l server.Listening, err error) error {
	var unsafe *server.UnsafeError
	switch {
	case errors.As(err, &unsafe) && l.Side == server.SouthSide:
		f := usagef("%v", unsafe)
		f.code, f.hint = "unsafe", "give --south-client-ca FILE or --tokens FILE, with --tls-cert FILE and --tls-key FILE, or --insecure if something else protects it"
		return f
	case errors.As(err, &unsafe):
		f := usagef("%v", unsafe)
		f.code, f.hint = "unsafe", "give --tokens FILE, --tls-cert FILE and --tls-key FILE, or --insecure if something else protects it"
		return f
	case errors.Is(err, syscall.EADDRINUSE):
		f := asFailure(fmt.Errorf("listen: %s (--%s) is in use: %w", l.Address, l.Side, err))
		f.hint = fmt.Sprintf("if another server runs there, --%s 127.0.0.1:0 takes a free port", l.Side)
		if l.Side == server.SouthSide {
			f.hint += ", and --south none serves no devices"
		}
		return f
	}
	return fmt.Errorf("listen (--%s): %w", l.Side, err)
}

// urlOf is how a listener is reached from this machine.
func urlOf(address net.Addr, tls bool) string {
	text := address.String()
	switch at := address.(type) {
	case *net.UnixAddr:
		return "unix:" + at.Name
	case *net.TCPAddr:
		if at.IP.IsUnspecified() {
			text = fmt.Sprintf("localhost:%d", at.Port)
		}
	}
	if tls {
		return "https://" + text
	}
	return "http://" + text
}

// devicesURL is where devices find their jobs.
func devicesURL(address net.Addr, tls bool) string {
	url := urlOf(address, tls)
	if strings.HasPrefix(url, "unix:") {
		return url
	}
	return url + devicesPath
}

// isLocalAddr reports whether only this machine reaches an address.
func isLocalAddr(address net.Addr) bool {
	if _, socket := address.(*net.UnixAddr); socket {
		return true
	}
	host, _, _ := strings.Cut(address.String(), "%")
	h, _, err := net.SplitHostPort(host)
	return err == nil && isLoopback(h)
}
