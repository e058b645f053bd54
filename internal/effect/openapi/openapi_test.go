package openapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// service is a server that tells what it was asked, unless answer is set.
type service struct {
	*httptest.Server
	answer http.HandlerFunc
	calls  int
	seen   *http.Request
	body   string
}

func newService(t testing.TB) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		s.calls++
		s.seen, s.body = r, string(text)
		if s.answer != nil {
			s.answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func newInvoker(t testing.TB) *Invoker {
	t.Helper()
	client, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return New(client)
}

func value(t testing.TB, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// pinnedCall makes a call of api.yaml#id with the file's text, as the engine does.
func pinnedCall(t testing.TB, files dialect.MapBundle, operation, args string) (effect.Call, dialect.Diagnostics) {
	t.Helper()
	p := &ir.Program{Digest: "d", Functions: []ir.Function{{Name: "f", Operation: operation}}}
	found := Pin(context.Background(), p, files, Definition{File: "def.yaml"})
	return effect.Call{
		Key: "k1", Function: "f", Operation: operation, Args: value(t, args),
		Documents: effect.Documents{Key: p.Digest, Root: p.Functions[0].Resource, All: documentsOf(p)},
	}, found
}

// invoke calls op of a document, in which SERVER stands for the service.
func (s *service) invoke(t testing.TB, i *Invoker, document, args string) effect.Outcome {
	t.Helper()
	document = strings.ReplaceAll(document, "SERVER", s.URL)
	document = strings.ReplaceAll(document, "HOST", strings.TrimPrefix(s.URL, "http://"))
	call, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(document)}, "api.yaml#op", args)
	if len(found) > 0 {
		t.Fatalf("%s\n%v", document, found)
	}
	return i.Invoke(context.Background(), call)
}

// api is a document with one operation.
func api(path, method, rest string) string {
	return "openapi: 3.1.0\nservers: [{url: SERVER}]\npaths:\n  " + path + ":\n    " + method + ":\n      operationId: op\n" + indent(rest, "      ")
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by) + "\n"
}

func TestPathAndQueryStyles(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	const object = `{"R":100,"G":200}`
	for _, c := range []struct{ in, how, v, want string }{
		{"path", "", `"a/b ü"`, "/x/a%2Fb%20%C3%BC/y"},
		{"path", "", `["a","b,c"]`, "/x/a,b%2Cc/y"},
		{"path", "", object, "/x/G,200,R,100/y"},
		{"path", "explode: true", object, "/x/G=200,R=100/y"},
		{"path", "style: label", `5`, "/x/.5/y"},
		{"path", "style: label", `[3,4]`, "/x/.3,4/y"},
		{"path", "style: label, explode: true", `[3,4]`, "/x/.3.4/y"},
		{"path", "style: label", object, "/x/.G,200,R,100/y"},
		{"path", "style: label, explode: true", object, "/x/.G=200.R=100/y"},
		{"path", "style: matrix", `5`, "/x/;p=5/y"},
		{"path", "style: matrix", `""`, "/x/;p/y"},
		{"path", "style: matrix", `[3,4]`, "/x/;p=3,4/y"},
		{"path", "style: matrix, explode: true", `[3,4]`, "/x/;p=3;p=4/y"},
		{"path", "style: matrix", object, "/x/;p=G,200,R,100/y"},
		{"path", "style: matrix, explode: true", object, "/x/;G=200;R=100/y"},
		{"query", "", `"a&b=c d+é"`, "/x/y?p=a%26b%3Dc%20d%2B%C3%A9"},
		{"query", "", `true`, "/x/y?p=true"},
		{"query", "", `null`, "/x/y"},
		{"query", "", `[]`, "/x/y"},
		{"query", "required: true", `[]`, "/x/y?p="},
		{"query", "", `["a",null,"b"]`, "/x/y?p=a&p=b"},
		{"query", "explode: false", `["a,","b"]`, "/x/y?p=a%2C,b"},
		{"query", "", object, "/x/y?G=200&R=100"},
		{"query", "explode: false", object, "/x/y?p=G,200,R,100"},
		{"query", "style: spaceDelimited", `["a","b"]`, "/x/y?p=a%20b"},
		{"query", "style: spaceDelimited, explode: true", `["a","b"]`, "/x/y?p=a&p=b"},
		{"query", "style: pipeDelimited", `["a","b"]`, "/x/y?p=a%7Cb"},
		{"query", "style: pipeDelimited", object, "/x/y?p=G%7C200%7CR%7C100"},
		{"query", "style: deepObject", object, "/x/y?p%5BG%5D=200&p%5BR%5D=100"},
		{"query", "style: deepObject", `{"a":{"b":1},"c":[2,3],"n":null}`, "/x/y?p%5Ba%5D%5Bb%5D=1&p%5Bc%5D=2&p%5Bc%5D=3"},
		{"query", "allowReserved: true", `"/a?b:c&d#e[f]+g"`, "/x/y?p=/a?b:c%26d%23e%5Bf%5D%2Bg"},
		{"query", "content: {application/json: {}}", `{"a":[1]}`, "/x/y?p=%7B%22a%22%3A%5B1%5D%7D"},
	} {
		path := "/x/y"
		if c.in == "path" {
			path = "/x/{p}/y"
		}
		how := ""
		if c.how != "" {
			how = ", " + c.how
		}
		doc := api(path, "get", fmt.Sprintf("parameters: [{name: p, in: %s%s}]", c.in, how))
		if out := s.invoke(t, i, doc, `{"p":`+c.v+`}`); out.Failure != nil {
			t.Errorf("%s %s %s: %s", c.in, c.how, c.v, out.Failure.Detail)
		} else if s.seen.RequestURI != c.want {
			t.Errorf("%s %s %s: asked for %s, want %s", c.in, c.how, c.v, s.seen.RequestURI, c.want)
		}
	}
}

func TestHeadersAndCookies(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x", "get", `
parameters:
- {name: x-list, in: header}
- {name: X-Object, in: header, explode: true}
- {name: X-JSON, in: header, content: {application/json: {}}}
- {name: Accept, in: header}
- {name: session, in: cookie}
- {name: colors, in: cookie, explode: false}
- {name: many, in: cookie}
`)
	out := s.invoke(t, i, doc, `{"x-list":["a b","c"],"X-Object":{"k":"v","l":1},"X-JSON":{"a":1},"session":"a;b","colors":["x","y"],"many":[1,2]}`)
	if out.Failure != nil {
		t.Fatal(out.Failure.Detail)
	}
	for name, want := range map[string]string{
		"X-List": "a b,c", "X-Object": "k=v,l=1", "X-Json": `{"a":1}`, "Accept": "application/json, */*;q=0.5",
		"Cookie": "session=a%3Bb; colors=x,y; many=1; many=2", "Idempotency-Key": "k1",
	} {
		if got := s.seen.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestBodies(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	body := func(media, schema string) string {
		return api("/x", "post", "parameters: [{name: id, in: query}]\nrequestBody:\n  content:\n    "+media+":\n      schema: "+schema)
	}
	const pet = `{type: object, properties: {name: {type: string}, tags: {type: array}, home: {type: object}}}`
	for _, c := range []struct{ doc, args, media, want string }{
		{body("application/json", pet), `{"id":1,"name":"Rex","tags":["a"]}`, "application/json", `{"name":"Rex","tags":["a"]}`},
		{body("application/json", pet), `{"body":{"name":"Rex","more":1}}`, "application/json", `{"name":"Rex","more":1}`},
		{body("application/json", "{properties: {body: {type: string}}}"), `{"body":"x"}`, "application/json", `{"body":"x"}`},
		{body("application/merge-patch+json", "{}"), `{"a":null}`, "application/merge-patch+json", `{"a":null}`},
		{body("application/json", "{type: array}"), `{"body":[1,2]}`, "application/json", `[1,2]`},
		{body(`"*/*"`, "{}"), `{"a":1}`, "application/json", `{"a":1}`},
		{body("application/json", pet), `{"id":1}`, "", ""},
		{body("text/plain", "{type: string}"), `{"body":"hello\nworld"}`, "text/plain", "hello\nworld"},
		{body("application/xml", "{}"), `{"body":"<a/>"}`, "application/xml", "<a/>"},
		{
			body("application/x-www-form-urlencoded", pet), `{"name":"R x&=","tags":["a","b"],"home":{"c":1}}`,
			"application/x-www-form-urlencoded", "home=%7B%22c%22%3A1%7D&name=R+x%26%3D&tags=a&tags=b",
		},
		{
			body("application/x-www-form-urlencoded", pet+"\n      encoding: {tags: {style: pipeDelimited}, home: {style: deepObject}}"),
			`{"tags":["a","b"],"home":{"c":1}}`, "application/x-www-form-urlencoded", "home%5Bc%5D=1&tags=a%7Cb",
		},
	} {
		s.seen = nil
		if out := s.invoke(t, i, c.doc, c.args); out.Failure != nil {
			t.Errorf("%s: %s", c.args, out.Failure.Detail)
			continue
		}
		if got := s.seen.Header.Get("Content-Type"); got != c.media || s.body != c.want && value(t, c.want).String() != s.body {
			t.Errorf("%s: %s %s, want %s %s", c.args, got, s.body, c.media, c.want)
		}
	}
}

func TestMultipart(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x", "post", `
requestBody:
  content:
    multipart/form-data:
      schema: {properties: {name: {type: string}, tags: {type: array}, home: {type: object}, photo: {type: string, format: binary}}}
      encoding: {photo: {contentType: image/png}}
`)
	var got []string
	s.answer = func(_ http.ResponseWriter, r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(s.body))
		form, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			part, err := form.NextPart()
			if err != nil {
				break
			}
			text, _ := io.ReadAll(part)
			got = append(got, fmt.Sprintf("%s|%s|%s|%s", part.FormName(), part.FileName(), part.Header.Get("Content-Type"), text))
		}
	}
	if out := s.invoke(t, i, doc, `{"name":"R\"x","tags":["a","b"],"home":{"c":1},"photo":"PNG"}`); out.Failure != nil {
		t.Fatal(out.Failure.Detail)
	}
	want := `home||application/json|{"c":1} name|||R"x photo|photo|image/png|PNG tags|||a tags|||b`
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestSwagger2(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := func(rest string) string {
		return "swagger: \"2.0\"\nhost: HOST\nbasePath: /v1\nschemes: [http]\npaths:\n  /x/{id}:\n    parameters: [{name: id, in: path, required: true, type: array, items: {type: integer}, collectionFormat: pipes}]\n    post:\n      operationId: op\n" + indent(rest, "      ")
	}
	for _, c := range []struct{ rest, args, uri, media, body string }{
		{"parameters: []", `{"id":[1,2]}`, "/v1/x/1%7C2", "", ""},
		{"parameters: [{name: q, in: query, type: array, items: {type: string}}]", `{"id":[1],"q":["a","b"]}`, "/v1/x/1?q=a,b", "", ""},
		{"parameters: [{name: q, in: query, type: array, items: {type: string}, collectionFormat: multi}]", `{"id":[1],"q":["a","b"]}`, "/v1/x/1?q=a&q=b", "", ""},
		{"parameters: [{name: q, in: query, type: array, items: {type: string}, collectionFormat: ssv}]", `{"id":[1],"q":["a","b"]}`, "/v1/x/1?q=a%20b", "", ""},
		{"parameters: [{name: q, in: query, type: array, items: {type: string}, collectionFormat: tsv}]", `{"id":[1],"q":["a","b"]}`, "/v1/x/1?q=a%09b", "", ""},
		{"parameters: [{name: pet, in: body, schema: {properties: {n: {type: integer, minimum: 0, exclusiveMinimum: true}}}}]", `{"id":[1],"n":1}`, "/v1/x/1", "application/json", `{"n":1}`},
		{"parameters: [{name: pet, in: body, schema: {type: object}}]", `{"id":[1],"pet":{"n":1}}`, "/v1/x/1", "application/json", `{"n":1}`},
		{"parameters: [{name: a, in: formData, type: string}, {name: b, in: formData, type: array, items: {type: integer}}]", `{"id":[1],"a":"x y","b":[1,2]}`, "/v1/x/1", "application/x-www-form-urlencoded", "a=x+y&b=1,2"},
	} {
		if out := s.invoke(t, i, doc(c.rest), c.args); out.Failure != nil {
			t.Errorf("%s: %s", c.rest, out.Failure.Detail)
		} else if got := s.seen.RequestURI; got != c.uri || s.seen.Header.Get("Content-Type") != c.media || s.body != c.body {
			t.Errorf("%s: %s %s %s", c.rest, got, s.seen.Header.Get("Content-Type"), s.body)
		}
	}
	file := doc("parameters: [{name: f, in: formData, type: file, required: true}]")
	if out := s.invoke(t, i, file, `{"id":[1],"f":"text"}`); out.Failure != nil || !strings.Contains(s.body, `name="f"; filename="f"`) {
		t.Errorf("%+v %s", out.Failure, s.body)
	}
	if out := s.invoke(t, i, file, `{"id":[1]}`); out.Failure == nil || !strings.Contains(out.Failure.Detail, "request body is missing") {
		t.Errorf("%+v", out.Failure)
	}
}

// Nothing is sent where the arguments do not fit.
func TestArgumentsAreCheckedFirst(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	get := api("/pets/{petId}", "get", `
parameters:
- {name: petId, in: path, schema: {type: integer}}
- {name: limit, in: query, required: true, schema: {type: integer, maximum: 100}}
- {name: X-Trace, in: header}
- {name: nested, in: query}
`)
	post := api("/pets", "post", `
requestBody:
  required: true
  content:
    application/json:
      schema:
        type: object
        required: [name]
        properties: {name: {type: string}, size: {type: object, properties: {cm: {type: integer}}}}
`)
	text := api("/x", "post", "requestBody: {content: {text/plain: {}}}")
	path := api("/x/{p}/y", "get", "parameters: [{name: p, in: path, required: true}]")
	for _, c := range []struct{ doc, args, name, says string }{
		{get, `{"limit":1}`, effect.InvalidArguments, `the argument "petId" is missing (a required path parameter)`},
		{get, `{"petId":null,"limit":1}`, effect.InvalidArguments, `"petId" is missing`},
		{get, `{"petId":1}`, effect.InvalidArguments, `the argument "limit" is missing (a required query parameter)`},
		{get, `{"petId":1,"limt":1,"limit":1}`, effect.InvalidArguments, `there is no parameter "limt"; did you mean "limit"?`},
		{get, `{"petId":1,"limit":500}`, effect.SchemaViolation, `the argument "limit" does not adhere to the document: /limit: `},
		{get, `{"petId":"x","limit":1}`, effect.SchemaViolation, `/petId: `},
		{get, `{"petId":1,"limit":1,"X-Trace":"a\r\nX: y"}`, effect.InvalidArguments, `control character`},
		{get, `{"petId":1,"limit":1,"nested":[[1]]}`, effect.InvalidArguments, `the argument "nested": item 0 is an array`},
		{get, `[1]`, effect.InvalidArguments, `must be an object, not an array`},
		{post, `{}`, effect.InvalidArguments, `the request body is missing: its properties are name, size`},
		{post, `{"name":"Rex","sise":{}}`, effect.InvalidArguments, `there is no parameter "sise"; did you mean "size"?`},
		{post, `{"size":{}}`, effect.SchemaViolation, `the request body does not adhere to the document`},
		{post, `{"name":"Rex","size":{"cm":"x"}}`, effect.SchemaViolation, `/size/cm: `},
		{post, `{"body":{"name":1}}`, effect.SchemaViolation, `/body/name: `},
		{text, `{"a":1}`, effect.InvalidArguments, `must be a string, not an object`},
		{path, `{"p":""}`, effect.InvalidArguments, `is empty`},
		{path, `{"p":".."}`, effect.InvalidArguments, `the step ".."`},
		{path, `{"p":"."}`, effect.InvalidArguments, `the step "."`},
	} {
		out := s.invoke(t, i, c.doc, c.args)
		if out.Failure == nil || out.Failure.Name != c.name || !strings.Contains(out.Failure.Detail, c.says) {
			t.Errorf("%s: %+v, want %s: %s", c.args, out.Failure, c.name, c.says)
		}
	}
	if s.calls > 0 {
		t.Errorf("%d requests were made", s.calls)
	}
	// What goes as text has no type.
	if out := s.invoke(t, i, get, `{"petId":"7","limit":"50"}`); out.Failure != nil {
		t.Error(out.Failure.Detail)
	}
}

func answers(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestAnswers(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x", "get", `
responses:
  "200": {content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}, text/plain: {schema: {maxLength: 3}}}}
  "2XX": {content: {"application/*": {schema: {const: range}}}}
  default: {content: {"*/*": {schema: {const: none}}}}
`) + "components:\n  schemas:\n    Pet: {type: object, required: [id, secret], properties: {id: {type: integer}, secret: {type: string, writeOnly: true}, friend: {$ref: '#/components/schemas/Pet'}}}\n"
	for _, c := range []struct {
		status            int
		media, body, want string
	}{
		{200, "application/json", `{"id":1,"friend":{"id":2}}`, ""},
		{200, "application/json; charset=utf-8", `{"id":1,"friend":{"id":"x"}}`, "/friend/id: "},
		{200, "application/json", `{}`, "id"},
		{200, "text/plain", `abc`, ""},
		{200, "text/plain", `abcd`, "does not adhere"},
		{200, "application/vnd.other+json", `1`, ""}, // not described
		{201, "application/json", `"range"`, ""},
		{201, "application/json", `"other"`, "does not adhere"},
		{204, "application/json", ``, ""},
	} {
		s.answer = answers(c.status, c.media, c.body)
		out := s.invoke(t, i, doc, `{}`)
		switch {
		case c.want == "" && out.Failure != nil:
			t.Errorf("%d %s: %s", c.status, c.body, out.Failure.Detail)
		case c.want != "" && (out.Failure == nil || out.Failure.Name != effect.SchemaViolation || out.Failure.Code != codeReceived || !strings.Contains(out.Failure.Detail, c.want)):
			t.Errorf("%d %s: %+v", c.status, c.body, out.Failure)
		}
	}
}

func TestFailuresOfServices(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x", "get", "responses: {'404': {content: {application/json: {schema: {type: string}}}}}")
	s.answer = answers(404, "application/problem+json", `{"type":"https://shop/none","title":"No such pet","code":"E17","detail":"gone"}`)
	f := s.invoke(t, i, doc, `{}`).Failure
	if f == nil || f.Status != "404" || f.Code != "E17" || f.Name != "No such pet" || f.Type != "https://shop/none" || f.Detail != "gone" || !f.Data.IsObject() {
		t.Errorf("%+v", f)
	}
	s.answer = answers(422, "application/json", `{"error":{"name":"Bad","code":7,"message":"m"}}`)
	if f := s.invoke(t, i, doc, `{}`).Failure; f == nil || f.Status != "422" || f.Name != "Bad" || f.Code != "7" {
		t.Errorf("%+v", f)
	}
	s.Close()
	if f := s.invoke(t, i, doc, `{}`).Failure; f == nil || f.Code != effecthttp.CodeUnreachable {
		t.Errorf("%+v", f)
	}
}

func TestSchemasOf30(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	const schema = `{type: object, required: [ro], properties: {
  n: {type: string, nullable: true}, e: {type: string, enum: [a], nullable: true}, r: {nullable: true, allOf: [{$ref: "#/components/schemas/S"}]},
  min: {type: number, minimum: 1, exclusiveMinimum: true}, max: {type: number, maximum: 9, exclusiveMaximum: false}, ro: {type: integer, readOnly: true},
  ref: {$ref: "#/components/schemas/S", nullable: true}}}`
	doc := strings.Replace(api("/x", "post", "requestBody: {content: {application/json: {schema: "+strings.ReplaceAll(schema, "\n", " ")+"}}}"), "3.1.0", "3.0.3", 1) +
		"components: {schemas: {S: {type: string}}}\n"
	for args, bad := range map[string]string{
		`{"n":null,"e":null,"r":null,"min":1.1,"max":9}`: "",
		`{"n":1}`: "/n", `{"e":"b"}`: "/e", `{"r":1}`: "/r", `{"min":1}`: "/min", `{"max":9.5}`: "/max",
		`{"ref":null}`: "/ref", // what stands beside a $ref is ignored
	} {
		f := s.invoke(t, i, doc, args).Failure
		if bad == "" && f != nil || bad != "" && (f == nil || !strings.Contains(f.Detail, bad+": ")) {
			t.Errorf("%s: %+v", args, f)
		}
	}
}

func TestServers(t *testing.T) {
	i := newInvoker(t)
	for _, c := range []struct{ ref, doc, want string }{
		{"api.yaml", "openapi: 3.0.0\nservers: [{url: 'https://{env}.x.y:{port}/{v}', variables: {env: {default: a}, port: {default: 8443}, v: {default: v2}}}]\npaths: {/p: {get: {operationId: op}}}", "https://a.x.y:8443/v2/p"},
		{"api.yaml", "openapi: 3.0.0\nservers: [{url: https://root}]\npaths: {/p: {servers: [{url: https://path/}], get: {operationId: op}}}", "https://path/p"},
		{"api.yaml", "openapi: 3.0.0\nservers: [{url: https://root}]\npaths: {/p: {servers: [{url: https://path}], get: {operationId: op, servers: [{url: https://own/a}]}}}", "https://own/a/p"},
		{"https://docs.x/api/v3/openapi.yaml", "openapi: 3.1.0\npaths: {/p: {get: {operationId: op}}}", "https://docs.x/p"},
		{"https://docs.x/api/v3/openapi.yaml", "openapi: 3.1.0\nservers: [{url: ../v4}]\npaths: {/p: {get: {operationId: op}}}", "https://docs.x/api/v4/p"},
		{"https://docs.x/api/v2.yaml", "swagger: '2.0'\nbasePath: /b\npaths: {/p: {get: {operationId: op}}}", "https://docs.x/b/p"},
		{"http://docs.x/api/v2.yaml", "swagger: '2.0'\nhost: h\npaths: {/p: {get: {operationId: op}}}", "http://h/p"},
		{"api.yaml", "swagger: '2.0'\nhost: h\nschemes: [http, https]\npaths: {/p: {get: {operationId: op}}}", "https://h/p"},
	} {
		call := effect.Call{Operation: c.ref + "#op", Documents: effect.Documents{Key: c.doc, Root: 1, All: []effect.Document{{Ref: c.ref, Text: c.doc}}}}
		o, err := i.operation(context.Background(), call, "")
		if err != nil {
			t.Errorf("%s: %v", c.doc, err)
			continue
		}
		r, f := o.request(expr.EmptyObject, nil)
		if f != nil || r.URL.String() != c.want {
			t.Errorf("%s: %v %+v, want %s", c.doc, r.URL, f, c.want)
		}
	}
}

// documentsOf are those that a program pins.
func documentsOf(p *ir.Program) (out []effect.Document) {
	for _, r := range p.Resources {
		out = append(out, effect.Document{Ref: r.Ref, Text: r.Text})
	}
	return out
}
