package format

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

var (
	// plainText is text that needs no quotes anywhere, also between brackets.
	plainText = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*([ ./@-]*[\p{L}\p{N}_$])*$`)

	// otherWords matches what is text in YAML 1.2 and something else in older versions:
	// booleans, numbers with underscores or colons, dates.
	otherWords = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf)$|^[-+.0-9][-+.0-9_:eE]*$|^\d{4}-\d\d?-\d\d?([Tt ].*)?$`)
)

// scalar writes a scalar that is on one line; key: it is the key of a member.
func scalar(src string, s *dialect.Syntax, key bool) string {
	raw := src[s.Start:s.End]
	if s.Kind == dialect.SyntaxAlias || s.Scalar != expr.KindString || s.Props != "" || strings.Contains(raw, "\n") {
		return raw
	}
	expression := strings.Contains(s.Text, "{{")
	quoted := s.Kind == dialect.SyntaxSingle || s.Kind == dialect.SyntaxDouble
	switch {
	case !quoted && (key || !expression && !otherWords.MatchString(s.Text)):
		return raw
	case quoted && !expression && plainText.MatchString(s.Text) && !otherWords.MatchString(s.Text) && !(key && s.Text == mergeKey):
		return s.Text
	case s.Kind == dialect.SyntaxDouble || !clean(s.Text):
		return raw
	}
	return `"` + s.Text + `"`
}

// clean reports whether text needs no escapes in double quotes. Text that does keeps its single
// quotes, or none: escapes are harder to read than either.
func clean(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r == '"' || r == '\\' || !unicode.IsPrint(r)
	})
}
