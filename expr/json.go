package expr

import (
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the value as compact JSON: members sorted by key, numbers
// with all their digits, no escapes beyond those that JSON requires.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.ref.(type) {
	case nil:
		return append(dst, "null"...)
	case boolRef:
		return strconv.AppendBool(dst, v.num == 1)
	case intRef:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case decimalRef:
		return append(dst, v.NumberText()...)
	case stringRef:
		return AppendQuoted(dst, v.Str())
	case arrayRef:
		dst = append(dst, '[')
		for i, it := range v.Items() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = it.AppendJSON(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range v.Members() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendQuoted(dst, m.Key), ':')
		dst = m.Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSON is [Value.AppendJSON], charging a unit of output for every byte. Values share
// their parts, so a value that is small in memory may be long as text.
func (b *Budget) AppendJSON(dst []byte, v Value) ([]byte, error) {
	start := len(dst)
	var err error
	switch v.Kind() {
	case KindArray:
		dst = append(dst, '[')
		for i, it := range v.Items() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if err := b.Emit(len(dst) - start); err != nil {
				return dst, err
			}
			if dst, err = b.AppendJSON(dst, it); err != nil {
				return dst, err
			}
			start = len(dst)
		}
		dst = append(dst, ']')
	case KindObject:
		dst = append(dst, '{')
		for i, m := range v.Members() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendQuoted(dst, m.Key), ':')
			if err := b.Emit(len(dst) - start); err != nil {
				return dst, err
			}
			if dst, err = b.AppendJSON(dst, m.Value); err != nil {
				return dst, err
			}
			start = len(dst)
		}
		dst = append(dst, '}')
	default:
		dst = v.AppendJSON(dst)
	}
	return dst, b.Emit(len(dst) - start)
}

// MarshalJSON implements [json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Value) UnmarshalJSON(data []byte) error {
	parsed, err := ParseJSON(data)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
			i++
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
