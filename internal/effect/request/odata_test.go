package request

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestOData: 0.8 §Using Functions for OData Service Invocations, with the arguments of its schema.
func TestOData(t *testing.T) {
	s := newService(t, http.Options{}, tells)
	persons := ir.Request{Protocol: ir.RequestOData, URI: "SERVER/V4/svc/", EntitySet: "Persons"}
	client := persons
	client.URI = "SERVER/svc?client=100"
	const tail = " type= key=i1/3.1 a= cookie= body="
	for _, c := range []struct {
		r          ir.Request
		args, want string
	}{
		{persons, `null`, "/V4/svc/Persons"},
		{
			persons, `{"queryOptions":{"expand":"Detail/Person","select":"Id, Name","top":5,"orderby":"Name desc"}}`,
			"/V4/svc/Persons?$expand=Detail%2FPerson&$orderby=Name%20desc&$select=Id%2C%20Name&$top=5",
		},
		{
			persons, `{"queryOptions":{"$filter":"Name eq 'a&$top=1'","orderBy":"a","count":true,"skip":null,"schemaVersion":"1"}}`,
			"/V4/svc/Persons?$filter=Name%20eq%20%27a%26%24top%3D1%27&$count=true&$orderby=a&$schemaversion=1",
		},
		{client, `{"key":5,"queryOptions":{"top":1}}`, "/svc/Persons(5)?client=100&$top=1"},
		{client, `{"key":"5"}`, "/svc/Persons(5)?client=100"},
		{persons, `{"key":"-12"}`, "/V4/svc/Persons(-12)"},
		{persons, `{"key":"0005"}`, "/V4/svc/Persons(%270005%27)"},
		{persons, `{"key":"'5'"}`, "/V4/svc/Persons(%275%27)"},
		{persons, `{"key":"0a1b2c3d-0000-4000-8000-0123456789ab"}`, "/V4/svc/Persons(0a1b2c3d-0000-4000-8000-0123456789ab)"},
		{persons, `{"key":"O'Neil) or (1 eq 1"}`, "/V4/svc/Persons(%27O%27%27Neil%29%20or%20%281%20eq%201%27)"},
		{persons, `{"key":"a/b?c"}`, "/V4/svc/Persons(%27a%2Fb%3Fc%27)"},
		{persons, `{"key":{"Order":1,"Line":"x"}}`, "/V4/svc/Persons(Line=%27x%27,Order=1)"},
	} {
		s.sent(c.r, c.args, "GET "+c.want+tail)
	}
	for args, text := range map[string]string{
		`[1]`:                                  "must be an object",
		`{"filter":"x"}`:                       `"filter" is not known`,
		`{"queryOptions":"$top=1"}`:            "queryOptions must be an object",
		`{"queryOptions":{"topp":1}}`:          `"topp" is not a query option`,
		`{"queryOptions":{"top":1,"$top":2}}`:  "twice",
		`{"queryOptions":{"top":[1]}}`:         `"top" must be text`,
		`{"key":""}`:                           "key is empty",
		`{"key":{}}`:                           "key is empty",
		`{"key":[1]}`:                          "key must be text",
		`{"key":{"a)/b(":1}}`:                  "cannot be the name",
		`{"key":"x/../../admin"}`:              "the step",
		`{"queryOptions":{"top&$filter=x":1}}`: "not a query option",
	} {
		s.refused(persons, args, effect.InvalidArguments, text)
	}
	s.refused(ir.Request{Protocol: ir.RequestOData, URI: "SERVER"}, `{}`, effect.NotFound, "entity set")
	s.refused(ir.Request{Protocol: ir.RequestOData, URI: "SERVER", EntitySet: "a?b"}, `{}`, effect.NotFound, "entity set")
	s.refused(ir.Request{Protocol: ir.RequestOData, URI: "svc", EntitySet: "a"}, `{}`, effect.NotFound, "https://host/path")
}

// TestODataAnswers: the result is the answer as it is, with the count and the link to the next page; an error is read.
func TestODataAnswers(t *testing.T) {
	persons := ir.Request{Protocol: ir.RequestOData, URI: "SERVER", EntitySet: "Persons"}
	const page = `{"@odata.count":2,"@odata.nextLink":"x","value":[{"Id":1}]}`
	if out := newService(t, http.Options{}, says(200, "application/json;odata.metadata=minimal", page)).calls(false, persons, `{}`); out.Value.String() != page {
		t.Errorf("%+v", out)
	}
	s := newService(t, http.Options{}, says(404, "application/json", `{"error":{"code":"E7","message":"no such person"}}`))
	if f := s.calls(false, persons, `{"key":1}`).Failure; f == nil || f.Name != effect.Unnamed || f.Status != "404" || f.Code != "E7" || f.Detail != "no such person" {
		t.Errorf("%+v", f)
	}
}
