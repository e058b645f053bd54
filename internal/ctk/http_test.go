package ctk

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/sim/naive10"
)

// answer makes a call of the interpreter over HTTP. A problem is an error of type communication.
func answer(ctx context.Context, call naive10.Call) naive10.Answer {
	args, _ := call.Args.(map[string]any)
	var result any
	var err error
	switch call.Kind {
	case "http":
		result, err = request(ctx, args)
	case "openapi":
		result, err = operation(ctx, args)
	default:
		err = fmt.Errorf("no function %s", call.Kind)
	}
	if err == nil {
		return naive10.Answer{Result: result}
	}
	problem := map[string]any{"title": "The call failed", "detail": err.Error()}
	if s, ok := err.(statusError); ok {
		problem["status"], problem["title"] = int(s), http.StatusText(int(s))
	}
	return naive10.Answer{Error: problem}
}

// statusError is a response that counts as an error.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("status %d", int(s)) }

// request makes one request as the arguments of an http call say.
func request(ctx context.Context, args map[string]any) (any, error) {
	address, _ := args["endpoint"].(string)
	endpoint, _ := args["endpoint"].(map[string]any)
	if endpoint != nil {
		address, _ = endpoint["uri"].(string)
	}
	method, _ := args["method"].(string)
	var body io.Reader
	if v, ok := args["body"]; ok {
		body = bytes.NewReader(naive10.Encode(v))
	}
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(method), address, body)
	if err != nil {
		return nil, err
	}
	query := req.URL.Query()
	each(args["query"], func(key, value string) { query.Set(key, value) })
	req.URL.RawQuery = query.Encode()
	each(args["headers"], req.Header.Set)
	authentication, _ := endpoint["authentication"].(map[string]any)
	if basic, ok := authentication["basic"].(map[string]any); ok {
		req.SetBasicAuth(fmt.Sprint(basic["username"]), fmt.Sprint(basic["password"]))
	}
	redirect := args["redirect"] == true
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		if redirect {
			return nil
		}
		return http.ErrUseLastResponse
	}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 200 || res.StatusCode > 399 || res.StatusCode > 299 && !redirect {
		return nil, statusError(res.StatusCode)
	}
	return output(args["output"], req, res, content)
}

func each(v any, visit func(key, value string)) {
	m, _ := v.(map[string]any)
	for key, value := range m {
		text, ok := value.(string)
		if !ok {
			text = string(naive10.Encode(value))
		}
		visit(key, text)
	}
}

// output is a response in the form that the call asks for.
func output(form any, req *http.Request, res *http.Response, content []byte) (any, error) {
	if form == "raw" {
		return base64.StdEncoding.EncodeToString(content), nil
	}
	var value any
	if len(content) > 0 {
		value = string(content)
	}
	if strings.Contains(res.Header.Get("Content-Type"), "json") {
		var err error
		if value, err = naive10.Decode(content); err != nil {
			return nil, err
		}
	}
	if form != "response" {
		return value, nil
	}
	return map[string]any{
		"request":    map[string]any{"method": req.Method, "uri": req.URL.String(), "headers": headers(req.Header)},
		"statusCode": res.StatusCode, "headers": headers(res.Header), "content": value,
	}, nil
}

func headers(h http.Header) map[string]any {
	out := map[string]any{}
	for key := range h {
		out[key] = h.Get(key)
	}
	return out
}

// operation calls an operation of an OpenAPI 2 document with parameters in path and query.
func operation(ctx context.Context, args map[string]any) (any, error) {
	source, _ := args["document"].(map[string]any)
	v, err := request(ctx, map[string]any{"method": "get", "endpoint": source["endpoint"]})
	if err != nil {
		return nil, err
	}
	document, _ := v.(map[string]any)
	paths, _ := document["paths"].(map[string]any)
	for path, item := range paths {
		methods, _ := item.(map[string]any)
		for method, op := range methods {
			operation, _ := op.(map[string]any)
			if operation["operationId"] != args["operationId"] {
				continue
			}
			query := map[string]any{}
			given, _ := args["parameters"].(map[string]any)
			declared, _ := operation["parameters"].([]any)
			for _, d := range declared {
				parameter, _ := d.(map[string]any)
				name, _ := parameter["name"].(string)
				if parameter["in"] == "query" {
					query[name] = given[name]
					continue
				}
				each(map[string]any{name: given[name]}, func(key, value string) {
					path = strings.ReplaceAll(path, "{"+key+"}", url.PathEscape(value))
				})
			}
			address := fmt.Sprintf("http://%v%v%s", document["host"], document["basePath"], path)
			return request(ctx, map[string]any{"method": method, "endpoint": address, "query": query, "output": args["output"], "redirect": args["redirect"]})
		}
	}
	return nil, fmt.Errorf("no operation %v", args["operationId"])
}
