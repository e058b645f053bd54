package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/api"
)

// document is a part of an OpenAPI document.
type document map[string]any

func readDocument(t *testing.T, file string) document {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// at is the object below keys.
func (d document) at(t *testing.T, keys ...string) document {
	t.Helper()
	for _, k := range keys {
		inner, ok := d[k].(map[string]any)
		if !ok {
			t.Fatalf("the document has no %s", strings.Join(keys, "."))
		}
		d = inner
	}
	return d
}

// request is the schema of the body of a POST.
func (d document) request(t *testing.T, path string) document {
	t.Helper()
	return d.at(t, "paths", path, "post", "requestBody", "content", "application/json", "schema")
}

// answer is the schema of an answer.
func (d document) answer(t *testing.T, path, method, status string) document {
	t.Helper()
	return d.at(t, "paths", path, method, "responses", status, "content", "application/json", "schema")
}

// types are the types of the schemas of /api/v1.
var types = map[string]reflect.Type{
	"Place": reflect.TypeFor[api.Place](), "Count": reflect.TypeFor[api.Count](), "Problem": reflect.TypeFor[api.Problem](),
	"ProblemKind": reflect.TypeFor[api.ProblemKind](), "Definition": reflect.TypeFor[api.Definition](),
	"DefinitionPage": reflect.TypeFor[api.Page[api.Definition]](), "DefinitionRef": reflect.TypeFor[api.DefinitionRef](),
	"Diagnostic": reflect.TypeFor[api.Diagnostic](), "Function": reflect.TypeFor[api.Function](), "FunctionPage": reflect.TypeFor[api.Page[api.Function]](),
	"Heat": reflect.TypeFor[api.Heat](), "Fault": reflect.TypeFor[api.Fault](),
	"Instance": reflect.TypeFor[api.Instance](), "InstancePage": reflect.TypeFor[api.Page[api.Instance]](),
	"Job": reflect.TypeFor[api.InstanceJob](), "Record": reflect.TypeFor[api.Record](),
	"HistoryPage": reflect.TypeFor[api.Page[api.Record]](), "Wait": reflect.TypeFor[api.Wait](), "Why": reflect.TypeFor[api.Why](),
	"RestartRequest": reflect.TypeFor[api.RestartRequest](), "CallAnswer": reflect.TypeFor[api.CallAnswer](),
	"Call": reflect.TypeFor[api.Call](), "CallPage": reflect.TypeFor[api.Page[api.Call]](),
	"EventsAccepted": reflect.TypeFor[api.EventsAccepted](), "KeptEvent": reflect.TypeFor[api.KeptEvent](), "Miss": reflect.TypeFor[api.Miss](),
	"EventPage": reflect.TypeFor[api.Page[api.KeptEvent]](), "StreamChange": reflect.TypeFor[api.StreamChange](),
	"StreamRecord": reflect.TypeFor[api.StreamRecord](), "Node": reflect.TypeFor[api.Node](), "Stats": reflect.TypeFor[api.Stats](), "Nodes": reflect.TypeFor[api.Nodes](),
	"Hours": reflect.TypeFor[api.Hours](), "HourStats": reflect.TypeFor[api.HourStats](), "DefinitionHours": reflect.TypeFor[api.DefinitionHours](),
	"Session": reflect.TypeFor[api.Session](), "PlayRequest": reflect.TypeFor[api.PlayRequest](),
	"PlayFile": reflect.TypeFor[api.PlayFile](), "PlayScenario": reflect.TypeFor[api.PlayScenario](),
	"PlayResult": reflect.TypeFor[api.PlayResult](), "PlayRun": reflect.TypeFor[api.PlayRun](),
	"Decision": reflect.TypeFor[api.Decision](), "DecisionRequest": reflect.TypeFor[api.DecisionRequest](),
	"Schedule": reflect.TypeFor[api.Schedule](), "SchedulePage": reflect.TypeFor[api.Page[api.Schedule]](),
	"Rules": reflect.TypeFor[api.Rules](), "RulesRequest": reflect.TypeFor[api.RulesRequest](), "Fire": reflect.TypeFor[api.Fire](),
	"Triggered": reflect.TypeFor[api.Triggered](), "BackfillRequest": reflect.TypeFor[api.BackfillRequest](),
	"Backfill": reflect.TypeFor[api.Backfill](), "BackfilledFire": reflect.TypeFor[api.BackfilledFire](),
	"Token": reflect.TypeFor[api.Token](), "Revocation": reflect.TypeFor[api.Revocation](), "RevokeRequest": reflect.TypeFor[api.RevokeRequest](),
	"AuditEntry": reflect.TypeFor[api.AuditEntry](), "Bundle": reflect.TypeFor[api.Bundle](),
	"DeployedDefinition": reflect.TypeFor[api.DeployedDefinition](), "DefinitionFile": reflect.TypeFor[api.DefinitionFile](),
	"DefinitionFilePage": reflect.TypeFor[api.Page[api.DefinitionFile]](),
	"Progress":           reflect.TypeFor[api.Progress](), "FailedItem": reflect.TypeFor[api.FailedItem](),
	"ForeachItem": reflect.TypeFor[api.ForeachItem](), "ForeachItemPage": reflect.TypeFor[api.Page[api.ForeachItem]](),
	"Exchange": reflect.TypeFor[api.Exchange](), "Header": reflect.TypeFor[api.Header](),
}

// untyped are schemas that are no struct: text, any JSON value, and the four bodies of which
// ControlRequest is the union.
var untyped = []string{
	"Data", "Time", "Status", "Action", "Labels", "CloudEvent",
	"ControlRequest", "RetryRequest", "SkipRequest", "CancelRequest",
}

// TestTypesAreTheSchemas: every schema of the contract has a type, with the members of the schema and no
// others; a member is optional in both or in neither.
func TestTypesAreTheSchemas(t *testing.T) {
	doc := readDocument(t, "../internal/server/openapi.yaml")
	schemas := doc.at(t, "components", "schemas")
	for name := range schemas {
		if types[name] == nil && !slices.Contains(untyped, name) {
			t.Errorf("the schema %s has no type", name)
		}
	}
	for name, typ := range types {
		checkMembers(t, name, schemas.at(t, name), typ, true)
	}
	union := map[string]any{}
	for _, name := range []string{"ControlRequest", "RetryRequest", "SkipRequest", "CancelRequest"} {
		maps.Copy(union, schemas.at(t, name, "properties"))
	}
	checkMembers(t, "ControlRequest", document{"properties": union}, reflect.TypeFor[api.ControlRequest](), true)

	for name, c := range map[string]struct {
		schema document
		typ    reflect.Type
	}{
		"BulkRequest":    {doc.request(t, "/api/v1/instances/bulk"), reflect.TypeFor[api.BulkRequest]()},
		"BulkResults":    {doc.answer(t, "/api/v1/instances/bulk", "post", "200"), reflect.TypeFor[api.BulkResults]()},
		"StartsRequest":  {doc.request(t, "/api/v1/definitions/{definition}/instances/bulk"), reflect.TypeFor[api.StartsRequest]()},
		"StartResults":   {doc.answer(t, "/api/v1/definitions/{definition}/instances/bulk", "post", "200"), reflect.TypeFor[api.StartResults]()},
		"JobsRequest":    {doc.request(t, "/api/v1/jobs"), reflect.TypeFor[api.JobsRequest]()},
		"JobsCreated":    {doc.answer(t, "/api/v1/jobs", "post", "201"), reflect.TypeFor[api.JobsCreated]()},
		"SessionRequest": {doc.request(t, "/api/v1/session"), reflect.TypeFor[api.SessionRequest]()},
		"Failures":       {doc.answer(t, "/api/v1/failures", "get", "200"), reflect.TypeFor[api.Failures]()},
	} {
		checkMembers(t, name, c.schema, c.typ, true)
	}
}

// TestJobTypesAreTheSchemas is the same for the API of wfx. A part of a job is a Job, too: what is
// required of a whole one may be absent.
func TestJobTypesAreTheSchemas(t *testing.T) {
	doc := readDocument(t, "../internal/server/wfx/openapi.yaml")
	schemas := doc.at(t, "components", "schemas")
	types := map[string]reflect.Type{
		"Job": reflect.TypeFor[api.Job](), "JobStatus": reflect.TypeFor[api.JobStatus](), "Workflow": reflect.TypeFor[api.Workflow](),
		"Pagination": reflect.TypeFor[api.Pagination](), "ErrorResponse": reflect.TypeFor[api.ErrorResponse](),
	}
	for name := range schemas {
		if types[name] == nil && name != "JobEvent" {
			t.Errorf("the schema %s has no type", name)
		}
	}
	for name, typ := range types {
		checkMembers(t, name, schemas.at(t, name), typ, false)
	}
	event := maps.Clone(schemas.at(t, "JobEvent", "properties"))
	event["job"] = map[string]any{}
	checkMembers(t, "JobEvent", document{"properties": map[string]any(event)}, reflect.TypeFor[api.JobEvent](), false)
	checkMembers(t, "JobRequest", doc.request(t, "/jobs"), reflect.TypeFor[api.JobRequest](), true)
}

func checkMembers(t *testing.T, name string, schema document, typ reflect.Type, optional bool) {
	t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	fields := map[string]bool{}
	for f := range typ.Fields() {
		member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[member] = true
		inner, ok := properties[member].(map[string]any)
		if !ok {
			t.Errorf("%s: the schema has no member %q", name, member)
			continue
		}
		if always := options == ""; optional && always != slices.Contains(required, any(member)) {
			t.Errorf("%s.%s: required is %t in the contract, not %t", name, member, !always, always)
		}
		if items, ok := inner["items"].(map[string]any); ok {
			inner = items
		}
		field := f.Type
		for field.Kind() == reflect.Slice && field != reflect.TypeFor[api.Data]() || field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if inner["properties"] != nil && field.Kind() == reflect.Struct { // an object without a name of its own
			checkMembers(t, name+"."+member, inner, field, optional)
		}
	}
	for member := range properties {
		if !fields[member] {
			t.Errorf("%s.%s has no field in %s", name, member, typ)
		}
	}
}

// TestConstantsAreTheEnums: the constants of the package are the values that the contract lists.
func TestConstantsAreTheEnums(t *testing.T) {
	doc := readDocument(t, "../internal/server/openapi.yaml")
	schemas := doc.at(t, "components", "schemas")
	wfx := readDocument(t, "../internal/server/wfx/openapi.yaml").at(t, "components", "schemas")
	member := func(of document, keys ...string) []string { return enum(of.at(t, keys...)) }
	statuses := constants(t, "", "Status")
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"Status", statuses, enum(schemas.at(t, "Status"))},
		{"Verb", constants(t, "Verb", ""), enum(schemas.at(t, "Action"))},
		{"Severity", constants(t, "Severity", ""), member(schemas, "Diagnostic", "properties", "severity")},
		{"Record", constants(t, "Record", ""), member(schemas, "Record", "properties", "type")},
		{"Wait", constants(t, "Wait", ""), member(schemas, "Wait", "properties", "kind")},
		{"Event", constants(t, "Event", ""), member(schemas, "EventsAccepted", "properties", "events", "items", "properties", "result")},
		{"Actor", constants(t, "Actor", ""), member(schemas, "Job", "properties", "allowed", "items", "properties", "actor")},
		{"Action", constants(t, "Action", ""), member(wfx, "Workflow", "properties", "transitions", "items", "properties", "action")},
		{"Job", constants(t, "Job", ""), member(wfx, "JobEvent", "properties", "action")},
	} {
		slices.Sort(c.want)
		if !slices.Equal(c.got, c.want) {
			t.Errorf("the constants %s… are %v, in the contract %v", c.name, c.got, c.want)
		}
	}
	play := append(constants(t, "Play", ""), "completed", "failed", "cancelled", "terminated")
	slices.Sort(play)
	want := member(schemas, "PlayRun", "properties", "status")
	slices.Sort(want)
	if !slices.Equal(play, want) {
		t.Errorf("the statuses of a run are %v, in the contract %v", play, want)
	}
	final := slices.DeleteFunc(statuses, func(s string) bool { return !api.Status(s).Final() })
	if !slices.Equal(final, []string{"cancelled", "completed", "failed", "terminated"}) {
		t.Errorf("%v are final", final)
	}
}

func enum(schema document) []string {
	list, _ := schema["enum"].([]any)
	var out []string
	for _, v := range list {
		out = append(out, v.(string))
	}
	return out
}

// constants are the values of the constants of the package whose name has a prefix and that have this
// type, in order.
func constants(t *testing.T, prefix, typ string) []string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			if of, _ := spec.Type.(*ast.Ident); typ == "" && of != nil || typ != "" && (of == nil || of.Name != typ) {
				return true
			}
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, value)
			return true
		})
	}
	slices.Sort(out)
	return out
}
