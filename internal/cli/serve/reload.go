package serve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// reloaded are the settings that a running server can change. Of the others, the files that they name are read
// again if they have certificates or tokens; secrets are, without being asked.
var reloaded = []string{"log-level", "functions", "outbound-allow"}

// reloadOnHangup reads the settings again on each SIGHUP until stop is called.
func (s *serveFlags) reloadOnHangup(ctx context.Context, n *host) (stop func()) {
	hangups, release := cli.Hangups()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		last := s.all
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
			}
			next, err := s.reload(ctx, n)
			if err != nil {
				n.log.Error("the settings cannot be reloaded; those from before stay", "error", err)
				continue
			}
			changed, _ := compare(last, next)
			_, restart := compare(s.all, next)
			last = next
			n.log.Info("the settings are reloaded, with certificates, tokens and functions", "changed", strings.Join(changed, " "))
			if len(restart) > 0 {
				n.log.Warn("some settings changed that need a restart", "settings", strings.Join(restart, " "))
			}
		}
	}()
	return func() {
		release()
		cancel()
		<-ended
	}
}

// reload reads the settings and the files they name again. First all of it is checked: either everything is used,
// or nothing.
func (s *serveFlags) reload(ctx context.Context, n *host) (*pflag.FlagSet, error) {
	next, err := readAgain(ctx, n.app)
	if err != nil {
		return nil, err
	}
	tokens, err := readTokens(ctx, s.tokens)
	if err != nil {
		return nil, err
	}
	certificates, err := server.Reload(s.opened()...)
	if err != nil {
		return nil, err
	}
	revoked := func() {}
	if s.crl != nil {
		if revoked, err = s.crl.Read(); err != nil {
			return nil, err
		}
	}
	probe, err := next.outbound.Client(n.secrets)
	if err != nil {
		return nil, err
	}
	probe.Close()
	var known *catalogue.Catalogue
	if known, err = next.functions.Use(ctx, quiet(n.app, io.Discard), n.client, n.secrets); err != nil {
		return nil, err
	}
	if tokens != nil {
		if err := n.engine.SetTokens(tokens); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(n.client.SetAllow(next.outbound.Allow), n.engine.SetOutboundAllow(next.outbound.Allow...)); err != nil {
		return nil, err
	}
	certificates()
	revoked()
	n.invoker.use(known)
	n.level.Set(next.level())
	return next.all, nil
}

// readAgain reads the flags, the environment and the settings file as they are now.
func readAgain(ctx context.Context, a *cli.App) (*serveFlags, error) {
	var told bytes.Buffer
	a = quiet(a, &told)
	next := &serveFlags{}
	root := a.Root(command(a, next, func(*cli.App, context.Context, *serveFlags) error { return nil }))
	root.SetArgs(a.Args)
	if err := root.ExecuteContext(ctx); err != nil {
		if text := strings.TrimSpace(told.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, err
	}
	return next, nil
}

// quiet is an App that writes to another place than the terminal.
func quiet(a *cli.App, w io.Writer) *cli.App {
	return &cli.App{In: a.In, Out: io.Discard, Err: w, Args: a.Args}
}

// compare lists the settings that differ: those that are in use now, and those that need a restart.
func compare(before, now *pflag.FlagSet) (changed, restart []string) {
	now.VisitAll(func(f *pflag.Flag) {
		old := before.Lookup(f.Name)
		switch {
		case old == nil || old.Value.String() == f.Value.String():
		case slices.Contains(reloaded, f.Name):
			changed = append(changed, f.Name)
		default:
			restart = append(restart, f.Name)
		}
	})
	return changed, restart
}
