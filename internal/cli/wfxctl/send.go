package wfxctl

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// ctl is shared by the commands of wfxctl.
type ctl struct{ *cli.App }

// side is one of the two sides of a server.
type side string

const (
	south side = "client"
	north side = "mgmt"
)

// requestTimeout is the timeout of a request.
const requestTimeout = 10 * time.Second

// defaultWfxFiles are the default settings files.
func defaultWfxFiles() []string {
	out := []string{"wfx.yml"}
	if dir, err := os.UserConfigDir(); err == nil {
		out = append(out, filepath.Join(dir, "wfx", "config.yml"))
	}
	return append(out, "/etc/wfx/wfx.yml")
}

// settings sets the flags that were not given from the environment (WFX_CLIENT_HOST) and the files. Other
// keys are ignored: the files are those of wfx itself.
func (c *ctl) settings(cmd *cobra.Command) error {
	given := map[string]string{}
	files, err := cmd.Flags().GetStringSlice("config")
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil && !cmd.Flags().Changed("config") {
			continue // the default files need not exist
		}
		text, err := cli.ReadFile(cmd.Context(), file)
		if err != nil {
			return err
		}
		doc, found := dialect.Read(file, text)
		switch {
		case found.HasErrors():
			return fmt.Errorf("the settings in %s cannot be read: %s", file, firstError(found))
		case !doc.Root.Is(expr.KindObject):
			return fmt.Errorf("the settings in %s cannot be read: they must be an object of names and values", file)
		}
		for _, m := range doc.Root.Members {
			if texts, err := cli.SettingTexts(m); err == nil {
				given[m.Key.Text] = strings.Join(texts, ",")
			}
		}
	}
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "WFX_") {
			given[strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "WFX_")), "_", "-")] = value
		}
	}
	var wrong error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, ok := given[f.Name]
		if !ok || f.Changed || f.Name == "config" || f.Name == "help" || wrong != nil {
			return
		}
		if err := f.Value.Set(value); err != nil {
			wrong = fmt.Errorf("the setting %s: %w", f.Name, err)
		}
	})
	return wrong
}

func text(cmd *cobra.Command, flag string) string { return cmd.Flags().Lookup(flag).Value.String() }

// socket is the unix socket of a side; a single one is for both sides, as in wfxctl.
func (c *ctl) socket(cmd *cobra.Command, of side) string {
	for _, one := range []side{of, south, north} {
		if socket := text(cmd, string(one)+"-unix-socket"); socket != "" {
			return socket
		}
	}
	return ""
}

// address is the address of a side.
func (c *ctl) address(cmd *cobra.Command, side side, tls bool) string {
	if socket := c.socket(cmd, side); socket != "" {
		return "unix:" + socket
	}
	scheme, middle := "http", "-"
	if tls {
		scheme, middle = "https", "-tls-"
	}
	return scheme + "://" + net.JoinHostPort(text(cmd, string(side)+middle+"host"), text(cmd, string(side)+middle+"port"))
}

// connect makes a client of a side; timeout 0 is for streams.
func (c *ctl) connect(cmd *cobra.Command, side side, timeout time.Duration) (*client.Jobs, error) {
	tls, err := strconv.ParseBool(text(cmd, "enable-tls"))
	if err != nil {
		return nil, fmt.Errorf("--enable-tls: %w", err)
	}
	return c.dial(cmd, c.address(cmd, side, tls), timeout)
}

func (c *ctl) dial(cmd *cobra.Command, address string, timeout time.Duration) (*client.Jobs, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = timeout
	if file := text(cmd, "tls-ca"); file != "" {
		pool, err := trusted(cmd.Context(), file)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return client.NewJobs(client.JobsOptions{Options: client.Options{
		URL: address, HTTP: &http.Client{Transport: transport}, UserAgent: "lockstep-wfxctl/" + version.Read().Version, Attempts: 1,
	}})
}

// trusted are the certificates of the system and those of a file.
func trusted(ctx context.Context, file string) (*x509.CertPool, error) {
	pem, err := cli.ReadFile(ctx, file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate in PEM form", file)
	}
	return pool, nil
}

// firstError is the first of several mistakes, with its line.
func firstError(found dialect.Diagnostics) string {
	for _, d := range found {
		if d.Severity == dialect.Error {
			return fmt.Sprintf("line %d: %s", d.Line, d.Message)
		}
	}
	return found.Error()
}

// send sends a request and prints the answer, as wfxctl does: indented, and through the filter.
func (c *ctl) send(cmd *cobra.Command, side side, call client.JobsCall) error {
	j, err := c.connect(cmd, side, requestTimeout)
	if err != nil {
		return err
	}
	defer j.Close()
	answer, err := j.Do(cmd.Context(), call)
	if err != nil {
		return c.refused(err)
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return nil
	}
	filter := text(cmd, "filter")
	if filter == "" {
		return c.print(answer)
	}
	return c.filtered(cmd, answer, filter)
}

// refused prints an error of the server, first in a line for people, as wfxctl does.
func (c *ctl) refused(err error) error {
	var problem *client.Problem
	if !errors.As(err, &problem) || len(problem.Body) == 0 {
		return err
	}
	var body api.ErrorResponse
	if json.Unmarshal(problem.Body, &body) == nil {
		if len(body.Errors) == 0 && problem.Detail != "" { // an empty object has no message
			return fmt.Errorf("error: %s", problem.Detail)
		}
		for _, e := range body.Errors {
			fmt.Fprintf(c.Out, "ERROR: %s (code=%s, logref=%s)\n", cli.Plain(e.Message), cli.Plain(string(e.Code)), cli.Plain(e.Logref))
		}
	}
	return fmt.Errorf("error: %s", bytes.TrimSpace(problem.Body))
}

// print writes JSON with indentation; numbers keep their digits.
func (c *ctl) print(value []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	encoder := json.NewEncoder(c.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// filtered applies a jq expression to an answer here, not at the server, so that errors of the expression are
// reported and any server works.
func (c *ctl) filtered(cmd *cobra.Command, answer []byte, source string) error {
	filter, err := jq.Compile(source, jq.Budget{})
	if err != nil {
		return fmt.Errorf("--filter: %w", err)
	}
	v, err := expr.ParseJSON(answer)
	if err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	raw := text(cmd, "raw") == "true"
	return filter.Run(cmd.Context(), time.Now(), v, func(result []byte) error {
		if !raw {
			return c.print(result)
		}
		var s string
		if err := json.Unmarshal(result, &s); err != nil {
			return errors.New("value is not a string. try disabling raw output mode")
		}
		_, err := fmt.Fprintln(c.Out, s)
		return err
	})
}
