package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/server"
)

// serveFlags are the settings of `lockstep serve`.
type serveFlags struct {
	hostFlags
	tokens          string
	tls             map[server.Side]*tlsFlags // "" for both
	clientCA        string
	clientName      *choice
	insecure, check bool
	hosts, origins  []string
	wfx             wfxFlags
}

// tlsFlags are the certificate and the key of a side.
type tlsFlags struct{ cert, key string }

func (a *app) serveCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve definitions, instances and jobs over HTTP", Args: atMost(0),
		Long: "Serve runs a server until SIGTERM or Ctrl-C: then it takes no more requests, finishes those in flight and ends; a second signal\n" +
			"ends it at once, and the next start goes on where it was. Operators come by the north, devices by the south. It listens on this\n" +
			"machine only; other addresses need TLS, and --tokens or, for devices, --south-client-ca.\n" +
			"Settings come from flags, then from the environment (LOCKSTEP_NORTH, …), then from the file of --config.",
		Example: `  lockstep serve
  lockstep serve --store sqlite:/var/lib/lockstep/lockstep.db --functions functions.yaml
  lockstep serve --north 0.0.0.0:8443 --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem
  lockstep serve --south 0.0.0.0:8080 --south-client-ca devices.pem --south-tls-cert cert.pem --south-tls-key key.pem
  lockstep serve --config lockstep.yaml --check`,
	}
	flags.add(cmd, "sqlite:"+stateDir+"/lockstep.db", "fail", "info")
	f := cmd.Flags()
	f.StringVar(&flags.namespace, "namespace", "default", "the part of the store to serve")
	f.StringVar(&flags.tokens, "tokens", "", "a `file` of tokens (\"lockstep token new\" makes lines for it)")
	flags.addTLS(f)
	f.BoolVar(&flags.insecure, "insecure", false, "listen on other than loopback addresses without tokens or TLS: something else protects them")
	f.StringArrayVar(&flags.hosts, "host", nil, "a further `name` of this server, where there are no tokens; repeatable")
	f.StringArrayVar(&flags.origins, "origin", nil, "another site whose pages may send requests, `scheme://host[:port]`; repeatable")
	f.BoolVar(&flags.check, "check", false, "only check the settings and what they name")
	flags.wfx.add(f)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := flags.wfx.fromEnvironment(f); err != nil {
			return err
		}
		if err := a.settings(cmd.Context(), cmd); err != nil {
			return err
		}
		if err := flags.wfx.apply(f); err != nil {
			return err
		}
		flags.inherit(cmd)
		return a.serve(cmd.Context(), &flags)
	}
	return cmd
}

func (s *serveFlags) addTLS(f *pflag.FlagSet) {
	s.tls = map[server.Side]*tlsFlags{}
	for _, side := range []server.Side{"", server.NorthSide, server.SouthSide} {
		at := &tlsFlags{}
		s.tls[side] = at
		prefix, of := "", ", on both sides"
		if side != "" {
			prefix, of = string(side)+"-", ", on the "+string(side)+" only"
		}
		f.StringVar(&at.cert, prefix+"tls-cert", "", "the certificate `file` for TLS"+of)
		f.StringVar(&at.key, prefix+"tls-key", "", "its key `file`")
	}
	f.StringVar(&s.clientCA, "south-client-ca", "", "a `file` with the authorities of the certificates that devices must show")
	s.clientName = &choice{value: string(server.CommonName)}
	for _, name := range server.CertificateNames {
		s.clientName.allowed = append(s.clientName.allowed, string(name))
	}
	f.Var(s.clientName, "south-client-id", "what of a device's certificate is the id of its client")
}

// listenings says how both sides are to be served.
func (s *serveFlags) listenings() (north, south *server.Listening, err error) {
	if north, err = s.listening(server.NorthSide, s.insecure); err != nil {
		return nil, nil, err
	}
	if south, err = s.listening(server.SouthSide, s.insecure); err != nil {
		return nil, nil, err
	}
	for _, l := range []*server.Listening{north, south} {
		if l == nil {
			continue
		}
		files := s.tls[l.Side]
		if files.cert == "" && files.key == "" {
			files = s.tls[""]
		}
		l.CertFile, l.KeyFile, l.Tokens = files.cert, files.key, s.tokens != ""
	}
	if south != nil {
		south.ClientCAFile = s.clientCA
	}
	return north, south, nil
}

func (a *app) serve(ctx context.Context, flags *serveFlags) (err error) {
	n, err := flags.configure(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	cfg := server.Config{Hosts: flags.hosts, Origins: flags.origins}
	if cfg.Tokens, err = readTokens(ctx, flags.tokens); err != nil {
		return err
	}
	devices := server.Devices{Tokens: cfg.Tokens}
	if flags.clientCA != "" {
		devices.Certificates = server.CertificateName(flags.clientName.value)
	}
	if devices != (server.Devices{}) {
		cfg.Client = devices.Client
	}
	if err := n.openFiles(cfg.Client); err != nil {
		return err
	}
	north, south, err := flags.listenings()
	if err != nil {
		return err
	}
	more := flags.wfx.listenings(north, south)
	if flags.check {
		return a.checkServe(n, append(more, north, south)...)
	}
	if err := flags.open(north, south, more...); err != nil {
		return err
	}
	if err := n.open(false); err != nil {
		return err
	}
	flags.warn(n)
	if err := n.announce("serve", north.CertFile != "", south != nil && south.CertFile != ""); err != nil {
		return err
	}
	if err := n.serve(ctx, cfg); err != nil {
		return err
	}
	n.log.Info("stopped")
	return nil
}

// warn tells who goes without protection.
func (s *serveFlags) warn(n *host) {
	for _, l := range slices.Concat([]net.Listener{s.northOpened, s.southOpen}, s.more[server.NorthSide], s.more[server.SouthSide]) {
		if l != nil && s.insecure && !isLocalAddr(l.Addr()) {
			n.log.Warn("other machines can reach this server, and --insecure says that something else protects it", "address", l.Addr().String())
		}
	}
}

// checkServe checks what is left to check without serving.
func (a *app) checkServe(n *host, sides ...*server.Listening) error {
	for _, l := range sides {
		if l == nil {
			continue
		}
		if err := l.Check(); err != nil {
			return listenFailure(*l, err)
		}
	}
	note := "will be made"
	if n.spec.exists() {
		note = "can be opened"
		if err := n.open(false); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.err, "the settings are sound; the store %s %s\n", n.spec, note)
	return nil
}

func readTokens(ctx context.Context, file string) (*server.Tokens, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readFile(ctx, file)
	if err != nil {
		return nil, err
	}
	tokens, err := server.ParseTokens(text)
	if err != nil {
		return nil, invalidf("%s: %v", file, err)
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o022 != 0 {
		return nil, invalidf("%s can be written by others (mode %v): everybody could add a token; chmod go-w %s", file, info.Mode().Perm(), file)
	}
	return tokens, nil
}
