package jsonpath

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// shared is where the project's seeds and corpus lie beside the repository. They
// are not part of it; TestSeedExpressions and TestCorpusFacts hold the same facts.
const shared = "../../../../shared/"

// TestSeedExpressions compiles and runs every expression of seed 003, on data on
// which each selects something.
func TestSeedExpressions(t *testing.T) {
	person := `{"firstName":"John","lastName":"Doe","age":26,"address":{"city":"Nara"},
		"phoneNumbers":[{"type":"iPhone","number":"0123-4567-8888"},{"type":"home","number":"0123-4567-8910"}]}`
	veggies := `{"fruits":["apple","orange","pear"],"vegetables":[{"veggieName":"potato","veggieLike":true},{"veggieName":"broccoli","veggieLike":false}]}`
	orders := `{"orders":[{"orderNumber":"1234","completed":true,"email":"a@b"},{"orderNumber":"9910","completed":false,"email":"c@d"}]}`
	people := `{"people":[{"fname":"John","age":40},{"fname":"Marry","age":25},{"fname":"Kelly","age":30}]}`
	for _, c := range []struct{ data, template, want string }{
		// §Workflow Data Expressions
		{person, "Hello {{ $.firstName }} {{ $.lastName }}", `"Hello John Doe"`},
		{person, "{{ $.phoneNumbers }}", `[{"number":"0123-4567-8888","type":"iPhone"},{"number":"0123-4567-8910","type":"home"}]`},
		{person, "{{ $.phoneNumbers.length() }}", `2`},
		{`{"inputVersion":"1.0.0"}`, "{{ $.inputVersion }}", `"1.0.0"`},
		{`{"applicants":[{"age":22},{"age":10}]}`, "{{ $.applicants[?(@.age >= 18)] }}", `list [{"age":22}]`},
		// §State definitions
		{`{"patientId":"p1"}`, "{{ $.patientId }}", `"p1"`},
		{`{"applicantId":7}`, "{{ $.applicantId }}", `7`},
		{`{"patientInfo":{"a":1}}`, "{{ $.patientInfo }}", `{"a":1}`},
		{`{"result":{"data":[1]}}`, "{{ $.result }}", `{"data":[1]}`},
		{`{"result":{"data":[1]}}`, "{{ $.result.data }}", `[1]`},
		{`{"customer":{"name":"x"}}`, "{{ $.customer }}", `{"name":"x"}`},
		{`{"customer":{"name":"x"}}`, "{{ $.customer.name }} ", `"x"`},
		{`{"someParam":1,"someParamTwo":2}`, "{{ $.someParam }}", `1`},
		{`{"someParam":1,"someParamTwo":2}`, "{{ $.someParamTwo }}", `2`},
		{people, "{{ $.people[?(@.age < 40)] }}", `list [{"age":25,"fname":"Marry"},{"age":30,"fname":"Kelly"}]`},
		{people, "{{ $.people[?(@.age >= 40)] }}", `list [{"age":40,"fname":"John"}]`},
		{orders, "{{ $.orders[?(@.completed == true)] }}", `list [{"completed":true,"email":"a@b","orderNumber":"1234"}]`},
		{`{"completedorder":{"orderNumber":"1","email":"e"}}`, "{{ $.completedorder.orderNumber }}", `"1"`},
		{`{"completedorder":{"orderNumber":"1","email":"e"}}`, "{{ $.completedorder.email }}", `"e"`},
		{`{"orders":[1]}`, "{{ $.orders }}", `[1]`},
		{`{"singleorder":1}`, "{{ $.singleorder }}", `1`},
		{`{"provisionresults":[]}`, "{{ $.provisionresults }}", `[]`},
		{`{"confirmationresults":[]}`, "{{ $.confirmationresults }}", `[]`},
		{`{"provisionedOrders":[],"buyerId":"b"}`, "{{ $.provisionedOrders }}", `[]`},
		{`{"provisionedOrders":[],"buyerId":"b"}`, "{{ $.buyerId }}", `"b"`},
		{`{"users":[{"title":"MANAGER"},{"title":"CLERK"}]}`, "{{ $.users[?(@.title == 'MANAGER')] }}", `list [{"title":"MANAGER"}]`},
		// §State data filtering
		{veggies, "{{ $.fruits }}", `["apple","orange","pear"]`},
		{veggies, "{{ $.vegetables }}", `[{"veggieLike":true,"veggieName":"potato"},{"veggieLike":false,"veggieName":"broccoli"}]`},
		{veggies, "{{ $.vegetables.[?(@.veggieLike)] }}", `list [{"veggieLike":true,"veggieName":"potato"}]`},
		{`[{"veggieName":"potato","veggieLike":true},{"veggieName":"broccoli","veggieLike":false}]`, "{{ $.[?(@.veggieLike)] }}", `list [{"veggieLike":true,"veggieName":"potato"}]`},
		{`{"language":"es","payload":{"greeting":"Hola"}}`, "{{ $.language }} ", `"es"`},
		{`{"language":"es","payload":{"greeting":"Hola"}}`, "{{ $.payload.greeting }}", `"Hola"`},
		{`{"breads":["rye"]}`, "{{ $.breads }}", `["rye"]`},
		{`{"data":{"results":{"a":1}}}`, "{{ $.data.results }}", `{"a":1}`},
		{`{"languageGreetings":{"spanish":"Hola"}}`, "{{ $.languageGreetings.spanish }} ", `"Hola"`},
		{`{"finalCustomerGreeting":"Hola x"}`, "{{ $.finalCustomerGreeting }}", `"Hola x"`},
		{`{"hello":{"en":"Hello"}}`, "{{ $.hello }} ", `{"en":"Hello"}`},
		// §Workflow Compensation
		{`{"purchase":{"customerid":1,"amount":2.50}}`, "{{ $.purchase.customerid }}", `1`},
		{`{"purchase":{"customerid":1,"amount":2.50}}`, "{{ $.purchase.amount }}", `2.50`},
	} {
		r, err := run(TemplateCompiler{}, expr.String(c.template).String(), parseJSON(t, c.data))
		if got := show(r, err); got != c.want || len(r.Holes) > 0 {
			t.Errorf("%s: %s, want %s", c.template, got, c.want)
		}
		if strings.HasPrefix(c.template, "{{") { // a front-end compiles the same text as a path
			if got := show(run(Compiler{}, c.template, parseJSON(t, c.data))); got != c.want {
				t.Errorf("%s as a path: %s, want %s", c.template, got, c.want)
			}
		}
	}
}

// corpusFact is one entry of corpus/expressions.json.
type corpusFact struct {
	Lang, Template, Source string
	Data                   expr.Value
	Result                 *expr.Value
	Condition              *bool
}

func (f corpusFact) check(t *testing.T) {
	t.Helper()
	var r expr.Result
	var err error
	switch f.Lang {
	case "jsonpath{{}}":
		r, err = run(TemplateCompiler{}, expr.String(f.Template).String(), f.Data)
	case "jsonpath bare":
		r, err = run(Compiler{}, f.Template, f.Data)
	case "jsonpath ${} with expressionLang: jsonpath":
		// The braces are those of another version; the path is the same.
		r, err = run(Compiler{}, strings.TrimSuffix(strings.TrimPrefix(f.Template, "${"), "}"), f.Data)
	case "jsonpath bare interpolation":
		if err := CheckTemplateString(f.Template); err != nil || HasExpression(f.Template) {
			t.Errorf("%s: plain text here, and of another version: %v", f.Template, err)
		}
		return
	default:
		t.Errorf("%s: unknown language %s", f.Template, f.Lang)
		return
	}
	switch {
	case err != nil:
		t.Errorf("%s: %v", f.Template, err)
	case f.Result != nil && !expr.Equal(r.Value, *f.Result):
		t.Errorf("%s: %s, want %s", f.Template, r.Value, f.Result)
	case f.Condition != nil && r.True() != *f.Condition:
		t.Errorf("%s: condition %t", f.Template, r.True())
	}
}

// TestCorpusFacts holds what others' corpora say about expressions, as collected
// in corpus/expressions.json.
func TestCorpusFacts(t *testing.T) {
	yes, no := true, false
	for _, f := range []struct {
		lang, data, template string
		condition            *bool
	}{
		{"jsonpath{{}}", `{"applicants":[{"age":22},{"age":10}]}`, "{{ $.applicants[?(@.age >= 18)] }}", &yes},
		{"jsonpath{{}}", `{"applicants":[{"age":10}]}`, "{{ $.applicants[?(@.age >= 18)] }}", &no},
		{"jsonpath{{}}", `{"users":[{"title":"MANAGER"}]}`, "{{ $.users[?(@.title == 'MANAGER')] }}", &yes},
		{"jsonpath{{}}", `{"jobstatus":"SUCCEEDED"}`, "{{ $[?(@.jobstatus == 'SUCCEEDED')] }}", &yes},
		{"jsonpath{{}}", `{"jobstatus":"FAILED"}`, "{{ $[?(@.jobstatus == 'SUCCEEDED')] }}", &no},
		{"jsonpath{{}}", `{"age":20}`, "{{ $.[?(@.age  >= 18)] }}", &yes},
		{"jsonpath{{}}", `{"age":10}`, "{{ $.[?((@.age  >= 0) && (@.age  < 18))] }}", &yes},
		{"jsonpath{{}}", `{"files":["a/frontend/x"]}`, "{{ $.files[?(@ =~ /^.*frontend.*$/i )] }}", &yes},
		{"jsonpath{{}}", `{"files":["a/backend/x"]}`, "{{ $.files[?(@ =~ /^(?!.*frontend).*$/i )] }}", &yes},
		{"jsonpath{{}}", `{"files":["a/FRONTEND/x"]}`, "{{ $.files[?(@ =~ /^(?!.*frontend).*$/i )] }}", &no},
		{"jsonpath{{}}", `{"funds":{"available":"true"}}`, "{{ $.funds[?(@.available == 'true')] }}", &yes},
		{"jsonpath{{}}", `{"funds":{"available":true}}`, "{{ $.funds[?(@.available == 'true')] }}", &no},
		{"jsonpath{{}}", `{"creditCheck":{"decision":"Denied"}}`, "{{ $.creditCheck[?(@.decision == 'Approved')] }}", &no},
		{"jsonpath ${} with expressionLang: jsonpath", `{"language":"Spanish"}`, "${ $.[?(@.language  == 'Spanish')] }", &yes},
		{"jsonpath bare", `{"language":"Spanish"}`, "$.[?(@.language  == 'English')]", &no},
		{"jsonpath bare interpolation", `{"greeting":"Hello","name":"Bob"}`, "$.greeting $.name", nil},
		// for a definite path, what is empty or false is false
		{"jsonpath bare", `{"x":""}`, "$.x", &no},
		{"jsonpath bare", `{"x":[]}`, "$.x", &no},
		{"jsonpath bare", `{"x":false}`, "$.x", &no},
		{"jsonpath bare", `{"x":0}`, "$.x", &yes},
		{"jsonpath bare", `{"x":[false]}`, "$.x[*]", &yes},
	} {
		corpusFact{Lang: f.lang, Template: f.template, Data: parseJSON(t, f.data), Condition: f.condition}.check(t)
	}
}

// TestSharedExpressions reads corpus/expressions.json itself, where it is.
func TestSharedExpressions(t *testing.T) {
	text, err := os.ReadFile(shared + "corpus/expressions.json")
	if err != nil {
		t.Logf("not beside a shared corpus (%v): the facts above say the same", err)
		return
	}
	var facts []corpusFact
	if err := json.Unmarshal(text, &facts); err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		f.check(t)
	}
	t.Logf("%d expressions", len(facts))
}

// TestSharedDocuments compiles every {{ }} of the seed and of the v0.5 corpus,
// and every bare path of the older ones, where they are.
func TestSharedDocuments(t *testing.T) {
	seeds, _ := filepath.Glob(shared + "seeds/003*.txt")
	corpus, _ := filepath.Glob(shared + "corpus/v0*/*")
	files := append(seeds, corpus...)
	if len(files) == 0 {
		t.Log("not beside shared documents")
		return
	}
	quoted := regexp.MustCompile(`"((?:[^"\\\n]|\\.)*(?:\{\{|\$\.)(?:[^"\\\n]|\\.)*)"`)
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a directory
		}
		for _, m := range quoted.FindAllSubmatch(text, -1) {
			s := string(m[1])
			count++
			check := CheckTemplateString
			if !HasExpression(s) {
				check = func(s string) error { _, err := Describe(s); return err }
			}
			if err := check(s); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), s, err)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d expressions found", count)
	}
	t.Logf("%d expressions", count)
}
