package event

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestReceiveObeysTheSpecification: what CloudEvents forbids is refused, with the attribute
// named; files of people may leave out specversion.
func TestReceiveObeysTheSpecification(t *testing.T) {
	for _, c := range []struct{ text, attribute, says string }{
		{`{"id":"1","source":"s","type":"t"}`, "specversion", "required"},
		{`{"specversion":null,"id":"1","source":"s","type":"t"}`, "specversion", "required"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","id":"2"}`, "id", "twice"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","\u0069d":"1"}`, "id", "twice"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","ext":"1","ext":null}`, "ext", "twice"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"x":[{"a":1,"a":2}]}}`, "data", `"a" is given twice`},
	} {
		_, err := Parse([]byte(c.text))
		var bad *AttributeError
		if !errors.As(err, &bad) || bad.Attribute != c.attribute || !strings.Contains(bad.Msg, c.says) {
			t.Errorf("%s: %v, want one about %q that says %q", c.text, err, c.attribute, c.says)
		}
	}
	if _, err := Parse([]byte(`{"specversion":"1.0","id":"\ud800","source":"s","type":"t"}`)); err == nil {
		t.Error("half of a surrogate pair is taken")
	}
	v := expr.Object(expr.Member{Key: "id", Value: expr.String("1")}, expr.Member{Key: "source", Value: expr.String("s")}, expr.Member{Key: "type", Value: expr.String("t")})
	if _, err := FromValue(v); err != nil {
		t.Error(err)
	}
}

// TestReceiveAnyCharacter: an attribute has every character but those that CloudEvents §Type
// System forbids, in whatever mode it comes.
func TestReceiveAnyCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.OneOf(rapid.Rune(), rapid.Int32Range(0, 0xff), rapid.SampledFrom([]rune{0xfdcf, 0xfdd0, 0xfdef, 0xfdf0, 0xfffd, 0xfffe, 0xffff, 0x1fffe, 0x10ffff, 0xa0, 0x9f, 0x7e})).Draw(t, "r")
		if r >= 0xd800 && r < 0xe000 {
			return
		}
		name := rapid.SampledFrom([]string{"id", "source", "type", "subject", "datacontenttype", "dataschema", "ext"}).Draw(t, "name")
		value := "a" + string(r) + "b"
		v := expr.Object(
			expr.Member{Key: "specversion", Value: expr.String("1.0")}, expr.Member{Key: "id", Value: expr.String("1")},
			expr.Member{Key: "source", Value: expr.String("s")}, expr.Member{Key: "type", Value: expr.String("t")},
			expr.Member{Key: "data", Value: expr.String(value)}, // data may be anything
		).With(name, expr.String(value))
		forbidden := r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xfdd0 && r <= 0xfdef || r%0x10000 == 0xfffe || r%0x10000 == 0xffff
		check := func(mode string, err error) {
			var bad *AttributeError
			switch {
			case !forbidden && err != nil:
				t.Fatalf("%s, %s with %U: %v", mode, name, r, err)
			case forbidden && (!errors.As(err, &bad) || bad.Attribute != name || !strings.Contains(bad.Msg, fmt.Sprintf("%U", r))):
				t.Fatalf("%s, %s with %U is refused with %v", mode, name, r, err)
			}
		}
		_, err := Parse(v.AppendJSON(nil))
		check("structured", err)
		if name == "datacontenttype" {
			return // not a header of binary mode
		}
		header := map[string][]string{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"s"}, "ce-type": {"t"}}
		header["ce-"+name] = []string{EncodeHeader(value)}
		_, err = FromBinary(Binary{Header: header})
		check("binary", err)
	})
}
