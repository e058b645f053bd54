package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// contexts are the named servers of a user.
type contexts struct {
	Current string           `json:"current,omitempty"`
	Servers map[string]Entry `json:"contexts"`
}

// Entry is a named server. Its token is a reference: the file has no secrets.
type Entry struct {
	URL   string `json:"url"`
	South string `json:"south,omitempty"` // the address for devices; "": the default
	Token string `json:"token,omitempty"` // env:VARIABLE or file:PATH

	name    string
	literal string // the token itself, from the environment
}

// contextsFile is the file of the contexts.
func contextsFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of contexts: %w", err)
	}
	return filepath.Join(dir, "lockstep", "contexts.yaml"), nil
}

func readContexts() (contexts, error) {
	var out contexts
	file, err := contextsFile()
	if err != nil {
		return out, nil // without a home there are no contexts
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read contexts: %w", err)
	}
	doc, found := dialect.Read(file, text)
	if found.HasErrors() {
		return out, cli.Invalidf("%s cannot be read: %s", file, found[0].Message)
	}
	if err := json.Unmarshal(doc.Root.Value().AppendJSON(nil), &out); err != nil {
		return out, cli.Invalidf("%s cannot be read: %v", file, err)
	}
	return out, nil
}

func (c *contexts) write() error {
	file, err := contextsFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".contexts-*")
	if err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	err = errors.Join(cli.WriteValue(temporary, c, "yaml"), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	return nil
}

func (c *contexts) names() []string { return slices.Sorted(maps.Keys(c.Servers)) }

func (c *contexts) find(name string) (Entry, error) {
	e, ok := c.Servers[name]
	if !ok {
		hint := "\"lockstep ctx set NAME --url URL\" creates one"
		if len(c.Servers) > 0 {
			hint = "\"lockstep ctx ls\" lists them"
		}
		return e, cli.NotFoundf("there is no context %q", name).WithHint(hint).Near(name, c.names())
	}
	e.name = name
	return e, nil
}

// ReadToken reads the token from its reference.
func (e Entry) ReadToken() (string, error) {
	kind, rest, _ := strings.Cut(e.Token, ":")
	switch kind {
	case "":
		return e.literal, nil
	case "env":
		if value := os.Getenv(rest); value != "" {
			return value, nil
		}
		return "", cli.Usagef("the token of context %q is in the variable %s, which is not set", e.name, rest)
	case "file":
		text, err := os.ReadFile(rest)
		if err != nil {
			return "", fmt.Errorf("read the token of context %q: %w", e.name, err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	return "", cli.Invalidf("the token of context %q must be env:VARIABLE or file:PATH", e.name)
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func checkContextName(name string) error {
	if contextName.MatchString(name) {
		return nil
	}
	return cli.Usagef("%q is not a valid context name: use letters and digits, and . _ - after the first character", name)
}

// set adds a server, or changes the given fields of an existing one.
func (c *contexts) set(name string, given Entry, withToken bool) error {
	if err := checkContextName(name); err != nil {
		return err
	}
	kind, rest, _ := strings.Cut(given.Token, ":")
	if given.Token != "" && (rest == "" || kind != "env" && kind != "file") {
		return cli.Usagef("--token must be env:VARIABLE or file:PATH; the token itself is not stored")
	}
	e := c.Servers[name]
	e.URL, e.South = cmp.Or(WithScheme(given.URL), e.URL), cmp.Or(WithScheme(given.South), e.South)
	if withToken {
		e.Token = given.Token
	}
	if given.South != "" {
		if _, err := client.New(client.Options{URL: e.South}); err != nil {
			return cli.Usagef("--south: %v", err)
		}
	}
	if e.URL == "" {
		return cli.Usagef("lockstep ctx set needs --url for a new context")
	}
	if _, err := client.New(client.Options{URL: e.URL}); err != nil {
		return cli.Usagef("%v", err)
	}
	if c.Servers == nil {
		c.Servers = map[string]Entry{}
	}
	c.Servers[name] = e
	c.Current = cmp.Or(c.Current, name)
	return nil
}
