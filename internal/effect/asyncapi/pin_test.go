package asyncapi

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

var files = dialect.MapBundle{
	"api.yaml": []byte(`
asyncapi: 3.0.0
info: {title: T, version: 1.0.0}
servers:
  rabbit: {host: rabbit.example, protocol: amqp}
  main: {host: "{where}.example", protocol: https, variables: {where: {default: a, enum: [a, b]}}}
channels:
  orders: {address: orders, messages: {order: {$ref: "parts/messages.yaml#/order"}}}
  rabbits: {address: r, servers: [{$ref: "#/servers/rabbit"}]}
  proto: {address: p, messages: {m: {payload: {schemaFormat: application/vnd.google.protobuf, schema: "message M {}"}}}}
  broken: {$ref: "#/channels/missing"}
  users: {address: "users/{user}", parameters: {user: {location: "$message.payload#/user"}}}
operations:
  send: {action: send, channel: {$ref: "#/channels/orders"}}
  rabbit: {action: send, channel: {$ref: "#/channels/rabbits"}}
  user: {action: send, channel: {$ref: "#/channels/users"}}
  proto: {action: send, channel: {$ref: "#/channels/proto"}}
  broken: {action: send, channel: {$ref: "#/channels/broken"}}
`),
	"parts/messages.yaml": []byte(`order: {payload: {$ref: "schemas.json#/order"}}`),
	"parts/schemas.json":  []byte(`{"order": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/order"}}}}}`),
	"two.yaml":            []byte("asyncapi: 2.0.0\nservers: {main: {url: nats://x, protocol: nats}}\nchannels: {a: {publish: {}}, b: {subscribe: {}}}"),
	"four.yaml":           []byte("asyncapi: 4.0.0"),
	"pets.yaml":           []byte("openapi: 3.1.0"),
	"bad.yaml":            []byte("asyncapi: [3"),
}

// TestFind: what is wrong with a call is said when its definition is deployed, and the documents are pinned.
func TestFind(t *testing.T) {
	for with, says := range map[string]string{
		`document: {endpoint: api.yaml}, operation: send, message: {payload: {id: "1", parts: [{id: "2"}]}}`:           "",
		`document: {endpoint: api.yaml}, operation: send, message: {payload: {id: "${ .id }"}}`:                        "",
		`document: {endpoint: api.yaml}, operation: send, message: {payload: {id: 1}}`:                                 "CALL006 payload/id",
		`document: {endpoint: api.yaml}, operation: send, message: {payload: {id: "${ .id }", parts: [{}]}}`:           "CALL004 payload/parts/0",
		`document: {endpoint: api.yaml}, operation: send, message: {payload: {id: "1", parts: [{}]}}`:                  "CALL004 payload/parts/0",
		`document: {endpoint: api.yaml}, operation: sent, message: {}`:                                                 `CALL003 did you mean "send"?`,
		`document: {endpoint: api.yaml}, operation: broken, message: {}`:                                               "CALL003 cannot be followed",
		`document: {endpoint: api.yaml}, operation: proto, message: {}`:                                                "CALL003 only JSON Schema",
		`document: {endpoint: api.yaml}, operation: rabbit, subscription: {consume: {amount: 1}}`:                      "CALL003 protocol amqp cannot be used by this server",
		`document: {endpoint: api.yaml}, operation: send, protocol: kafka, subscription: {consume: {amount: 1}}`:       "CALL003 protocol kafka cannot be used by this server",
		`document: {endpoint: api.yaml}, operation: send, server: {name: Main}, subscription: {consume: {amount: 1}}`:  `CALL003 did you mean "main"?`,
		`document: {endpoint: api.yaml}, operation: send, server: {name: "${ .s }"}, message: {payload: {id: a}}`:      "",
		`document: {endpoint: api.yaml}, operation: send, server: {name: main, variables: {where: c}}, message: {}`:    "CALL003 must be one of a, b",
		`document: {endpoint: api.yaml}, operation: send, server: {name: main, variables: {wehre: a}}, message: {}`:    `CALL003 did you mean "where"?`,
		`document: {endpoint: api.yaml}, operation: user, message: {}`:                                                 "",
		`document: {endpoint: api.yaml}, operation: user, subscription: {consume: {amount: 1}}`:                        "CALL003 has no value",
		`document: {endpoint: two.yaml}, channel: a, message: {}`:                                                      "",
		`document: {endpoint: two.yaml}, channel: b, message: {}`:                                                      "CALL003 no operation publish",
		`document: {endpoint: two.yaml}, channel: a, subscription: {consume: {amount: 1}}`:                             "CALL003 no operation subscribe",
		`document: {endpoint: two.yaml}, channel: b, subscription: {filter: .payload > 1, consume: {until: .payload}}`: "",
		`document: {endpoint: four.yaml}, operation: a, message: {}`:                                                   "CALL001 versions 2 and 3",
		`document: {endpoint: pets.yaml}, operation: a, message: {}`:                                                   "CALL001 is not an AsyncAPI document",
		`document: {endpoint: bad.yaml}, operation: a, message: {}`:                                                    "CALL001 cannot be read",
		`document: {endpoint: none.yaml}, operation: a, message: {}`:                                                   "CALL001 cannot be opened",
	} {
		text := "document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}\ndo:\n- t: {call: asyncapi, with: {" + with + "}}\n"
		c, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile("w.yaml", []byte(text), files, dialect.Options{})
		if len(found) > 0 {
			t.Fatalf("%s: %v", with, found)
		}
		found = pin.Kinds{"asyncapi": Kind{}}.Pin(context.Background(), files, pin.Definition{File: "w.yaml", Program: c.Program, Root: c.Document.Root})
		code, words, _ := strings.Cut(says, " ")
		switch {
		case says == "" && len(found) > 0:
			t.Errorf("%s: %v", with, found)
		case says != "" && (len(found) != 1 || found[0].Code != code || !strings.Contains(found[0].String(), words)):
			t.Errorf("%s: %v, want %s", with, found, says)
		}
		if strings.Contains(with, "api.yaml") && strings.Contains(with, "send") {
			if n := len(c.Program.Resources); n != 3 || c.Program.Functions[0].Resource != 1 {
				t.Errorf("%s: %d documents are pinned", with, n)
			}
		}
	}
}

// TestSchemasOfManyMessages: the limit is for all messages of an operation, which may have the same large schema.
func TestSchemasOfManyMessages(t *testing.T) {
	document := `{"asyncapi": "2.6.0", "channels": {"c": {"publish": {"message": {"oneOf": [` + strings.Repeat(`{"$ref": "#/m"}, `, 999) +
		`{"$ref": "#/m"}]}}}}, "m": {"payload": {"enum": [1], "allOf": [` + strings.Repeat(`{}, `, 3000) + `{}]}}}`
	lib := newLibrary(func(string) ([]byte, error) { return []byte(document), nil })
	o, c, err := lib.compile("api.json", "c", sends)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, m := range o.messages {
		if m.payload != nil {
			checked++
		}
	}
	if len(o.messages) != 1000 || checked == 0 || checked > maxSchemaValues/3000 || !strings.Contains(c.notes[0], "asyncapi-schema-values") {
		t.Errorf("%d of %d schemas are checked: %s", checked, len(o.messages), c.notes[0])
	}
}
