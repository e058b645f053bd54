package grpc

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// prefix is how the errors of the library begin. Its blank is chosen at random.
var prefix = regexp.MustCompile(`^proto:[\s\x{a0}]*(syntax error )?(\(line \d+:\d+\):[\s\x{a0}]*)?`)

// encode writes the arguments of a call as a message.
func (s *schema) encode(args expr.Value, md protoreflect.MessageDescriptor) (wire []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("arguments cannot be written as %s: %v", md.FullName(), r)
		}
	}()
	if args.IsNull() {
		args = expr.EmptyObject
	}
	m := dynamicpb.NewMessage(md)
	if err := s.read(args, m, false); err != nil {
		why := ""
		c := checker{schema: s, report: func(_ string, p *problem) { why = cmp.Or(why, p.Error()) }}
		c.message(args, md, "arguments")
		return nil, errors.New(cmp.Or(why, "arguments: "+plain(err)))
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// read reads JSON into a message; partial: fields that are required may not be there.
func (s *schema) read(v expr.Value, into proto.Message, partial bool) error {
	return protojson.UnmarshalOptions{Resolver: s.types, RecursionLimit: maxDepth, AllowPartial: partial}.Unmarshal(v.AppendJSON(nil), into)
}

// checker compares arguments with the message that they must become, and reports all that is wrong.
type checker struct {
	schema *schema
	// written: they are as in the definition, and what is a text ${ … } may become anything.
	written bool
	report  func(path string, p *problem)
}

// wrong is an argument that cannot become what the message asks for.
func wrong(format string, args ...any) *problem {
	return &problem{code: pin.CodeConstant, msg: fmt.Sprintf(format, args...)}
}

// message checks an object.
func (c *checker) message(v expr.Value, md protoreflect.MessageDescriptor, path string) {
	if c.open(v) {
		return
	}
	if !v.IsObject() {
		c.report(path, wrong("%s must be an object (%s), not %s", path, md.FullName(), v.Kind().WithArticle()))
		return
	}
	if wellKnown(md) {
		return // its members are not its fields; the call itself reads them
	}
	given := map[protoreflect.FieldNumber]bool{}
	for _, m := range v.Members() {
		at := path + "." + m.Key
		fd := field(md, m.Key)
		switch {
		case fd != nil && given[fd.Number()]:
			c.report(at, wrong("%s: the field %s is given twice, by both of its names", at, fd.Name()))
		case fd != nil:
			given[fd.Number()] = !m.Value.IsNull()
			c.field(m.Value, fd, at)
		case !strings.HasPrefix(m.Key, "["): // not that of an extension
			c.unknown(md, m.Key, path)
		}
	}
	for i := range md.Fields().Len() {
		if fd := md.Fields().Get(i); fd.Cardinality() == protoreflect.Required && !given[fd.Number()] {
			c.report(path, &problem{code: pin.CodeMissing, msg: fmt.Sprintf("%s needs %q, which %s requires", path, fd.JSONName(), md.FullName())})
		}
	}
}

func (c *checker) unknown(md protoreflect.MessageDescriptor, name, path string) {
	var names, all []string
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		names = append(names, fd.JSONName())
		if all = append(all, fd.JSONName()); fd.TextName() != fd.JSONName() {
			all = append(all, fd.TextName())
		}
	}
	c.report(path+"."+name, &problem{code: pin.CodeUnknown, msg: fmt.Sprintf("%s: %s has no field %q", path, md.FullName(), name), hint: meant(name, all, names)})
}

// field finds a field by one of its names.
func field(md protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if fd := md.Fields().ByJSONName(name); fd != nil {
		return fd
	}
	return md.Fields().ByTextName(name)
}

// field checks the value of a field. Messages are looked at one by one, all else as the library does.
func (c *checker) field(v expr.Value, fd protoreflect.FieldDescriptor, path string) {
	if v.IsNull() || c.open(v) {
		return
	}
	inner := fd.Message()
	if fd.IsMap() {
		inner = fd.MapValue().Message()
	}
	switch {
	case inner == nil || wellKnown(inner):
		c.leaf(v, fd, path)
	case fd.IsList() && v.IsArray():
		for i, item := range v.Items() {
			c.message(item, inner, path+"["+strconv.Itoa(i)+"]")
		}
	case fd.IsList():
		c.report(path, wrong("%s must be an array, not %s", path, v.Kind().WithArticle()))
	case fd.IsMap() && v.IsObject():
		for _, m := range v.Members() {
			c.message(m.Value, inner, path+"."+m.Key)
		}
	default:
		c.message(v, inner, path)
	}
}

// leaf lets the library read a field, without those of its items that are not known yet.
func (c *checker) leaf(v expr.Value, fd protoreflect.FieldDescriptor, path string) {
	switch {
	case fd.IsList() && v.IsArray():
		v = expr.Array(slices.DeleteFunc(slices.Clone(v.Items()), c.holdsOpen)...)
	case fd.IsMap() && v.IsObject():
		v = expr.Object(slices.DeleteFunc(slices.Clone(v.Members()), func(m expr.Member) bool { return c.holdsOpen(m.Value) })...)
	case c.holdsOpen(v):
		return
	}
	into := dynamicpb.NewMessage(fd.ContainingMessage())
	if err := c.schema.read(expr.Object(expr.Member{Key: fd.JSONName(), Value: v}), into, true); err != nil {
		c.report(path, wrong("%s: %s", path, plain(err)))
	}
}

// open reports whether a value is an expression.
func (c *checker) open(v expr.Value) bool {
	text := strings.TrimSpace(v.Str())
	return c.written && strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}")
}

func (c *checker) holdsOpen(v expr.Value) bool {
	return c.written && (c.open(v) || slices.ContainsFunc(v.Items(), c.holdsOpen) ||
		slices.ContainsFunc(v.Members(), func(m expr.Member) bool { return c.holdsOpen(m.Value) }))
}

// wellKnown reports whether a message has a form of its own as JSON.
func wellKnown(md protoreflect.MessageDescriptor) bool {
	return md.FullName().Parent() == "google.protobuf"
}
