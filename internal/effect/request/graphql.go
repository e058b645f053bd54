package request

import (
	"errors"
	"fmt"
	nethttp "net/http"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// GraphQLError is the name of a failure that an answer of GraphQL lists in its errors.
const GraphQLError = "GraphQLError"

func graphqlCall(r described, args expr.Value) (c call, err error) {
	switch {
	case r.Kind != "query" && r.Kind != "mutation":
		return c, definitionf("it is a %q of GraphQL, and must be a query or a mutation", r.Kind)
	case !isName(r.Field):
		return c, definitionf("%q is not the name of a field of GraphQL", r.Field)
	}
	if c.URL, err = parse(r.URI); err != nil {
		return c, definitionf("its address %q: %v", r.URI, err)
	}
	if args, err = objectOf(args); err != nil {
		return c, err
	}
	document, err := graphqlDocument(r, args)
	if err != nil {
		return c, err
	}
	c.Method, c.secrets = "POST", args
	c.Body = expr.Object(expr.Member{Key: "query", Value: expr.String(document)}).AppendJSON(nil)
	c.Header = nethttp.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/graphql-response+json, application/json;q=0.9"},
	}
	c.outcome = graphqlOutcome
	return c, nil
}

// graphqlDocument is the query of a call. The types of arguments are unknown, so they cannot be variables: they are
// written as literals.
func graphqlDocument(r described, args expr.Value) (string, error) {
	for _, m := range args.Members() {
		if m.Key != "arguments" && m.Key != "selectionSet" {
			return "", fmt.Errorf("%q is not known of a call of GraphQL, only arguments and selectionSet", m.Key)
		}
	}
	given, _ := args.Get("arguments")
	set, _ := args.Get("selectionSet")
	var out strings.Builder
	out.WriteString(r.Kind + " { " + r.Field)
	switch {
	case !given.IsNull() && !given.IsObject():
		return "", errors.New("arguments must be an object, not " + given.Kind().WithArticle())
	case !set.IsNull() && set.Kind() != expr.KindString:
		return "", errors.New("selectionSet must be a text, not " + set.Kind().WithArticle())
	case given.Len() > 0:
		out.WriteByte('(')
		if err := writeFields(&out, given); err != nil {
			return "", err
		}
		out.WriteByte(')')
	}
	if set.Str() != "" { // a field that is a scalar has none
		if err := checkSelection(set.Str()); err != nil {
			return "", err
		}
		out.WriteString(" " + strings.TrimSpace(set.Str()))
	}
	out.WriteString(" }")
	return out.String(), nil
}

// graphqlOutcome is the data of an answer, or its errors.
func graphqlOutcome(a http.Answer, where string) effect.Outcome {
	out := a.Outcome(where)
	body := out.Value
	if out.Failure != nil {
		body = out.Failure.Data
	}
	if errs, _ := body.Get("errors"); errs.Len() > 0 && errs.IsArray() {
		f := effect.Failure{Name: GraphQLError, Data: body, Detail: where + " answered with an error"}
		if out.Failure != nil {
			f.Status = out.Failure.Status
		}
		first := errs.Items()[0]
		if text := effect.Text(first, "message"); text != "" {
			f.Detail = text
		}
		if more := errs.Len() - 1; more > 0 {
			f.Detail += fmt.Sprintf(" (and %d more errors)", more)
		}
		extensions, _ := first.Get("extensions")
		f.Code = effect.Text(extensions, "code")
		return effect.Fail(f)
	}
	if out.Failure != nil {
		return out
	}
	data, ok := body.Get("data")
	if !ok {
		return http.Failed(where, &http.Error{Code: http.CodeInvalid, Msg: "the answer is not one of GraphQL: it has neither data nor errors"})
	}
	return effect.Outcome{Value: data}
}
