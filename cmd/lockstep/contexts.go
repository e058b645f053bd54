package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// contexts are the servers that a user gave names.
type contexts struct {
	Current string
	List    []contextEntry // by name
}

// contextEntry is one of them. Its token is a reference: the file has no secrets.
type contextEntry struct {
	Name, URL string
	Token     string // env:VARIABLE, file:PATH, or empty
	South     string // where its devices go; empty: as defaultSouth says

	literal string // the token itself, from the environment
}

// contextsFile is where they are kept.
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
		return out, invalidf("%s cannot be read: %s", file, found[0].Message)
	}
	str := func(v expr.Value, key string) string {
		member, _ := v.Get(key)
		if member.Kind() != expr.KindString {
			return ""
		}
		return member.Str()
	}
	root := doc.Root.Value()
	out.Current = str(root, "current")
	list, _ := root.Get("contexts")
	for _, m := range list.Members() {
		out.List = append(out.List, contextEntry{Name: m.Key, URL: str(m.Value, "url"), Token: str(m.Value, "token"), South: str(m.Value, "south")})
	}
	return out, nil
}

func (c *contexts) write() error {
	file, err := contextsFile()
	if err != nil {
		return err
	}
	slices.SortFunc(c.List, func(a, b contextEntry) int { return cmp.Compare(a.Name, b.Name) })
	list := expr.EmptyObject
	for _, e := range c.List {
		entry := expr.EmptyObject.With("url", expr.String(e.URL))
		if e.Token != "" {
			entry = entry.With("token", expr.String(e.Token))
		}
		if e.South != "" {
			entry = entry.With("south", expr.String(e.South))
		}
		list = list.With(e.Name, entry)
	}
	root := expr.EmptyObject.With("contexts", list)
	if c.Current != "" {
		root = root.With("current", expr.String(c.Current))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".contexts-*")
	if err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.WriteString(toYAML(root))
	if err := errors.Join(err, temporary.Close()); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	return nil
}

func (c *contexts) find(name string) (contextEntry, error) {
	var names []string
	for _, e := range c.List {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	f := &failure{exit: exitNotFound, code: "not-found", title: "Not found", detail: fmt.Sprintf("there is no context %q", name)}
	f.hint = "\"lockstep ctx set NAME --url URL\" makes one"
	if near := dialect.Suggest(name, names); near != "" {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return contextEntry{}, f
}

// token follows the reference.
func (e contextEntry) token() (string, error) {
	kind, rest, _ := strings.Cut(e.Token, ":")
	switch kind {
	case "":
		return e.literal, nil
	case "env":
		if value := os.Getenv(rest); value != "" {
			return value, nil
		}
		return "", usagef("the token of context %q is in the variable %s, which is not set", e.Name, rest)
	case "file":
		text, err := os.ReadFile(rest)
		if err != nil {
			return "", fmt.Errorf("read the token of context %q: %w", e.Name, err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	return "", invalidf("the token of context %q must be env:VARIABLE or file:PATH", e.Name)
}

func (a *app) contextCommand() *cobra.Command {
	cmd := a.group("ctx", "Give servers names, and choose one", `  lockstep ctx set prod --url https://lockstep.example.com --token env:PROD_TOKEN
  lockstep ctx use prod
  lockstep ctx ls`)
	cmd.AddCommand(a.contextList(), a.contextUse(), a.contextSet())
	return cmd
}

func (a *app) contextList() *cobra.Command {
	cmd := &cobra.Command{Use: "ls", Short: "List the servers that have names", Args: atMost(0)}
	output := listFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		known, err := readContexts()
		if err != nil {
			return err
		}
		type item struct {
			Name    string `json:"name"`
			URL     string `json:"url"`
			South   string `json:"south,omitempty"`
			Token   string `json:"token,omitempty"`
			Current bool   `json:"current"`
		}
		rows := listing[item]{
			columns: []string{"NAME", "URL", "SOUTH", "TOKEN", "CURRENT"},
			row:     func(i item) []string { return []string{i.Name, i.URL, i.South, i.Token, yes(i.Current)} },
			name:    func(i item) string { return i.Name },
		}
		for _, e := range known.List {
			rows.items = append(rows.items, item{e.Name, e.URL, e.South, e.Token, e.Name == known.Current})
		}
		return rows.write(a, output.value)
	}
	return cmd
}

func (a *app) contextUse() *cobra.Command {
	cmd := &cobra.Command{Use: "use NAME", Short: "Choose the server that commands talk to", Args: exactly("the name of a context")}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		known, _ := readContexts()
		var names []string
		for _, e := range known.List {
			names = append(names, e.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		known, err := readContexts()
		if err != nil {
			return err
		}
		if _, err := known.find(args[0]); err != nil {
			return err
		}
		known.Current = args[0]
		return known.write()
	}
	return cmd
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (a *app) contextSet() *cobra.Command {
	var entry contextEntry
	var remove bool
	cmd := &cobra.Command{
		Use: "set NAME --url URL", Short: "Give a server a name, or change one", Args: exactly("a name"),
		Long: "Set keeps the address of a server under a name, in the folder of your settings. The token is a reference to\n" +
			"where it is, env:VARIABLE or file:PATH: the file has no secrets. The first context becomes the current one.",
		Example: `  lockstep ctx set prod --url https://lockstep.example.com --token env:PROD_TOKEN
  lockstep ctx set prod --remove`,
	}
	cmd.Flags().StringVar(&entry.URL, "url", "", "the `address` of the server")
	cmd.Flags().StringVar(&entry.South, "south", "", "the `address` that its devices use, for \"lockstep job update-status --actor client\"")
	cmd.Flags().StringVar(&entry.Token, "token", "", "where its token is: env:`VARIABLE` or file:PATH")
	cmd.Flags().BoolVar(&remove, "remove", false, "forget it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known, err := readContexts()
		if err != nil {
			return err
		}
		entry.Name = args[0]
		if remove {
			if _, err := known.find(entry.Name); err != nil {
				return err
			}
			known.List = slices.DeleteFunc(known.List, func(e contextEntry) bool { return e.Name == entry.Name })
			if known.Current == entry.Name {
				known.Current = ""
			}
			return known.write()
		}
		if err := entry.amend(&known, cmd.Flags().Changed("token")); err != nil {
			return err
		}
		return known.write()
	}
	return cmd
}

// amend adds an entry, or changes the one of its name.
func (e contextEntry) amend(known *contexts, withToken bool) error {
	if !contextName.MatchString(e.Name) {
		return usagef("%q cannot be a context's name: it must have letters and digits, and any of . _ - after the first", e.Name)
	}
	kind, rest, _ := strings.Cut(e.Token, ":")
	if e.Token != "" && (rest == "" || kind != "env" && kind != "file") {
		return usagef("--token must be env:VARIABLE or file:PATH; the token itself is not kept")
	}
	i := slices.IndexFunc(known.List, func(o contextEntry) bool { return o.Name == e.Name })
	if i < 0 {
		known.List = append(known.List, contextEntry{Name: e.Name})
		i = len(known.List) - 1
	}
	at := &known.List[i]
	if e.URL != "" {
		at.URL = e.URL
	}
	if e.South != "" {
		at.South = e.South
		if _, err := client.New(client.Options{URL: at.South}); err != nil {
			return usagef("--south: %v", err)
		}
	}
	if withToken {
		at.Token = e.Token
	}
	if at.URL == "" {
		return usagef("lockstep ctx set needs --url for a new context")
	}
	if _, err := client.New(client.Options{URL: at.URL}); err != nil {
		return usagef("%v", err)
	}
	if known.Current == "" {
		known.Current = e.Name
	}
	return nil
}
