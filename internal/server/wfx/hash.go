package wfx

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// definitionHash tells clients that a job's definition changed. They may compare it with a hash of wfx, so
// it is computed exactly as there: the SHA-256 of a text in which arrays and objects are in brackets, objects
// sorted by quoted key, strings verbatim, and numbers as floating point in scientific notation.
func definitionHash(definition expr.Value) string {
	if definition.IsNull() {
		definition = expr.EmptyObject
	}
	sum := sha256.Sum256(appendHashed(nil, definition))
	return hex.EncodeToString(sum[:])
}

func appendHashed(b []byte, v expr.Value) []byte {
	switch v.Kind() {
	case expr.KindNull:
		return append(b, "<invalid Value>"...)
	case expr.KindBool:
		if v.Bool() {
			return append(b, 't')
		}
		return append(b, 'f')
	case expr.KindNumber:
		return strconv.AppendFloat(b, v.Float(), 'E', -1, 64)
	case expr.KindString:
		return appendRaw(b, v.Str())
	case expr.KindArray:
		b = append(b, '[')
		for i, it := range v.Items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendHashed(b, it)
		}
		return append(b, ']')
	}
	members := v.Members() // sorted by key; only the quotes can change that
	if !slices.IsSortedFunc(members, compareQuoted) {
		members = slices.Clone(members)
		slices.SortFunc(members, compareQuoted)
	}
	b = append(b, '[')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendRaw(b, m.Key), ':')
		b = appendHashed(b, m.Value)
	}
	return append(b, ']')
}

// compareQuoted compares keys with the quote at their end: "a!" comes before "a".
func compareQuoted(x, y expr.Member) int {
	a, b := x.Key, y.Key
	n := min(len(a), len(b))
	if a[:n] != b[:n] || len(a) == len(b) {
		return strings.Compare(a, b)
	}
	return strings.Compare(a[n:]+`"`, b[n:]+`"`)
}

func appendRaw(b []byte, s string) []byte {
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
