package openapi

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// How much stays in memory: operations that are ready to be called, and documents
// that further ones are made of.
const (
	maxOperations = 1024
	maxLibraries  = 8
)

// Invoker calls operations of pinned documents.
type Invoker struct {
	client *effecthttp.Client

	mu         sync.Mutex
	operations cache[ready]
	libraries  cache[*shelf]
}

var _ effect.Invoker = (*Invoker)(nil)

// ready is an operation, or why there is none.
type ready struct {
	operation *operation
	err       error
}

// shelf is a library in use by one goroutine at a time.
type shelf struct {
	mu  sync.Mutex
	lib *library
}

// New returns an invoker that calls through the client.
func New(client *effecthttp.Client) *Invoker {
	return &Invoker{client: client, operations: newCache[ready](maxOperations), libraries: newCache[*shelf](maxLibraries)}
}

// Invoke calls the operation that the function's operation names.
func (i *Invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	if b, ok := ir.BuiltinOf(c.Operation); ok {
		return i.described(ctx, c, b)
	}
	return i.Call(ctx, c, Extra{})
}

// described makes a call whose arguments are {parameters, authentication, output, redirect}, with the
// failures of such calls: see package http.
func (i *Invoker) described(ctx context.Context, c effect.Call, b ir.Builtin) effect.Outcome {
	where := fmt.Sprintf("call %q", c.Function)
	options, err := effecthttp.ReadOptions(c.Args)
	if err != nil {
		return options.Refused(where, err)
	}
	extra := Extra{Options: &options, Guarded: b.Guarded}
	policy, _ := c.Args.Get("authentication")
	if c.Args, extra.Auth, err = i.client.Authorize(ctx, c.Args, policy, b); err != nil {
		return options.Refused(where, err)
	}
	parameters, _ := c.Args.Get("parameters")
	switch {
	case parameters.IsNull():
		parameters = expr.EmptyObject
	case !parameters.IsObject():
		return options.Refused(where, errors.New("parameters must be an object, not "+parameters.Kind().WithArticle()))
	}
	c.Args, c.Operation, extra.Secret = parameters, b.Document, i.client.Holds(parameters)
	out := i.Call(ctx, c, extra)
	if f := out.Failure; f != nil && f.Name != effect.Authentication && f.Name != effect.Authorization {
		f.Name, f.Type = effect.Communication, ""
	}
	return out
}

// Extra is what an operator adds to a call, or the definition beside the arguments.
type Extra struct {
	ID      string      // operationId, instead of the call's
	Header  http.Header // added as given.go says
	Secret  bool        // headers or arguments hold secrets
	Timeout time.Duration
	Auth    *auth.Policy
	Guarded bool                    // data may have chosen the address
	Options *effecthttp.CallOptions // of a described call; nil: it is none
}

// Call makes a call with more than its arguments.
func (i *Invoker) Call(ctx context.Context, c effect.Call, extra Extra) effect.Outcome {
	o, err := i.operation(ctx, c, extra.ID)
	if err != nil && ctx.Err() != nil {
		return effecthttp.Failed(fmt.Sprintf("function %q", c.Function), &effecthttp.Error{Code: effecthttp.CodeCancelled, Msg: "the call was cancelled"})
	}
	if err != nil {
		f := effect.Failure{Name: effect.NotFound, Code: codeBroken, Detail: fmt.Sprintf("function %q: %v", c.Function, err)}
		var p *problem
		if errors.As(err, &p) {
			f.Code = p.code
		}
		return effect.Fail(f)
	}
	r, f := o.request(c.Args, extra.Header)
	if f != nil {
		return effect.Outcome{Failure: f}
	}
	r.Key, r.Secret, r.Timeout, r.Auth, r.Guarded = c.Key, extra.Secret, extra.Timeout, extra.Auth, extra.Guarded
	if extra.Options != nil {
		extra.Options.Apply(&r)
	}
	where := r.Method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.EscapedPath()
	a, err := i.client.Do(ctx, r)
	switch {
	case err != nil && extra.Options != nil:
		return extra.Options.Refused(where, err)
	case err != nil:
		return effecthttp.Failed(where, err)
	case extra.Options != nil:
		return extra.Options.Outcome(a, where, func(content expr.Value) *effect.Failure { return o.judge(a, content, where) })
	}
	return o.outcome(a, where)
}

func (i *Invoker) operation(ctx context.Context, c effect.Call, id string) (*operation, error) {
	named := route.Parse(c.Operation)
	if id == "" {
		id = named.ID
	}
	if id == "" {
		return nil, &problem{
			code: codeNoID, msg: fmt.Sprintf("its operation %q names a document and no operation of it", c.Operation),
			hint: fmt.Sprintf("write %s#operationId", named.Document),
		}
	}
	if c.Documents.Root == 0 || c.Documents.Root > len(c.Documents.All) {
		return nil, &problem{code: codeOpen, msg: fmt.Sprintf("the document %q could not be opened when the definition was deployed", named.Document)}
	}
	root := c.Documents.All[c.Documents.Root-1].Ref
	key := c.Documents.Key + " " + strconv.Itoa(c.Documents.Root) + "#" + id
	i.mu.Lock()
	known, ok := i.operations.get(key)
	s, has := i.libraries.get(c.Documents.Key)
	if !ok && !has {
		s = &shelf{lib: pinned(c.Documents)}
		i.libraries.put(c.Documents.Key, s)
	}
	i.mu.Unlock()
	if ok {
		return known.operation, known.err
	}
	s.mu.Lock()
	o, _, err := s.lib.compile(ctx, root, id)
	s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	i.mu.Lock()
	i.operations.put(key, ready{o, err})
	i.mu.Unlock()
	return o, err
}

// pinned is a library of what was pinned, and nothing else.
func pinned(d effect.Documents) *library {
	return newLibrary(func(ref string) ([]byte, error) {
		for _, r := range d.All {
			if r.Ref == ref && r.Text == "" {
				return nil, errUnread
			}
			if r.Ref == ref {
				return []byte(r.Text), nil
			}
		}
		return nil, errors.New("it was not pinned when the definition was deployed")
	})
}

// cache keeps what was used last.
type cache[T any] struct {
	size  int
	byKey map[string]*list.Element
	used  *list.List // last used first
}

type cached[T any] struct {
	key   string
	value T
}

func newCache[T any](size int) cache[T] {
	return cache[T]{size, map[string]*list.Element{}, list.New()}
}

func (c *cache[T]) get(key string) (value T, ok bool) {
	e := c.byKey[key]
	if e == nil {
		return value, false
	}
	c.used.MoveToFront(e)
	return e.Value.(cached[T]).value, true
}

func (c *cache[T]) put(key string, value T) {
	if e := c.byKey[key]; e != nil {
		e.Value = cached[T]{key, value}
		c.used.MoveToFront(e)
		return
	}
	c.byKey[key] = c.used.PushFront(cached[T]{key, value})
	for c.used.Len() > c.size {
		last := c.used.Remove(c.used.Back()).(cached[T])
		delete(c.byKey, last.key)
	}
}
