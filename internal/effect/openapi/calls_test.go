package openapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

const shop = `
openapi: 3.1.0
info: {title: shop, version: "1"}
servers: [{url: "https://shop.example"}]
paths:
  /charge:
    post:
      operationId: charge
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Charge"}}}}
      responses:
        "200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Receipt"}}}}
        default: {description: failed, content: {application/json: {schema: {type: object}}}}
  /items/{sku}:
    get:
      operationId: item
      parameters:
      - {name: sku, in: path, required: true, schema: {type: string}}
      - {name: quantity, in: query, schema: {type: integer, minimum: 1}}
      - {name: filter, in: query, content: {application/json: {schema: {type: object, properties: {from: {type: integer}}}}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {sku: {}}, additionalProperties: true}}}}}
  /note:
    post:
      operationId: note
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, required: [text], properties: {text: {type: string}, stars: {type: integer}}}}}}
      responses: {"204": {description: ok}}
components:
  schemas:
    Charge:
      type: object
      required: [card, amount]
      properties:
        id: {type: string, readOnly: true}
        card: {type: string}
        amount: {type: number}
        kind: {enum: [debit, credit]}
        lines: {type: array, items: {type: object, required: [sku], properties: {sku: {type: string}, n: {type: integer}}}}
    Receipt:
      type: object
      properties:
        chargeId: {type: string}
        at: {type: object, properties: {city: {type: string}}}
`

// calls are definitions of every family that calls functions of documents: %F is the function, %A its arguments, %R what
// is read of the result; x is an expression.
var calls = map[string]struct{ text, x, path string }{
	"0.5": {`{id: w, name: w, version: "1", functions: [{name: f, operation: "shop.yaml#%F"}], states: [{name: S, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f, parameters: %A}, actionDataFilter: {dataResultsPath: "%R"}}], end: {kind: default}}]}`, `"{{ $.x }}"`, "{{ $.%s }}"},
	"0.6": {`{id: w, name: w, version: "1", specVersion: "0.6", start: S, functions: [{name: f, operation: "shop.yaml#%F"}], states: [{name: S, type: operation, actions: [{functionRef: {refName: f, arguments: %A}, actionDataFilter: {results: "%R"}}], end: true}]}`, `"${ .x }"`, "${ .%s }"},
	"0.8": {`{id: w, name: w, version: "1", specVersion: "0.8", start: S, functions: [{name: f, operation: "shop.yaml#%F"}], states: [{name: S, type: operation, actions: [{functionRef: {refName: f, arguments: %A}, actionDataFilter: {results: "%R"}}], end: true}]}`, `"${ .x }"`, "${ .%s }"},
	"0.9": {`{id: w, name: w, version: 1.0.0, specVersion: "0.9", start: s, auth: [{name: a, scheme: basic, properties: {username: u, password: p}}], functions: [{name: f, operation: "shop.yaml#%F", authRef: a}], states: [{name: s, type: operation, actions: [{name: a, functionRef: {refName: f, arguments: %A}, actionDataFilter: {results: "%R"}}], end: true}]}`, `"${ .x }"`, "${ .%s }"},
	"1.0": {`{document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}, do: [{f: {call: openapi, with: {document: {endpoint: shop.yaml}, operationId: %F, parameters: %A}, output: {as: "%R"}}}]}`, `"${ .x }"`, "${ .%s }"},
}

// TestCalls: what a document says of the arguments and results of calls is checked in every version, as far as it is
// constant, and at the place where it stands.
func TestCalls(t *testing.T) {
	for _, c := range []struct{ function, args, read, want string }{
		{"charge", `{card: x, amount: 5}`, "chargeId", ""},
		{"charge", `{card: X, amount: X, kind: X, lines: X}`, "at.city", ""},
		{"charge", `{card: X, amount: 5, lines: [X, {sku: X, n: X}]}`, "", ""},
		{"charge", `{amount: X}`, "", `error CALL004 function "f": the argument "card" is missing (the request body of "charge" requires it)`},
		{"charge", `{card: X, amount: lots}`, "", `lots error CALL006 function "f": the argument "amount" must be a number, not a string`},
		{"charge", `{card: X, amount: 1, kind: cash}`, "", `cash error CALL006 function "f": the argument "kind" must be`},
		{"charge", `{card: X, amuont: 1}`, "", `amuont error CALL005 function "f": "charge" takes no argument "amuont"; did you mean "amount"?`},
		{"charge", `{card: X, amount: 1, zzz: 1}`, "", `zzz error CALL005 function "f": "charge" takes no argument "zzz"; it takes amount, card, id, kind, lines`},
		{"charge", `{card: X, amount: X, lines: [X, {n: X}]}`, "", `error CALL004 function "f": the argument "sku" is missing (the argument "lines.1" of "charge" requires it)`},
		{"charge", `{body: {card: X}}`, "", `error CALL004 function "f": the argument "amount" is missing`},
		{"charge", `{body: X}`, "", ""},
		{"charge", `{}`, "", `error CALL004 function "f": the request body of "charge" is missing`},
		{"charge", `{card: a, amount: 1}`, "chargeid", `warning CALL007 function "f": the answer of "charge" has no "chargeid"; did you mean "chargeId"?`},
		{"charge", `{card: a, amount: 1}`, "at.town", `warning CALL007 function "f": the answer of "charge" has no "at.town"; it has city`},
		{"item", `{sku: a, quantity: "3"}`, "anything", ""},
		{"item", `{sku: 7, filter: {from: X}}`, "", ""},
		{"item", `{skuu: a}`, "", `skuu error CALL005 function "f": "item" takes no argument "skuu"; did you mean "sku"?`},
		{"item", `{quantity: 1}`, "", `error CALL004 function "f": the argument "sku" is missing (a required path parameter of "item")`},
		{"item", `{sku: a, quantity: many}`, "", `many error CALL006 function "f": the argument "quantity" must be an integer, not a string`},
		{"item", `{sku: a, filter: {from: soon}}`, "", `soon error CALL006 function "f": the argument "filter.from" must be an integer`},
		{"note", `{text: a, stars: "3"}`, "anything", ""},
		{"item", `{sku: a, quantity: "0"}`, "", `"0" error CALL006 function "f": the argument "quantity" must be at least 1`},
		{"note", `{stars: X}`, "", `error CALL004 function "f": the argument "text" is missing`},
		{"note", `{text: a, stars: many}`, "", `many error CALL006 function "f": the argument "stars" must be an integer, not a string`},
	} {
		for version, in := range calls {
			read := "$"
			if strings.Contains(in.path, "${") {
				read = "${ . }"
			}
			if c.read != "" {
				read = strings.ReplaceAll(in.path, "%s", c.read)
			}
			text := "---\n" + strings.NewReplacer("%F", c.function, "%A", strings.ReplaceAll(c.args, "X", in.x), "%R", read).Replace(in.text)
			checkCall(t, version+" "+c.args, text, c.want)
		}
	}
}

// TestResultsOfTimedCalls: what follows a call reads its result also inside of larger expressions, and behind a timeout. What a
// handler may have put in its place is not checked.
func TestResultsOfTimedCalls(t *testing.T) {
	const call = "call: openapi, with: {document: {endpoint: shop.yaml}, operationId: charge, parameters: {card: x, amount: 5}}"
	const lacks = `warning CALL007 function "f": the answer of "charge" has no "id"`
	for task, want := range map[string]string{
		`{f: {` + call + `, output: {as: "{id: .id}"}}}`:                                                               lacks,
		`{f: {` + call + `, output: {as: "$input + {id, at: .at.city}"}}}`:                                             lacks,
		`{f: {` + call + `, output: {as: {text: "${ \"no \\(.id)\" }"}}}}`:                                             lacks,
		`{f: {` + call + `, timeout: {after: PT1M}, output: {as: .id}}}`:                                               lacks,
		`{f: {` + call + `, timeout: {after: PT1M}, export: {as: .id}}}`:                                               lacks,
		`{f: {` + call + `, timeout: {after: PT1M}, output: {as: "{id: .chargeId}"}}}`:                                 "",
		`{f: {` + call + `, output: {as: "{id: (.id // .chargeId), city: .at.city?}"}}}`:                               "",
		`{t: {try: [{f: {` + call + `}}], catch: {do: [{g: {set: {id: 7}}}]}, output: {as: .id}}}`:                     "",
		`{t: {try: [{f: {` + call + `}}], catch: {retry: {limit: {attempt: {count: 2}}}}, output: {as: "{id: .id}"}}}`: lacks,
		`{f: {` + call + `}}, {g: {set: {id: "${ .id }"}}}`:                                                            lacks,
	} {
		text := "---\n{document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}, do: [" + task + "]}"
		checkCall(t, task, text, want)
	}
}

// checkCall checks a definition; want begins with the word at the place of the diagnostic.
func checkCall(t *testing.T, name, text, want string) {
	t.Helper()
	files := dialect.MapBundle{"shop.yaml": []byte(shop)}
	c, found := dialects.All().Compile("w.yaml", []byte(text), files, dialect.Options{})
	if c.Program == nil {
		t.Fatalf("%s: %v\n%s", name, found, text)
	}
	found = pin.Kinds{"openapi": openapi.Kind{}}.Check(context.Background(), files,
		pin.Definition{File: "w.yaml", Program: c.Program, Operations: c.Operations, Root: c.Document.Root}, false)
	if want == "" {
		if len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		return
	}
	word, says, ok := strings.Cut(want, " CALL")
	fields := strings.Fields(word)
	if !ok || len(found) != 1 {
		t.Errorf("%s: %v, want %s", name, found, want)
		return
	}
	d := found[0]
	if severity := fields[len(fields)-1]; string(d.Severity) != severity || !strings.HasPrefix(d.Code+" "+d.Message+"; "+d.Hint, "CALL"+says) {
		t.Errorf("%s: %v, want %s", name, d, want)
	}
	if len(fields) == 2 && !strings.HasPrefix(text[3+d.Column:], fields[0]) {
		t.Errorf("%s: the place is %q, want %s", name, text[3+d.Column:], fields[0])
	}
}
