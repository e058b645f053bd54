package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Members reads a JSON object that has no places, such as the body of a request, with the
// rules and messages of a strict [Reader]. It keeps the first mistake, see [Members.Err]:
// a getter that finds one returns the zero value, as it does for a member that is absent.
type Members struct {
	value   expr.Value
	what    string // the object in messages: "the body"
	pointer string
	err     *MemberError
}

// MemberError is a mistake in an object without places.
type MemberError struct {
	Pointer string // a JSON pointer to the member, or to the object
	Mistake Mistake
	Message string
	Hint    string // may be empty
}

func (e *MemberError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Mistake is a kind of error of [Members].
type Mistake uint8

// The mistakes.
const (
	NotObject Mistake = iota
	UnknownMember
	MissingMember // or an empty string where a name is required
	NotString
	WrongKind // other than NotString
)

// ReadMembers reads an object. Members other than those known are mistakes; with none
// known, all are allowed.
func ReadMembers(v expr.Value, what, pointer string, known ...string) *Members {
	m := &Members{value: v, what: what, pointer: pointer}
	if !v.IsObject() {
		m.value = expr.EmptyObject
		m.fail(NotObject, wrongKind(what, expr.KindObject.WithArticle(), v.Kind()))
		return m
	}
	for _, one := range v.Members() {
		if len(known) > 0 && !slices.Contains(known, one.Key) {
			m.fail(UnknownMember, unknownKey(one.Key, what), one.Key)
			m.err.Hint = listKeys(known)
			if near := Suggest(one.Key, known); near != "" {
				m.err.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			return m
		}
	}
	return m
}

// Err returns the first mistake, nil if there was none.
func (m *Members) Err() error {
	if m.err == nil {
		return nil
	}
	return m.err
}

// fail keeps a mistake; path leads from the object to what is wrong.
func (m *Members) fail(mistake Mistake, message string, path ...string) {
	if m.err != nil {
		return
	}
	pointer := m.pointer
	for _, key := range path {
		pointer += "/" + escapePointer.Replace(key)
	}
	m.err = &MemberError{Pointer: pointer, Mistake: mistake, Message: message}
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// Get returns a member of any kind, which may be null.
func (m *Members) Get(key string) (v expr.Value, given bool) { return m.value.Get(key) }

// typed returns a member of the kind.
func (m *Members) typed(key string, kind expr.Kind) (v expr.Value, given bool) {
	v, given = m.value.Get(key)
	if given && v.Kind() != kind {
		mistake := WrongKind
		if kind == expr.KindString {
			mistake = NotString
		}
		m.fail(mistake, wrongKind(key, kind.WithArticle(), v.Kind()), key)
		return expr.Null, false
	}
	return v, given
}

// Str returns a string.
func (m *Members) Str(key string) string {
	v, _ := m.typed(key, expr.KindString)
	return v.Str()
}

// Name returns a required string that is not empty.
func (m *Members) Name(key string) string {
	text := m.Str(key)
	switch _, given := m.value.Get(key); {
	case !given:
		m.fail(MissingMember, missingKey(m.what, key), key)
	case text == "":
		m.fail(MissingMember, emptyValue(key), key)
	}
	return text
}

// Flag returns a boolean, or otherwise if it is absent.
func (m *Members) Flag(key string, otherwise bool) bool {
	v, given := m.typed(key, expr.KindBool)
	if !given {
		return otherwise
	}
	return v.Bool()
}

// Object returns an object, null if it is absent.
func (m *Members) Object(key string) expr.Value {
	v, _ := m.typed(key, expr.KindObject)
	return v
}

// Strings returns an array of strings.
func (m *Members) Strings(key string) []string {
	v, _ := m.typed(key, expr.KindArray)
	var out []string
	for i, item := range v.Items() {
		if item.Kind() != expr.KindString {
			what := fmt.Sprintf("%s[%d]", key, i)
			m.fail(WrongKind, wrongKind(what, expr.KindString.WithArticle(), item.Kind()), key, strconv.Itoa(i))
			return nil
		}
		out = append(out, item.Str())
	}
	return out
}
