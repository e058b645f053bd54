package naive10

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
)

var builtIn = map[string]bool{"http": true, "grpc": true, "openapi": true, "asyncapi": true, "a2a": true, "mcp": true}

// call calls a function: one that the definition defines is run, others are the world's.
func (in *instance) call(t *thread, ptr string, def map[string]any, input any, sc scope) (any, error) {
	name := text(def["call"])
	if _, ok := object(def["with"])["subscription"]; ok && name == "asyncapi" {
		return in.subscribe(t, ptr, object(def["with"]), input, sc)
	}
	var args any = map[string]any{}
	if with, ok := def["with"]; ok {
		var err error
		if args, err = in.arguments(name, with, input, sc); err != nil {
			return nil, err
		}
	}
	if body, ok := object(object(in.def["use"])["functions"])[name]; ok {
		in.w.saw("a function of the definition")
		inside := scope{extended: sc.extended, function: name}
		out, next, err := in.task(t, "/use/functions/"+escape(name), name, object(body), args, inside)
		if err == nil && next == "end" {
			return nil, ended{out}
		}
		return out, err
	}
	return in.made(t, name, args, sc)
}

// made makes a call that the world answers.
func (in *instance) made(t *thread, name string, args any, sc scope) (any, error) {
	call := Call{At: in.w.now, Function: name, Kind: name, Args: args}
	if builtIn[name] {
		call.Function = sc.name
		if sc.function != "" {
			call.Function = sc.function
		}
	}
	if in.w.unmade[call.Function] { // which answer is next?
		in.w.isOpen(openUnmade)
	}
	answer := in.w.c.Answer(call)
	in.w.act(t, call.Function, answer)
	in.w.out.Calls = append(in.w.out.Calls, call)
	i, cancelled := len(in.w.out.Calls)-1, true
	defer func() {
		if cancelled && in.w.now == call.At {
			in.w.out.Calls[i].Maybe, in.w.unmade[call.Function] = true, true
		}
	}()
	t.sleep(answer.Delay)
	cancelled = false
	switch {
	case answer.Error != nil:
		in.w.saw("a call that fails")
		e := standard("communication").Object
		maps.Copy(e, answer.Error)
		return nil, &Error{e}
	case answer.Echo:
		return args, nil
	}
	return answer.Result, nil
}

// arguments evaluates what a call is given, with the template of the endpoint expanded.
func (in *instance) arguments(name string, with, input any, sc scope) (any, error) {
	v, err := in.template(sc, with, input)
	if err != nil || name != "http" {
		return v, err
	}
	args := maps.Clone(object(v))
	written := object(with)["endpoint"]
	if e, ok := args["endpoint"].(map[string]any); ok {
		e = maps.Clone(e)
		e["uri"], err = expand(object(written)["uri"], e["uri"], input)
		args["endpoint"] = e
	} else {
		args["endpoint"], err = expand(written, args["endpoint"], input)
	}
	return args, err
}

var variable = regexp.MustCompile(`\{([^{}]*)\}`)

// expand replaces the variables of an address by members of the input, unless an
// expression gave the address.
func expand(written, value, input any) (any, error) {
	address, ok := value.(string)
	if !ok || value != written {
		return value, nil
	}
	var failed error
	return variable.ReplaceAllStringFunc(address, func(s string) string {
		switch v := object(input)[s[1:len(s)-1]].(type) {
		case nil:
			return ""
		case string:
			return percent(v)
		case []any, map[string]any:
			failed = standard("expression")
			return ""
		default:
			return percent(string(Encode(v)))
		}
	}), failed
}

// percent encodes everything that is not unreserved in an address.
func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
