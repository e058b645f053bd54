package serve

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

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// A server has two sides: the north for operators, the south for devices.

// noSide is the address of a side that is not served.
const noSide = "none"

// sideFlags are the addresses of the sides.
type sideFlags struct {
	north, south           string
	addrFile, southFile    string
	socketMode             string
	download               string
	northOpened, southOpen net.Listener
	more                   map[server.Side][]net.Listener // further ones
}

func (s *sideFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.north, "north", "127.0.0.1:8081", "the `address` of the API: HOST:PORT, unix:PATH, systemd:NAME or fd:N; port 0 takes a free one")
	f.StringVar(&s.south, "south", "127.0.0.1:8080", "the `address` for devices, in the same forms; none serves no devices")
	f.StringVar(&s.socketMode, "socket-mode", "0660", "the file `mode` of unix sockets")
	f.StringVar(&s.addrFile, "addr-file", "", "write the API's address into this `file` once it is served")
	f.StringVar(&s.southFile, "south-addr-file", "", "write the address for devices into this `file`")
	f.StringVar(&s.download, "download", "", "serve the files of this `folder`, below /download/")
}

// listening is how a side is served; nil: it is not.
func (s *sideFlags) listening(side server.Side, insecure bool) (*server.Listening, error) {
	address := s.north
	if side == server.SouthSide {
		if address = s.south; address == "" || address == noSide {
			return nil, nil
		}
	}
	mode, err := strconv.ParseUint(s.socketMode, 8, 9)
	if err != nil {
		return nil, cli.Usagef("--socket-mode %q is not a mode like 0660", s.socketMode)
	}
	_, _, notPort := net.SplitHostPort(address)
	other := slices.ContainsFunc([]string{"unix:", "systemd:", "fd:"}, func(kind string) bool { return strings.HasPrefix(address, kind) })
	if notPort != nil && !other {
		return nil, cli.Usagef("--%s %q is not HOST:PORT, unix:PATH, systemd:NAME or fd:N", side, address)
	}
	return &server.Listening{Side: side, Address: address, SocketMode: fs.FileMode(mode), Insecure: insecure}, nil
}

// inherit uses the sockets of a service manager that have the names of the sides, unless flags say otherwise.
func (s *sideFlags) inherit(cmd *cobra.Command) {
	for _, name := range server.Inherited() {
		if f := cmd.Flags().Lookup(name); f != nil && (name == "north" || name == "south") && !f.Changed {
			_ = f.Value.Set("systemd:" + name) // any text will do
		}
	}
}

// open opens the listeners of the sides, and further ones.
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

// close closes the listeners that serving has not closed.
func (s *sideFlags) close() {
	for _, l := range s.opened() {
		_ = l.Close()
	}
}

// opened lists the listeners that are open.
func (s *sideFlags) opened() []net.Listener {
	all := slices.Concat([]net.Listener{s.northOpened, s.southOpen}, s.more[server.NorthSide], s.more[server.SouthSide])
	return slices.DeleteFunc(all, func(l net.Listener) bool { return l == nil })
}

// listenFailure is the failure of a side that cannot be opened, with a hint.
func listenFailure(l server.Listening, err error) error {
	var unsafe *server.UnsafeError
	switch {
	case errors.As(err, &unsafe) && l.Side == server.SouthSide:
		f := cli.Usagef("%v", unsafe)
		f.Code, f.Hint = "unsafe", "give --south-client-ca FILE or --tokens FILE, with --tls-cert FILE and --tls-key FILE, or --insecure if something else protects it"
		return f
	case errors.As(err, &unsafe):
		f := cli.Usagef("%v", unsafe)
		f.Code, f.Hint = "unsafe", "give --tokens FILE, --tls-cert FILE and --tls-key FILE, or --insecure if something else protects it"
		return f
	case errors.Is(err, syscall.EADDRINUSE):
		f := cli.AsFailure(fmt.Errorf("listen: %s (--%s) is in use", l.Address, l.Side))
		f.Hint = fmt.Sprintf("if another server runs there, --%s 127.0.0.1:0 takes a free port", l.Side)
		if l.Side == server.SouthSide {
			f.Hint += ", and --south none serves no devices"
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
	return url + remote.DevicesPath
}

// isLocalAddr reports whether only this machine reaches an address.
func isLocalAddr(address net.Addr) bool {
	if _, socket := address.(*net.UnixAddr); socket {
		return true
	}
	host, _, _ := strings.Cut(address.String(), "%")
	h, _, err := net.SplitHostPort(host)
	return err == nil && remote.IsLoopback(h)
}
