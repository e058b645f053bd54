package request

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// odataOptions are the system query options that 0.8 lists (schema/odata.json), without their $.
var odataOptions = []string{
	"compute", "count", "expand", "filter", "format", "index", "orderby", "schemaversion", "search", "select", "skip", "top",
}

var (
	// A key is text in the schema, whatever it is to the service: these are written as they are.
	bareKey = regexp.MustCompile(`^(-?(0|[1-9][0-9]{0,18})|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)
	// So is what is quoted already.
	quotedKey = regexp.MustCompile(`^'([^']|'')*'$`)
)

func odataCall(r described, args expr.Value) (c call, err error) {
	base, err := parse(r.URI)
	switch {
	case err != nil:
		return c, definitionf("its address %q: %v", r.URI, err)
	case r.EntitySet == "" || strings.ContainsAny(r.EntitySet, "?#"):
		return c, definitionf("%q is not the name of an entity set", r.EntitySet)
	}
	if args, err = objectOf(args); err != nil {
		return c, err
	}
	for _, m := range args.Members() {
		if m.Key != "key" && m.Key != "queryOptions" {
			return c, fmt.Errorf("%q is not known of a call of OData, only key and queryOptions", m.Key)
		}
	}
	text := base.Scheme + "://" + base.Host + strings.TrimSuffix(base.EscapedPath(), "/") + "/" + strings.TrimPrefix(r.EntitySet, "/")
	if key, _ := args.Get("key"); !key.IsNull() {
		predicate, err := odataKey(key)
		if err != nil {
			return c, err
		}
		text += "(" + predicate + ")"
	}
	if c.URL, err = parse(text); err != nil {
		return c, definitionf("its address %q: %v", text, err)
	}
	c.Method, c.URL.RawQuery = "GET", base.RawQuery
	options, _ := args.Get("queryOptions")
	query, err := odataQuery(options)
	if err != nil {
		return c, err
	}
	if c.URL.RawQuery != "" && query != "" {
		query = "&" + query
	}
	c.URL.RawQuery += query
	return c, checkSteps(c.URL)
}

// odataKey writes a key: one value, or several by name.
func odataKey(key expr.Value) (string, error) {
	if !key.IsObject() {
		return odataLiteral(key)
	}
	var parts []string
	for _, m := range key.Members() {
		literal, err := odataLiteral(m.Value)
		switch {
		case err != nil:
			return "", err
		case !isName(m.Key):
			return "", fmt.Errorf("%q cannot be the name of a part of the key", m.Key)
		}
		parts = append(parts, m.Key+"="+literal)
	}
	if parts == nil {
		return "", errors.New("key is empty")
	}
	return strings.Join(parts, ","), nil
}

func odataLiteral(v expr.Value) (string, error) {
	switch {
	case v.IsNull() || v.IsObject() || v.IsArray():
		return "", errors.New("key must be text, a number or a boolean, not " + v.Kind().WithArticle())
	case v.Kind() != expr.KindString || bareKey.MatchString(v.Str()) || quotedKey.MatchString(v.Str()):
		return escape(v.Text()), nil
	case v.Str() == "":
		return "", errors.New("key is empty")
	}
	return escape("'" + strings.ReplaceAll(v.Str(), "'", "''") + "'"), nil
}

// odataQuery writes query options. Their names have no $ in the schema, and any case in the specification's examples.
func odataQuery(options expr.Value) (string, error) {
	if !options.IsNull() && !options.IsObject() {
		return "", errors.New("queryOptions must be an object, not " + options.Kind().WithArticle())
	}
	var parts []string
	seen := map[string]bool{}
	for _, m := range options.Members() {
		name := strings.ToLower(strings.TrimPrefix(m.Key, "$"))
		switch {
		case !slices.Contains(odataOptions, name):
			return "", fmt.Errorf("%q is not a query option of OData; they are %s", m.Key, strings.Join(odataOptions, ", "))
		case seen[name]:
			return "", fmt.Errorf("the query option %q is given twice", name)
		case m.Value.IsObject() || m.Value.IsArray():
			return "", fmt.Errorf("the query option %q must be text, a number or a boolean, not %s", m.Key, m.Value.Kind().WithArticle())
		case m.Value.IsNull():
			continue
		}
		seen[name] = true
		parts = append(parts, "$"+name+"="+escape(m.Value.Text()))
	}
	return strings.Join(parts, "&"), nil
}
