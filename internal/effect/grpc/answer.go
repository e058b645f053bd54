package grpc

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// decode reads a message that a service sent. The scale is that of the whole answer.
func (s *schema) decode(wire []byte, md protoreflect.MessageDescriptor, weight *scale) (v expr.Value, err error) {
	defer func() {
		if r := recover(); r != nil { // a document may describe google.protobuf.Any and the like in its own way
			err = invalid("the answer cannot be read: %v", r)
		}
	}()
	if err := weight.message(wire, md, 0); err != nil {
		return expr.Null, err
	}
	m := dynamicpb.NewMessage(md)
	if err := (proto.UnmarshalOptions{DiscardUnknown: true, Resolver: s.types}).Unmarshal(wire, m); err != nil {
		return expr.Null, invalid("the answer is not a %s: %s", md.FullName(), plain(err))
	}
	text, err := protojson.MarshalOptions{EmitDefaultValues: true, Resolver: s.types}.Marshal(m)
	if err != nil {
		return expr.Null, invalid("the answer cannot be written as JSON: %s", plain(err))
	}
	if weight.json -= int64(len(text)); weight.json < 0 {
		return expr.Null, weight.large()
	}
	if v, err = expr.ParseJSON(text); err != nil {
		return expr.Null, invalid("the answer cannot be written as JSON: %v", err)
	}
	return v, nil
}

func invalid(format string, args ...any) error {
	return &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: fmt.Sprintf(format, args...)}
}

// scale weighs messages on the wire before they are decoded. Decoded, an empty message of two bytes takes a
// hundred times as many, and as JSON it has the names of its fields.
type scale struct {
	types    *dynamicpb.Types // that may be in a google.protobuf.Any; nil: none
	messages int              // that there may still be
	bytes    int64            // of JSON that there may still be, by what is on the wire: a lower bound
	json     int64            // of JSON that there may still be, as it was written
	limit    int64            // of both
	empty    map[protoreflect.MessageDescriptor]int64
}

// scaleOf is for an answer of as many bytes.
func (s *schema) scaleOf(bytes int64) *scale {
	return &scale{types: s.types, messages: maxMessages, bytes: bytes, json: bytes, limit: bytes}
}

func (s *scale) large() error {
	return &effecthttp.Error{
		Code: effecthttp.CodeTooLarge,
		Msg:  fmt.Sprintf("the answer is larger than %d bytes as JSON (limit response-bytes)", s.limit),
	}
}

var errMalformed = &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: "the answer is not a message of Protocol Buffers"}

// message weighs a message and those inside of it.
func (s *scale) message(wire []byte, md protoreflect.MessageDescriptor, depth int) error {
	if depth >= maxDepth {
		return &effecthttp.Error{Code: effecthttp.CodeTooLarge, Msg: fmt.Sprintf("the answer nests deeper than %d messages (limit grpc-depth)", maxDepth)}
	}
	if s.messages--; s.messages < 0 {
		return &effecthttp.Error{Code: effecthttp.CodeTooLarge, Msg: fmt.Sprintf("the answer has more than %d messages (limit grpc-messages)", maxMessages)}
	}
	s.bytes -= s.unset(md)
	var anyURL string
	var anyValue []byte
	isAny := md.FullName() == "google.protobuf.Any"
	for len(wire) > 0 {
		number, kind, n := protowire.ConsumeTag(wire)
		if n < 0 {
			return errMalformed
		}
		wire = wire[n:]
		if n = protowire.ConsumeFieldValue(number, kind, wire); n < 0 {
			return errMalformed
		}
		value := wire[:n]
		wire = wire[n:]
		switch data, _ := protowire.ConsumeBytes(value); {
		case isAny && number == 1 && kind == protowire.BytesType:
			anyURL = string(data)
		case isAny && number == 2 && kind == protowire.BytesType:
			anyValue = data
		}
		fd := s.field(md, number)
		if fd == nil {
			continue
		}
		if err := s.value(fd, kind, value, depth); err != nil {
			return err
		}
		if s.bytes < 0 {
			return s.large()
		}
	}
	if isAny && s.types != nil {
		if inner, err := s.types.FindMessageByURL(anyURL); err == nil {
			return s.message(anyValue, inner.Descriptor(), depth+1)
		}
	}
	return nil
}

func (s *scale) field(md protoreflect.MessageDescriptor, number protowire.Number) protoreflect.FieldDescriptor {
	if fd := md.Fields().ByNumber(number); fd != nil {
		return fd
	}
	if s.types != nil && md.ExtensionRanges().Has(number) {
		if x, err := s.types.FindExtensionByNumber(md.FullName(), number); err == nil {
			return x.TypeDescriptor()
		}
	}
	return nil
}

// unset is what a message without any field set has as JSON.
func (s *scale) unset(md protoreflect.MessageDescriptor) int64 {
	if n, ok := s.empty[md]; ok {
		return n
	}
	n := int64(2)
	for i := range md.Fields().Len() {
		if fd := md.Fields().Get(i); !fd.HasPresence() && !wellKnown(md) && !md.IsMapEntry() {
			n += int64(len(fd.JSONName())) + 4
		}
	}
	if s.empty == nil {
		s.empty = map[protoreflect.MessageDescriptor]int64{}
	}
	s.empty[md] = n
	return n
}

// value weighs one value of a field, or those of a packed one.
func (s *scale) value(fd protoreflect.FieldDescriptor, kind protowire.Type, wire []byte, depth int) error {
	if fd.HasPresence() {
		s.bytes -= int64(len(fd.JSONName())) + 4
	}
	if md := fd.Message(); md != nil {
		switch kind {
		case protowire.BytesType:
			data, _ := protowire.ConsumeBytes(wire)
			return s.message(data, md, depth+1)
		case protowire.StartGroupType:
			data, n := protowire.ConsumeGroup(fd.Number(), wire)
			if n < 0 {
				return errMalformed
			}
			return s.message(data, md, depth+1)
		}
		return nil // of another kind than the document says: an unknown field
	}
	if kind != protowire.BytesType {
		s.scalar(fd, wire)
		return nil
	}
	data, _ := protowire.ConsumeBytes(wire)
	switch fd.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind:
		s.bytes -= int64(len(data)) + 3
		return nil
	}
	for len(data) > 0 && s.bytes >= 0 {
		n := packed(fd.Kind(), data)
		if n <= 0 || n > len(data) {
			return errMalformed
		}
		s.scalar(fd, data[:n])
		data = data[n:]
	}
	return nil
}

// packed is the length of the first of packed values.
func packed(kind protoreflect.Kind, data []byte) int {
	switch kind {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return 4
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return 8
	}
	_, n := protowire.ConsumeVarint(data)
	return n
}

// scalar weighs a number, a boolean or an enum, with the comma after it.
func (s *scale) scalar(fd protoreflect.FieldDescriptor, wire []byte) {
	s.bytes -= 2
	if fd.Kind() != protoreflect.EnumKind {
		return
	}
	number, _ := protowire.ConsumeVarint(wire)
	if v := fd.Enum().Values().ByNumber(protoreflect.EnumNumber(int32(number & math.MaxUint32))); v != nil {
		s.bytes -= int64(len(v.Name())) + 2
	}
}

// plain is an error of the library without what it says of itself.
func plain(err error) string {
	return prefix.ReplaceAllString(err.Error(), "")
}
