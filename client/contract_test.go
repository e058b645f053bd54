package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// contract is a document of the server, with references to parameters followed.
type contract struct {
	root       map[string]any
	operations map[string]operation
	schemas    *jsonschema.Compiler
}

type operation struct {
	method, path string
	parameters   map[string][]string // names by place
	bodies       map[string]string   // the schema's pointer by media type
}

func readContract(t *testing.T, file, base string) contract {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := contract{operations: map[string]operation{}, schemas: jsonschema.NewCompiler()}
	if err := yaml.Unmarshal(text, &c.root); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(c.root)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	if err := c.schemas.AddResource("contract.json", doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range c.at("paths") {
		for method, op := range methods.(map[string]any) {
			c.add(strings.ToUpper(method), base, path, op.(map[string]any))
		}
	}
	return c
}

func (c contract) at(keys ...string) map[string]any {
	m := c.root
	for _, k := range keys {
		m = m[k].(map[string]any)
	}
	return m
}

func (c contract) add(method, base, path string, op map[string]any) {
	o := operation{method: method, path: base + path, parameters: map[string][]string{}, bodies: map[string]string{}}
	list, _ := op["parameters"].([]any)
	for _, p := range list {
		param := p.(map[string]any)
		if ref, ok := param["$ref"].(string); ok {
			param = c.at("components", "parameters", ref[strings.LastIndex(ref, "/")+1:])
		}
		in := param["in"].(string)
		o.parameters[in] = append(o.parameters[in], param["name"].(string))
	}
	if body, ok := op["requestBody"].(map[string]any); ok {
		for media := range body["content"].(map[string]any) {
			escape := strings.NewReplacer("~", "~0", "/", "~1")
			o.bodies[media] = "contract.json#/paths/" + escape.Replace(path) + "/" + strings.ToLower(method) +
				"/requestBody/content/" + escape.Replace(media) + "/schema"
		}
	}
	c.operations[op["operationId"].(string)] = o
}

// recorder answers everything and remembers what it was asked.
type recorder struct {
	requests []*http.Request
	bodies   [][]byte
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	r.requests, r.bodies = append(r.requests, req), append(r.bodies, body)
	answer := "{}"
	header := http.Header{"Content-Type": {"application/json"}}
	if req.Header.Get("Accept") == "text/event-stream" {
		answer = "event: ready\nid: 7\n\n"
	}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
}

// uses calls every method with everything set that can be, so that all of it is seen.
var uses = map[string]func(t *testing.T, c *client.Client){
	"deployDefinition": func(t *testing.T, c *client.Client) {
		_, _, _ = c.DeployDefinition(t.Context(), []byte("id: a\n"), client.Deploy{Dialect: "sw05", DryRun: true, AllowUnreachable: true, AllowMismatch: true})
		_, _, _ = c.DeployDefinition(t.Context(), []byte("{}"), client.Deploy{JSON: true, Dialect: "sw05", DryRun: true})
	},
	"listDefinitions": func(t *testing.T, c *client.Client) {
		_, _ = c.ListDefinitions(t.Context(), client.DefinitionQuery{Paging: page, AllVersions: true})
	},
	"getDefinition":    func(t *testing.T, c *client.Client) { _, _ = c.GetDefinition(t.Context(), odd, version) },
	"deleteDefinition": func(t *testing.T, c *client.Client) { _ = c.DeleteDefinition(t.Context(), odd, "1") },
	"listVersions":     func(t *testing.T, c *client.Client) { _, _ = c.ListVersions(t.Context(), odd) },
	"deployBundle": func(t *testing.T, c *client.Client) {
		files := []client.BundleFile{{Path: "a/b.yaml", Text: []byte("id: a\n"), Definition: true}, {Path: "a/c.json", Text: []byte("{}")}}
		_, _ = c.DeployBundle(t.Context(), files, client.Deploy{Dialect: "sw05", DryRun: true, AllowUnreachable: true, AllowMismatch: true})
	},
	"listFiles": func(t *testing.T, c *client.Client) { _, _ = c.ListFiles(t.Context(), odd, version) },
	"getSource": func(t *testing.T, c *client.Client) {
		_, _ = c.GetSource(t.Context(), odd, version)
		_, _ = c.GetFile(t.Context(), odd, version, "a/b.yaml")
	},
	"getGraph":       func(t *testing.T, c *client.Client) { _, _ = c.GetGraph(t.Context(), odd, version, "dot") },
	"listFunctions":  func(t *testing.T, c *client.Client) { _, _ = c.ListFunctions(t.Context(), odd, version) },
	"getHeat":        func(t *testing.T, c *client.Client) { _, _ = c.GetHeat(t.Context(), odd, version) },
	"getSession":     func(t *testing.T, c *client.Client) { _, _ = c.GetSession(t.Context()) },
	"openSession":    func(t *testing.T, c *client.Client) { _, _ = c.OpenSession(t.Context(), "ls_a") },
	"closeSession":   func(t *testing.T, c *client.Client) { _ = c.CloseSession(t.Context()) },
	"getSchema":      func(t *testing.T, c *client.Client) { _, _ = c.GetSchema(t.Context(), odd) },
	"listSchedules":  func(t *testing.T, c *client.Client) { _, _ = c.ListSchedules(t.Context(), page) },
	"getSchedule":    func(t *testing.T, c *client.Client) { _, _ = c.GetSchedule(t.Context(), odd) },
	"pauseSchedule":  func(t *testing.T, c *client.Client) { _, _ = c.PauseSchedule(t.Context(), odd, "because") },
	"resumeSchedule": func(t *testing.T, c *client.Client) { _, _ = c.ResumeSchedule(t.Context(), odd, "because") },
	"triggerSchedule": func(t *testing.T, c *client.Client) {
		_, _ = c.TriggerSchedule(t.Context(), odd, "because")
	},
	"setSchedule": func(t *testing.T, c *client.Client) {
		overlap := "skip"
		_, _ = c.SetSchedule(t.Context(), odd, api.RulesRequest{Overlap: &overlap, Reason: "because"})
	},
	"backfillSchedule": func(t *testing.T, c *client.Client) {
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		_, _ = c.BackfillSchedule(t.Context(), odd, api.BackfillRequest{From: from, To: from.AddDate(0, 0, 1), DryRun: true})
	},
	"pauseDefinition":    func(t *testing.T, c *client.Client) { _, _ = c.PauseDefinition(t.Context(), odd, "because") },
	"resumeDefinition":   func(t *testing.T, c *client.Client) { _, _ = c.ResumeDefinition(t.Context(), odd, "because") },
	"retireDefinition":   func(t *testing.T, c *client.Client) { _, _ = c.RetireDefinition(t.Context(), odd, "because") },
	"unretireDefinition": func(t *testing.T, c *client.Client) { _, _ = c.UnretireDefinition(t.Context(), odd, "because") },
	"diffDefinition":     func(t *testing.T, c *client.Client) { _, _ = c.DiffDefinition(t.Context(), odd, "1", "2") },
	"startInstance": func(t *testing.T, c *client.Client) {
		_, _ = c.StartInstance(t.Context(), odd, client.Start{Input: api.Data(`{"a":1}`), Version: "1", Wait: 1500 * time.Millisecond, Name: odd, Labels: map[string]string{"a": odd}})
		_, _ = c.StartInstance(t.Context(), odd, client.Start{ID: odd})
	},
	"listInstances": func(t *testing.T, c *client.Client) {
		_, _ = c.ListInstances(t.Context(), client.InstanceQuery{Paging: page, Filter: "status:failed", Oldest: true, Fold: true})
	},
	"countInstances": func(t *testing.T, c *client.Client) { _, _ = c.CountInstances(t.Context(), "status:failed") },
	"startInstances": func(t *testing.T, c *client.Client) {
		_, _ = c.StartInstances(t.Context(), odd, api.StartsRequest{Version: "1", Starts: []api.OneStart{
			{Key: "k", Name: "n", Labels: map[string]string{"l": "v"}, Input: api.Data(`{"a":1}`)}, {ID: "i"}, {},
		}}, "")
		_, _ = c.StartInstances(t.Context(), odd, api.StartsRequest{Starts: []api.OneStart{{}}}, "k")
	},
	"controlInstances": func(t *testing.T, c *client.Client) {
		_, _ = c.ControlInstances(t.Context(), api.BulkRequest{Verb: "cancel", Instances: []api.BulkTarget{{ID: "a", Rev: 3}, {ID: "b"}}, Reason: "because", Compensate: true})
	},
	"listFailures":   func(t *testing.T, c *client.Client) { _, _ = c.ListFailures(t.Context()) },
	"getInstance":    func(t *testing.T, c *client.Client) { _, _ = c.GetInstance(t.Context(), odd, time.Second) },
	"deleteInstance": func(t *testing.T, c *client.Client) { _ = c.DeleteInstance(t.Context(), odd, 3) },
	"getHistory": func(t *testing.T, c *client.Client) {
		_, _ = c.GetHistory(t.Context(), odd, page)
		_, _ = c.GetLatestHistory(t.Context(), odd, page)
	},
	"listItems": func(t *testing.T, c *client.Client) {
		_, _ = c.ListItems(t.Context(), odd, "Score", []string{"failed", "inFlight"}, page)
	},
	"getWhy":      func(t *testing.T, c *client.Client) { _, _ = c.GetWhy(t.Context(), odd) },
	"getScenario": func(t *testing.T, c *client.Client) { _, _ = c.GetScenario(t.Context(), odd) },
	"getOutput":   func(t *testing.T, c *client.Client) { _, _ = c.GetOutput(t.Context(), odd) },
	"retryInstance": func(t *testing.T, c *client.Client) {
		_, _ = c.RetryInstance(t.Context(), odd, nil, client.Control{Rev: 2})
		_, _ = c.RetryInstance(t.Context(), odd, api.Data(`{"a":1}`), control)
	},
	"skipInstance": func(t *testing.T, c *client.Client) {
		_, _ = c.SkipInstance(t.Context(), odd, api.Data(`{}`), control)
	},
	"pauseInstance":     func(t *testing.T, c *client.Client) { _, _ = c.PauseInstance(t.Context(), odd, control) },
	"resumeInstance":    func(t *testing.T, c *client.Client) { _, _ = c.ResumeInstance(t.Context(), odd, control) },
	"cancelInstance":    func(t *testing.T, c *client.Client) { _, _ = c.CancelInstance(t.Context(), odd, true, control) },
	"terminateInstance": func(t *testing.T, c *client.Client) { _, _ = c.TerminateInstance(t.Context(), odd, control) },
	"restartInstance": func(t *testing.T, c *client.Client) {
		_, _ = c.RestartInstance(t.Context(), odd, client.Restart{Input: api.Data(`{}`), Version: "2", Rev: 4})
	},
	"playground": func(t *testing.T, c *client.Client) {
		steps, run := 3, true
		_, _ = c.Playground(t.Context(), api.PlayRequest{
			Definition: "id: a", Dialect: "sw05", Input: "{}", Mocks: "{}", Events: "[]", Takes: "[]", Client: "c",
			Clock: time.Unix(0, 0).UTC(), Until: time.Unix(1, 0).UTC(), Steps: &steps, Run: &run,
		})
	},
	"createJobs": func(t *testing.T, c *client.Client) {
		_, _ = c.CreateJobs(t.Context(), api.JobsRequest{Workflow: "w", Clients: []string{"a", "b"}, Tags: []string{"t"}, Definition: api.Data(`{"a":1}`)}, "")
		_, _ = c.CreateJobs(t.Context(), api.JobsRequest{Workflow: "w", Clients: []string{"a"}}, "k")
	},
	"answerCall": func(t *testing.T, c *client.Client) {
		_, _ = c.AnswerCall(t.Context(), odd, "1.2", api.CallAnswer{Result: api.Data(`{"ok":true}`)})
		_, _ = c.AnswerCall(t.Context(), odd, "1.2", api.CallAnswer{})
		_, _ = c.AnswerCall(t.Context(), odd, "1.2", api.CallAnswer{Error: &api.CallError{Name: "Declined", Code: "402", Status: "402", Title: "t", Type: "u", Detail: "d", Data: api.Data("1")}})
	},
	"listCalls": func(t *testing.T, c *client.Client) {
		_, _ = c.ListCalls(t.Context(), client.CallQuery{Paging: page, Instance: "i", Parked: true})
	},
	"sendEvents": func(t *testing.T, c *client.Client) {
		one := api.Data(`{"specversion":"1.0","id":"1","source":"s","type":"t"}`)
		_, _ = c.SendEvents(t.Context(), one)
		_, _ = c.SendEvents(t.Context(), one, one)
	},
	"listEvents": func(t *testing.T, c *client.Client) {
		_, _ = c.ListEvents(t.Context(), client.EventQuery{Paging: page, Unmatched: true, Outside: true, Near: true, Type: "paid"})
	},
	"stream": func(t *testing.T, c *client.Client) {
		for range c.Stream(t.Context(), client.StreamQuery{Instance: "i", Definition: "d", Filter: "status:failed", After: "3"}) {
			break
		}
	},
	"listAudit": func(t *testing.T, c *client.Client) {
		_, _ = c.ListAudit(t.Context(), client.AuditQuery{Who: "w", Operation: "o", Target: "t", Paging: client.Paging{Limit: 1, After: "x"}})
	},
	"listTokens":      func(t *testing.T, c *client.Client) { _, _ = c.ListTokens(t.Context()) },
	"listRevocations": func(t *testing.T, c *client.Client) { _, _ = c.ListRevocations(t.Context()) },
	"revoke": func(t *testing.T, c *client.Client) {
		_, _ = c.Revoke(t.Context(), api.RevokeRequest{Certificate: "3a", Reason: "r"})
	},
	"restore":     func(t *testing.T, c *client.Client) { _ = c.Restore(t.Context(), "certificate-3a", "r") },
	"listNodes":   func(t *testing.T, c *client.Client) { _, _ = c.ListNodes(t.Context()) },
	"getHours":    func(t *testing.T, c *client.Client) { _, _ = c.GetHours(t.Context(), 1, "d") },
	"getStats":    func(t *testing.T, c *client.Client) { _, _ = c.GetStats(t.Context()) },
	"healthz":     func(t *testing.T, c *client.Client) { _ = c.Healthz(t.Context()) },
	"readyz":      func(t *testing.T, c *client.Client) { _ = c.Readyz(t.Context()) },
	"metrics":     func(t *testing.T, c *client.Client) { _, _ = c.Metrics(t.Context()) },
	"openapiJSON": func(t *testing.T, c *client.Client) { _, _ = c.OpenapiJSON(t.Context()) },
	"openapiYAML": func(t *testing.T, c *client.Client) { _, _ = c.OpenapiYAML(t.Context()) },
	"getProblem":  func(t *testing.T, c *client.Client) { _, _ = c.GetProblem(t.Context(), odd) },
}

const odd = "a/b ?ü" // ids may have any characters

var (
	page    = client.Paging{Limit: 5, After: "x"}
	version = client.Version{Version: "1", Digest: "d"}
	control = client.Control{Reason: "because", Rev: 3}
)

// elsewhere are parameters that another way of the same request needs.
var elsewhere = []string{"last-event-id", "ce-id", "ce-source", "ce-type", "ce-specversion"}

// TestEveryOperationHasAMethod: each operation of the contract is sent by the method of
// its name, to its path, with the parameters it has and no others, and a body that adheres
// to its schema.
func TestEveryOperationHasAMethod(t *testing.T) {
	c := readContract(t, "../internal/server/openapi.yaml", "")
	for id, use := range uses {
		op, ok := c.operations[id]
		if !ok {
			t.Errorf("the contract has no operation %s", id)
			continue
		}
		if method := strings.ToUpper(id[:1]) + id[1:]; !hasMethod(method) {
			t.Errorf("the client has no method %s", method)
		}
		rec := &recorder{}
		cl, err := client.New(client.Options{URL: "http://server", HTTP: &http.Client{Transport: rec}})
		if err != nil {
			t.Fatal(err)
		}
		use(t, cl)
		if len(rec.requests) == 0 {
			t.Errorf("%s sends nothing", id)
		}
		sent := map[string]bool{}
		for i, req := range rec.requests {
			c.checkRequest(t, id, op, req, rec.bodies[i], sent)
		}
		for _, in := range []string{"query", "header"} {
			for _, name := range op.parameters[in] {
				if !sent[name] && !slices.Contains(elsewhere, name) {
					t.Errorf("%s never sends %s", id, name)
				}
			}
		}
	}
	for id := range c.operations {
		if uses[id] == nil {
			t.Errorf("the client does not have the operation %s", id)
		}
	}
}

func hasMethod(name string) bool {
	_, ok := reflect.TypeFor[*client.Client]().MethodByName(name)
	return ok
}

func (c contract) checkRequest(t *testing.T, id string, op operation, req *http.Request, body []byte, sent map[string]bool) {
	t.Helper()
	pattern := "^" + regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(op.path), "[^/]+") + "$"
	if req.Method != op.method || !regexp.MustCompile(pattern).MatchString(req.URL.EscapedPath()) {
		t.Errorf("%s: %s %s, want %s %s", id, req.Method, req.URL.EscapedPath(), op.method, op.path)
	}
	for name := range req.URL.Query() {
		sent[name] = true
		if !slices.Contains(op.parameters["query"], name) {
			t.Errorf("%s sends the parameter %s, which the contract does not have", id, name)
		}
	}
	for name := range req.Header {
		switch {
		case name == "Accept", name == "Content-Type":
			continue
		case name == "Last-Event-Id": // as net/http spells it
			name = "Last-Event-ID"
		}
		sent[name] = true
		if !slices.Contains(op.parameters["header"], name) {
			t.Errorf("%s sends the header %s, which the contract does not have", id, name)
		}
	}
	if body == nil {
		return
	}
	media, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	pointer, ok := op.bodies[media]
	if !ok {
		t.Errorf("%s sends a body of type %q; the contract has %v", id, media, slices.Sorted(maps.Keys(op.bodies)))
		return
	}
	if !strings.HasSuffix(media, "json") {
		return
	}
	schema, err := c.schemas.Compile(pointer)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v in %s", id, err, body)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", id, err, body)
	}
}
