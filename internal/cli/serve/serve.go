package serve

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// serveFlags are the settings of `lockstep serve`.
type serveFlags struct {
	hostFlags
	tokens          string
	tls             map[server.Side]*tlsFlags // "" for both
	clientCA        string
	clientCRL       string
	crl             *server.CRL // nil: there is none
	clientName      *cli.Choice
	insecure, check bool
	resume          bool
	tlsProxy        bool
	hosts, origins  []string
	wfx             wfxFlags
	all             *pflag.FlagSet // as they are set
}

// tlsFlags are the certificate and the key of a side.
type tlsFlags struct{ cert, key string }

// Command is `lockstep serve`.
func Command(a *cli.App) *cobra.Command { return command(a, &serveFlags{}, serve) }

// command runs a function with its settings.
func command(a *cli.App, flags *serveFlags, run func(*cli.App, context.Context, *serveFlags) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve definitions, instances and jobs over HTTP", Args: cli.AtMost(0),
		Long: "Serve runs a server until SIGTERM or Ctrl-C: then it accepts no more requests, finishes those in flight and ends. A second signal\n" +
			"ends it at once; the next start continues where it was. The north address is for operators, the south address for devices. By default\n" +
			"it listens on this machine only; other addresses need TLS, and --tokens or, for devices, --south-client-ca. SIGHUP reads the settings\n" +
			"and the files of certificates, tokens and functions again, and logs what needs a restart.\n" +
			"Settings come from flags, then from the environment (LOCKSTEP_NORTH, …), then from the file of --config.",
		Example: `  lockstep serve
  lockstep serve --store sqlite:/var/lib/lockstep/lockstep.db --functions functions.yaml
  lockstep serve --north 0.0.0.0:8443 --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem
  lockstep serve --south 0.0.0.0:8080 --south-client-ca devices.pem --south-tls-cert cert.pem --south-tls-key key.pem
  lockstep serve --config lockstep.yaml --check`,
	}
	flags.add(cmd, "sqlite:"+stores.StateDir+"/lockstep.db", "fail", "info")
	f := cmd.Flags()
	f.StringVar(&flags.namespace, "namespace", "default", "the namespace of the store to serve")
	f.StringVar(&flags.tokens, "tokens", "", "a `file` of tokens (\"lockstep token new\" prints lines for it)")
	flags.addTLS(f)
	f.BoolVar(&flags.insecure, "insecure", false, "allow other than loopback addresses without tokens or TLS: something else must protect them")
	f.BoolVar(&flags.tlsProxy, "tls-proxy", false, "a proxy in front of the server ends TLS, and adds the client's address to X-Forwarded-For")
	f.StringArrayVar(&flags.hosts, "host", nil, "another host `name` of this server, needed without tokens; repeatable")
	f.StringArrayVar(&flags.origins, "origin", nil, "another site whose pages may send requests, `scheme://host[:port]`; repeatable")
	f.BoolVar(&flags.resume, "resume-restored", false, "run a store that was restored from a backup; see \"lockstep restore\"")
	f.BoolVar(&flags.check, "check", false, "only check the settings and the files they name, also while a server runs with them")
	flags.wfx.add(f)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := flags.wfx.fromEnvironment(f); err != nil {
			return err
		}
		if err := a.Settings(cmd.Context(), cmd); err != nil {
			return err
		}
		if err := flags.wfx.apply(f); err != nil {
			return err
		}
		flags.inherit(cmd)
		flags.all = f
		return run(a, cmd.Context(), flags)
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
	f.StringVar(&s.clientCA, "south-client-ca", "", "a `file` with the authorities of device certificates, which are then required")
	f.StringVar(&s.clientCRL, "south-client-crl", "", "a `file` with revocation lists of these authorities, in PEM or DER form")
	s.clientName = &cli.Choice{Value: string(server.CommonName)}
	for _, name := range server.CertificateNames {
		s.clientName.Allowed = append(s.clientName.Allowed, string(name))
	}
	f.Var(s.clientName, "south-client-id", "the part of a device's certificate that is its client id")
}

// listenings are how both sides are served.
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
		l.CertFile = files.cert
		l.KeyFile = files.key
		l.Tokens = s.tokens != ""
	}
	if south != nil {
		south.ClientCAFile = s.clientCA
	}
	return north, south, nil
}

func serve(a *cli.App, ctx context.Context, flags *serveFlags) (err error) {
	n, err := flags.configure(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	options := []lockstep.Option{lockstep.Hosts(flags.hosts...), lockstep.Origins(flags.origins...)}
	if flags.tlsProxy {
		options = append(options, lockstep.BehindTLS())
	}
	tokens, err := readTokens(ctx, flags.tokens)
	if err != nil {
		return err
	}
	if tokens != nil {
		options = append(options, lockstep.Tokens(tokens))
	}
	if flags.clientCA != "" {
		options = append(options, lockstep.DeviceCertificates(flags.clientName.Value))
	}
	if flags.clientCRL != "" {
		if flags.clientCA == "" {
			return cli.Usagef("--south-client-crl needs --south-client-ca")
		}
		if flags.crl, err = server.NewCRL(flags.clientCRL, flags.clientCA); err != nil {
			return cli.Invalidf("%v", err)
		}
		options = append(options, lockstep.RevokedCertificates(flags.crl))
	}
	if flags.resume {
		options = append(options, lockstep.ResumeRestored())
	}
	if err := checkOptions(options); err != nil {
		return err
	}
	north, south, err := flags.listenings()
	if err != nil {
		return err
	}
	more := flags.wfx.listenings(north, south)
	if flags.check {
		return checkServe(a, ctx, n, append(more, north, south)...)
	}
	if err := flags.open(north, south, more...); err != nil {
		return err
	}
	if err := n.open(ctx, options...); err != nil {
		return err
	}
	flags.warn(n)
	if err := n.announce("serve", north.CertFile != "", south != nil && south.CertFile != ""); err != nil {
		return err
	}
	stop := flags.reloadOnHangup(ctx, n)
	defer stop()
	if err := errors.Join(n.serve(ctx), n.engine.Close()); err != nil {
		return err
	}
	n.log.Info("stopped")
	return nil
}

// warn warns of addresses without protection.
func (s *serveFlags) warn(n *host) {
	for _, l := range s.opened() {
		if s.insecure && !isLocalAddr(l.Addr()) {
			n.log.Warn("other machines can reach this server; because of --insecure, something else must protect it", "address", l.Addr().String())
		}
	}
}

// checkServe checks the addresses and the store without serving. A server may be running with both.
func checkServe(a *cli.App, ctx context.Context, n *host, sides ...*server.Listening) error {
	for _, l := range sides {
		if l == nil {
			continue
		}
		if err := l.Check(); err != nil {
			return listenFailure(*l, err)
		}
	}
	note, err := n.store.Look(ctx)
	if err != nil {
		return storeFailure(n.store, err)
	}
	fmt.Fprintf(a.Err, "the settings are valid; the store %s %s\n", n.store, note)
	return nil
}

// readTokens reads and checks a tokens file.
func readTokens(ctx context.Context, file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := cli.ReadFile(ctx, file)
	if err != nil {
		return nil, err
	}
	if _, err := server.ParseTokens(text); err != nil {
		return nil, cli.Invalidf("%s: %v", file, err)
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o022 != 0 {
		return nil, cli.Invalidf("%s is writable by others (mode %v), who could add a token; chmod go-w %s", file, info.Mode().Perm(), file)
	}
	return text, nil
}
