package openapi

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// parts tells the parts of a multipart body, one a line.
func (s *service) parts(t *testing.T) string {
	t.Helper()
	_, params, err := mime.ParseMediaType(s.seen.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for r := multipart.NewReader(strings.NewReader(s.body), params["boundary"]); ; {
		p, err := r.NextPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(p)
		out += fmt.Sprintf("%s|%s|%s|%s\n", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), text)
	}
}

func TestPartsOfAMultipartBody(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	form := func(properties string) string {
		return api("/x", "post", "requestBody: {content: {multipart/form-data: {schema: {type: object, properties: {"+properties+"}}}}}")
	}
	two := func(parameters string) string {
		return "swagger: '2.0'\nhost: HOST\nschemes: [http]\npaths: {/x: {post: {operationId: op, consumes: [multipart/form-data], parameters: [" + parameters + "]}}}"
	}
	const list = "type: array, items: {type: string}"
	for _, c := range []struct{ doc, args, want string }{
		{form("f: {type: array, items: {type: string, format: binary}}"), `{"f":["A","B"]}`, "f|f|application/octet-stream|A\nf|f|application/octet-stream|B\n"},
		{form("f: {type: array, items: {$ref: '#/bin'}}") + "bin: {type: string, format: binary}\n", `{"f":["A"]}`, "f|f|application/octet-stream|A\n"},
		{form("f: {type: string, contentMediaType: application/octet-stream}, g: {contentMediaType: image/png}"), `{"f":"A","g":"B"}`, "f|f|application/octet-stream|A\ng|g|image/png|B\n"},
		{form("f: {type: array, items: {contentMediaType: image/png}}"), `{"f":["A","B"]}`, "f|f|image/png|A\nf|f|image/png|B\n"},
		{form("f: {type: string, contentMediaType: application/json}"), `{"f":"{\"a\":1}"}`, "f|f|application/json|{\"a\":1}\n"},
		{form("f: {type: object}, n: {type: integer}"), `{"f":{"a":1},"n":3}`, "f||application/json|{\"a\":1}\nn|||3\n"},
		{two("{name: l, in: formData, " + list + "}"), `{"l":["1","2"]}`, "l|||1,2\n"},
		{two("{name: l, in: formData, collectionFormat: ssv, " + list + "}"), `{"l":["1","2"]}`, "l|||1 2\n"},
		{two("{name: l, in: formData, collectionFormat: pipes, " + list + "}"), `{"l":["1","2"]}`, "l|||1|2\n"},
		{two("{name: l, in: formData, collectionFormat: multi, " + list + "}"), `{"l":["1","2"]}`, "l|||1\nl|||2\n"},
	} {
		if out := s.invoke(t, i, c.doc, c.args); out.Failure != nil {
			t.Errorf("%s: %+v", c.doc, out.Failure)
		} else if got := s.parts(t); got != c.want {
			t.Errorf("%s:\ngot\n%swant\n%s", c.doc, got, c.want)
		}
	}
}

// A list that nobody could take apart again is not sent.
func TestSeparatorsInsideOfItems(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	three := func(how string) string { return api("/x", "get", "parameters: [{name: p, "+how+"}]") }
	two := func(path, how string) string {
		return "swagger: '2.0'\nhost: HOST\nschemes: [http]\npaths: {'" + path + "': {post: {operationId: op, parameters: [{name: p, type: array, items: {type: string}, " + how + "}]}}}"
	}
	for _, c := range []struct{ doc, item, says string }{
		{three("in: query, style: spaceDelimited"), "a b", `item 1, "a b", holds a blank`},
		{three("in: query, style: pipeDelimited"), "a|b", `item 1, "a|b", holds "|"`},
		{three("in: header"), "a,b", `item 1, "a,b", holds a comma`},
		{two("/x", "in: query, collectionFormat: ssv"), "a b", "holds a blank"},
		{two("/x", "in: query, collectionFormat: tsv"), "a\\tb", "holds a tab"},
		{two("/x/{p}", "in: path, required: true, collectionFormat: pipes"), "a|b", `holds "|"`},
		{two("/x", "in: header, collectionFormat: ssv"), "a b", "holds a blank"},
		{two("/x", "in: formData, collectionFormat: pipes"), "a|b", `holds "|"`},
	} {
		s.calls = 0
		f := s.invoke(t, i, c.doc, `{"p":["x","`+c.item+`"]}`).Failure
		if f == nil || f.Name != effect.InvalidArguments || s.calls > 0 || !strings.Contains(f.Detail, `"p"`) || !strings.Contains(f.Detail, c.says) {
			t.Errorf("%s: %+v", c.doc, f)
		}
	}
	for doc, args := range map[string]string{
		three("in: query, style: spaceDelimited"):                `{"p":"a b"}`,
		three("in: query, style: spaceDelimited, explode: true"): `{"p":["a b"]}`,
		three("in: header"):                `{"p":"a,b"}`,
		three("in: query, explode: false"): `{"p":["a,b","c"]}`,
	} {
		if f := s.invoke(t, i, doc, args).Failure; f != nil {
			t.Errorf("%s: %+v", doc, f)
		}
	}
	s.invoke(t, i, three("in: query, explode: false, allowReserved: true"), `{"p":["a,b","c"]}`)
	if s.seen.RequestURI != "/x?p=a%2Cb,c" {
		t.Errorf("%s", s.seen.RequestURI)
	}
}

func TestViolationsAreToldAsTheAnswer(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"x"}`)
	}
	const id = "{type: object, properties: {id: {type: integer}}}"
	f := s.invoke(t, i, api("/x", "get", "responses: {'200': {content: {application/json: {schema: "+id+"}}}}"), `{}`).Failure
	if f == nil || f.Code != codeReceived || f.Data.String() != `{"id":"x"}` || !strings.Contains(f.Detail, "/id: must be an integer") {
		t.Errorf("%+v", f)
	}
	f = s.invoke(t, i, api("/x", "post", "requestBody: {content: {application/json: {schema: "+id+"}}}"), `{"id":"x"}`).Failure
	if f == nil || f.Code != codeSent || !f.Data.IsNull() || !strings.Contains(f.Detail, "/id: must be an integer") {
		t.Errorf("%+v", f)
	}
	f = s.invoke(t, i, "swagger: '2.0'\nhost: HOST\nschemes: [http]\npaths: {/x: {post: {operationId: op, parameters: [{name: pet, in: body, schema: "+id+"}]}}}", `{"pet":{"id":"x"}}`).Failure
	if f == nil || !strings.Contains(f.Detail, "/pet/id: must be") {
		t.Errorf("%+v", f)
	}
}

func TestOperationIDIsMissing(t *testing.T) {
	for _, operation := range []string{"pets.yaml", "pets.yaml#"} {
		p := &ir.Program{Functions: []ir.Function{{Name: "f", Operation: operation}}}
		Pin(context.Background(), p, files, Definition{})
		f := newInvoker(t).Invoke(context.Background(), effect.Call{Function: "f", Operation: operation}).Failure
		if f == nil || f.Code != codeNoID || !strings.Contains(f.Detail, "write pets.yaml#operationId") {
			t.Errorf("%s: %+v", operation, f)
		}
	}
}

func TestFirstOfTwinsIsThatOfTheDocument(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := "openapi: 3.1.0\nservers: [{url: " + s.URL + "}]\npaths:\n  /z: {get: {operationId: op}}\n  /a: {get: {operationId: op}}\n"
	call, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`)
	if len(found) != 1 || found[0].Code != codeTwice || !strings.Contains(found[0].Message, "GET /z") {
		t.Errorf("%v", found)
	}
	if out := i.Invoke(context.Background(), call); out.Failure != nil || s.seen.URL.Path != "/z" {
		t.Errorf("%+v %s", out.Failure, s.seen.URL)
	}
}

// network is a bundle of addresses.
type network map[string]string

func (n network) Open(ref string) ([]byte, error) {
	if text, ok := n[ref]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("there is no %q", ref)
}

func TestSchemeOfADocumentInUpperCase(t *testing.T) {
	bundle := network{
		"https://x/api.yaml": "openapi: 3.1.0\npaths: {/x: {get: {operationId: op, parameters: [{$ref: 'HTTP://h/p.yaml'}]}}}\n",
		"http://h/p.yaml":    `{"name": "q", "in": "query"}`,
	}
	p := &ir.Program{Functions: []ir.Function{{Name: "f", Operation: "HTTPS://x/api.yaml#op"}}}
	if found := Pin(context.Background(), p, bundle, Definition{}); len(found) > 0 || len(p.Resources) != 2 {
		t.Error(found)
	}
}

func TestServersThatCannotBe(t *testing.T) {
	for server, says := range map[string]string{
		"{url: 'http://x:99999'}": "there is no port 99999",
		"{url: 'http://x:0'}":     "there is no port 0",
		"{url: //x/v}":            "has no scheme, and the document is a file; write https://x/v",
		"{url: 'https://x/{v}', variables: {v: {default: b, enum: [a]}}}": `the default "b", which is not among its enum (a)`,
	} {
		doc := "openapi: 3.1.0\nservers: [" + server + "]\npaths: {/x: {get: {operationId: op}}}\n"
		_, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`)
		if len(found) != 1 || found[0].Code != codeBroken || !strings.Contains(found[0].Message, says) {
			t.Errorf("%s: %v", server, found)
		}
	}
}

// The fields of a form are text; what is JSON in it is not.
func TestTypesInAForm(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := func(encoding string) string {
		return api("/x", "post", "requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {n: {type: integer}, "+
			"l: {type: array, items: {type: integer}}, o: {type: object, properties: {n: {type: integer}}}}}, encoding: {"+encoding+"}}}}")
	}
	for _, c := range []struct{ encoding, args, want string }{
		{"", `{"n":"5"}`, "n=5"},
		{"", `{"l":["5",6]}`, "l=5&l=6"},
		{"", `{"o":{"n":"5"}}`, "SchemaViolation"},
		{"", `{"n":"x"}`, "SchemaViolation"},
		{"o: {explode: true}", `{"o":{"n":5}}`, "n=5"},
		{"l: {explode: false}", `{"l":[5,6]}`, "l=5,6"},
	} {
		got := ""
		if f := s.invoke(t, i, doc(c.encoding), c.args).Failure; f != nil {
			got = f.Name
		} else {
			got = s.body
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.encoding, c.args, got, c.want)
		}
	}
	s.invoke(t, i, api("/x", "post", "requestBody: {content: {image/*: {}}}"), `{"body":"x"}`)
	if got := s.seen.Header.Get("Content-Type"); got != "application/octet-stream" {
		t.Errorf("image/* is sent as %s", got)
	}
}

func TestArgumentThatAHeaderReplacesIsNotChecked(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := strings.ReplaceAll(api("/x", "get", "parameters: [{name: X-Key, in: header, required: true, schema: {type: integer}}]"), "SERVER", s.URL)
	call, _ := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{"X-Key":"nope"}`)
	out := i.Call(context.Background(), call, Extra{Header: http.Header{"X-Key": {"5"}}})
	if out.Failure != nil || s.seen.Header.Get("X-Key") != "5" {
		t.Errorf("%+v", out.Failure)
	}
}
