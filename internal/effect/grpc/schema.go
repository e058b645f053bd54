package grpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// problem is what is wrong with a document, or with a call that needs it.
type problem struct {
	code, msg, hint string
	cause           error
}

func (p *problem) Unwrap() error { return p.cause }

func (p *problem) Error() string {
	if p.hint == "" {
		return p.msg
	}
	return p.msg + "; " + p.hint
}

func mismatch(hint, format string, args ...any) *problem {
	return &problem{code: pin.CodeMismatch, msg: fmt.Sprintf(format, args...), hint: hint}
}

// schema is a document, compiled.
type schema struct {
	types    *dynamicpb.Types
	services []protoreflect.ServiceDescriptor
}

// compile reads a document. Its error is a problem of the code CALL001.
func compile(ref string, open func(ref string) ([]byte, error)) (s *schema, err error) {
	defer func() {
		if r := recover(); r != nil { // what is given was not written by the library
			s, err = nil, fmt.Errorf("it makes the compiler panic: %v", r)
		}
		if err != nil {
			err = &problem{code: pin.CodeDocument, msg: fmt.Sprintf("the document %q cannot be used: %v", ref, err), cause: err}
		}
	}()
	text, err := open(ref)
	if err != nil {
		return nil, err
	}
	var files *protoregistry.Files
	if set, ok := descriptorSet(text); ok {
		files, err = linkSet(set)
	} else {
		files, err = link(ref, text, open)
	}
	if err != nil {
		return nil, err
	}
	s = &schema{types: dynamicpb.NewTypes(files)}
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			s.services = append(s.services, f.Services().Get(i))
		}
		return true
	})
	slices.SortFunc(s.services, func(a, b protoreflect.ServiceDescriptor) int {
		return strings.Compare(string(a.FullName()), string(b.FullName()))
	})
	return s, nil
}

// link compiles a .proto file with what it imports.
func link(ref string, text []byte, open func(ref string) ([]byte, error)) (*protoregistry.Files, error) {
	in, err := collect(ref, text, open)
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		MaxParallelism: 1,
		Resolver: protocompile.ResolverFunc(func(name string) (protocompile.SearchResult, error) {
			if found, err := builtIn.FindFileByPath(name); err == nil {
				return found, nil
			}
			if text := in.files[name]; text != nil {
				return protocompile.SearchResult{Source: bytes.NewReader(text)}, nil
			}
			return protocompile.SearchResult{}, fs.ErrNotExist
		}),
	}
	// Its work is bounded by the size of the sources, and it does not look at a context while it parses.
	compiled, err := compiler.Compile(context.Background(), in.root)
	if err != nil {
		return nil, firstLine(err)
	}
	files := &protoregistry.Files{}
	return files, register(files, compiled[0])
}

// register adds a file and what it imports.
func register(files *protoregistry.Files, f protoreflect.FileDescriptor) error {
	if _, err := files.FindFileByPath(f.Path()); err == nil {
		return nil
	}
	for i := range f.Imports().Len() {
		if err := register(files, f.Imports().Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return files.RegisterFile(f)
}

// linkSet reads a descriptor set. What it lacks of google/protobuf is built in.
func linkSet(set []byte) (*protoregistry.Files, error) {
	if len(set) > maxSource {
		return nil, errLarge
	}
	described := &descriptorpb.FileDescriptorSet{}
	weight := scale{messages: maxMessages, bytes: maxSource * 16}
	switch err := weight.message(set, described.ProtoReflect().Descriptor(), 0); {
	case err != nil && err != errMalformed:
		return nil, fmt.Errorf("a descriptor set has at most %d messages (limit grpc-messages), %d inside each other (limit grpc-depth)", maxMessages, maxDepth)
	case err != nil || proto.Unmarshal(set, described) != nil || len(described.File) == 0:
		return nil, errors.New("it is neither a .proto file nor a descriptor set")
	}
	has := map[string]bool{}
	for _, f := range described.File {
		has[f.GetName()] = true
	}
	for i := 0; i < len(described.File); i++ { // it grows
		for _, name := range described.File[i].GetDependency() {
			if has[name] {
				continue
			}
			known, err := builtIn.FindFileByPath(name)
			if err != nil {
				return nil, fmt.Errorf("%s imports %q, which is not in the descriptor set; write it with --include_imports", described.File[i].GetName(), name)
			}
			has[name] = true
			described.File = append(described.File, protodesc.ToFileDescriptorProto(known.Desc))
		}
	}
	return protodesc.NewFiles(described)
}

// method finds a method that can be called. The service has its package, or is the only one of its name.
func (s *schema) method(service, name string) (protoreflect.MethodDescriptor, error) {
	var found []protoreflect.ServiceDescriptor
	var names []string
	for _, d := range s.services {
		if string(d.FullName()) == service {
			found, names = []protoreflect.ServiceDescriptor{d}, nil
			break
		}
		if strings.HasSuffix(string(d.FullName()), "."+service) {
			found = append(found, d)
		}
		names = append(names, string(d.FullName()))
	}
	switch len(found) {
	case 0:
		return nil, mismatch(meant(service, append(names, shortNames(names)...), names), "the document has no service %q", service)
	case 1:
	default:
		return nil, mismatch("write it with its package", "the document has several services %q", service)
	}
	methods := found[0].Methods()
	m := methods.ByName(protoreflect.Name(name))
	if m == nil {
		var names []string
		for i := range methods.Len() {
			names = append(names, string(methods.Get(i).Name()))
		}
		return nil, mismatch(meant(name, names, names), "the service %s has no method %q", found[0].FullName(), name)
	}
	if m.IsStreamingClient() {
		return nil, mismatch("only the answer of a method can be a stream", "the method %s takes a stream of messages, and a call has one", m.FullName())
	}
	return m, nil
}

// shortNames are names without their packages.
func shortNames(names []string) (out []string) {
	for _, name := range names {
		out = append(out, name[strings.LastIndexByte(name, '.')+1:])
	}
	return out
}

// meant is the hint at a name that was meant, or at all of them, if these are few.
func meant(got string, among, all []string) string {
	if near := dialect.Suggest(got, among); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(all) == 0 || len(all) > 10 {
		return ""
	}
	return "it has " + strings.Join(all, ", ")
}
