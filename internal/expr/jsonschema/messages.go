package jsonschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	lib "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/lockstep-workflows/lockstep/expr"
)

// violation is one thing that is wrong: where, as a JSON pointer, and what.
type violation struct {
	pointer, message string
	missing          string // the properties that an object lacks, with NUL between them
}

// maxViolations is how many things may be wrong with a value, with what is wrong with each
// alternative: telling them takes longer than finding them.
const maxViolations = 20_000

// violationSteps is what telling one takes.
const violationSteps = 200

// leaves counts what an error reports, up to most.
func leaves(e *lib.ValidationError, most int) int {
	n := 1
	for _, c := range e.Causes {
		if n > most {
			break
		}
		n += leaves(c, most-n)
	}
	return n
}

// violations flattens the library's tree into one list, sorted by place and
// message. The library goes through maps, so its own order changes.
func violations(e *lib.ValidationError, open openParts) []violation {
	var out []violation
	collect(e, open, &out)
	slices.SortFunc(out, func(a, b violation) int {
		return cmp.Or(comparePointers(a.pointer, b.pointer), strings.Compare(a.message, b.message))
	})
	return slices.Compact(out)
}

func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		i, errX := strconv.Atoi(x)
		j, errY := strconv.Atoi(y)
		if errX == nil && errY == nil && i != j {
			return cmp.Compare(i, j)
		}
		return strings.Compare(x, y)
	})
}

func pointer(tokens []string) string {
	var at *place
	for _, t := range tokens {
		at = &place{at, t}
	}
	return at.pointer()
}

func collect(e *lib.ValidationError, open openParts, out *[]violation) {
	if open.hides(e) {
		return
	}
	switch k := e.ErrorKind.(type) {
	case nil:
		return
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf, *kind.ContentSchema:
		for _, c := range e.Causes {
			collect(c, open, out)
		}
		if len(e.Causes) > 0 {
			return
		}
	case *kind.AnyOf:
		*out = append(*out, alternatives(e))
		return
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			*out = append(*out, alternatives(e))
			return
		}
	}
	v := violation{pointer: pointer(e.InstanceLocation), message: describe(e.ErrorKind)}
	if k, ok := e.ErrorKind.(*kind.Required); ok {
		v.missing = strings.Join(k.Missing, "\x00")
	}
	*out = append(*out, v)
}

// maxAlternatives is how many alternatives a message lists.
const maxAlternatives = 4

// alternatives says what is wrong with each of them, where there are few.
func alternatives(e *lib.ValidationError) violation {
	at := pointer(e.InstanceLocation)
	var reasons []string
	for _, c := range e.Causes {
		found := violations(c, nil)
		for i := range found {
			if rest := strings.TrimPrefix(found[i].pointer, at); rest != "" {
				found[i].message = "at " + rest + " " + found[i].message
			}
		}
		// Alternatives inside alternatives would grow without end.
		if text := cut(joined(found), 300); !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	msg := "fits none of the alternatives"
	switch n := len(reasons); {
	case n == 1:
		msg = reasons[0]
	case n > maxAlternatives:
		msg += fmt.Sprintf(" (%s, and %d more)", strings.Join(reasons[:maxAlternatives], "; or "), n-maxAlternatives)
	case n > 0:
		msg += fmt.Sprintf(" (%s)", strings.Join(reasons, "; or "))
	}
	return violation{pointer: at, message: msg}
}

func joined(found []violation) string {
	messages := make([]string, len(found))
	for i, v := range found {
		messages[i] = v.message
	}
	return strings.Join(messages, " and ")
}

func typeMessage(want []string, got string) string {
	return fmt.Sprintf("must be %s, not %s", oneOf(withArticles(want)), article(got))
}

// describe says what one keyword found.
func describe(k lib.ErrorKind) string {
	switch k := k.(type) {
	case problem:
		return string(k)
	case *kind.Type:
		return typeMessage(k.Want, k.Got)
	case *kind.Format:
		if wrong, ok := k.Err.(wrongType); ok {
			return string(wrong)
		}
		if k.Want == "regex" {
			return fmt.Sprintf("must be a regular expression: %v", k.Err)
		}
		return fmt.Sprintf("must be in the format %s: %v", k.Want, k.Err)
	case *kind.Required:
		return missing(k.Missing)
	case *kind.Dependency:
		return fmt.Sprintf("%s, because %s is given", missing(k.Missing), quote(k.Prop))
	case *kind.DependentRequired:
		return fmt.Sprintf("%s, because %s is given", missing(k.Missing), quote(k.Prop))
	case *kind.AdditionalProperties:
		return fmt.Sprintf("does not allow %s", quoted("the property", "the properties", k.Properties))
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %s too many", count(k.Count, "item"))
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %s, has %d", countOf(k.Want, "property", "properties"), k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %s, has %d", countOf(k.Want, "property", "properties"), k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s, has %d", count(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s, has %d", count(k.Want, "item"), k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat items; %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "has no item of the kind it must contain"
	case *kind.MinContains:
		return fmt.Sprintf("must contain at least %s of a kind, has %d", count(k.Want, "item"), len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must contain at most %s of a kind, has %d", count(k.Want, "item"), len(k.Got))
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %s, has %d", count(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %s, has %d", count(k.Want, "character"), k.Got)
	case *kind.Pattern:
		return fmt.Sprintf("must match the pattern %s", k.Want)
	case *kind.Minimum:
		return fmt.Sprintf("must be at least %s", decimal(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("must be at most %s", decimal(k.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("must be greater than %s", decimal(k.Want))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("must be less than %s", decimal(k.Want))
	case *kind.MultipleOf:
		return fmt.Sprintf("must be a multiple of %s", decimal(k.Want))
	case *kind.Not:
		return "is what the schema excludes (not)"
	case *kind.OneOf:
		return fmt.Sprintf("fits more than one of the alternatives (numbers %d and %d)", k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.RefCycle:
		return "the schema refers to itself without end"
	case *kind.ContentEncoding:
		return fmt.Sprintf("must be encoded as %s", k.Want)
	case *kind.ContentMediaType:
		return fmt.Sprintf("must be of the media type %s", k.Want)
	}
	return "is not valid"
}

// notListed says which values are allowed.
func notListed(listed []any) problem {
	if len(listed) == 0 {
		return "no value is allowed here"
	}
	const most = 10
	var shown []string
	for _, v := range listed {
		if len(shown) == most {
			return problem(fmt.Sprintf("must be one of %s and %d more", strings.Join(shown, ", "), len(listed)-most))
		}
		shown = append(shown, jsonText(v))
	}
	return problem("must be " + oneOf(shown))
}

func jsonText(v any) string {
	val, err := expr.FromGo(v)
	if err != nil {
		return "?"
	}
	return shorten(val.String())
}

// shorten keeps messages readable where values are not.
func shorten(s string) string { return cut(s, 80) }

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func quote(s string) string { return shorten(string(expr.AppendQuoted(nil, s))) }

func missing(names []string) string {
	return "misses " + quoted("the property", "the properties", names)
}

func quoted(one, many string, names []string) string {
	names = slices.Sorted(slices.Values(names))
	for i, n := range names {
		names[i] = quote(n)
	}
	if len(names) == 1 {
		return one + " " + names[0]
	}
	return many + " " + strings.Join(names, ", ")
}

func oneOf(list []string) string {
	switch n := len(list); n {
	case 0:
		return "nothing"
	case 1:
		return list[0]
	default:
		return strings.Join(list[:n-1], ", ") + " or " + list[n-1]
	}
}

func withArticles(types []string) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = article(t)
	}
	return out
}

func article(t string) string {
	switch t {
	case "null":
		return t
	case "array", "object", "integer":
		return "an " + t
	}
	return "a " + t
}

func count(n int, what string) string { return countOf(n, what, what+"s") }

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// decimal writes a bound as it would stand in JSON.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return shorten(r.Num().String())
	}
	f, _ := r.Float64()
	text, _ := json.Marshal(f)
	return string(text)
}
