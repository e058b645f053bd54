package engine

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestEndpoints: calls to one host share its limit, however they name it.
func TestEndpoints(t *testing.T) {
	for _, c := range []struct{ operation, args, want string }{
		{"", `{}`, "name:f"},
		{"https://Pay.example/charge#PUT", `{}`, "host:pay.example"},
		{"pets.yaml#getPet", `{}`, "document:pets.yaml"},
		{"call:http", `{"endpoint":"https://Pay.example/a"}`, "host:pay.example"},
		{"call:http!", `{"endpoint":{"uri":"https://pay.example/b"}}`, "host:pay.example"},
		{"call:http", `{}`, "name:f"},
		{"call:openapi:pets.yaml#getPet", `{"endpoint":"x"}`, "document:pets.yaml"},
		{"call:openapi:https://pay.example/api.json#getPet", `{}`, "host:pay.example"},
		{"call:grpc:greet.proto#greet.Greeter/SayHello", `{"service":{"host":"Pay.example","port":50051}}`, "host:pay.example"},
		{"call:mcp", `{"transport":{"http":{"endpoint":{"uri":"https://pay.example/mcp"}}}}`, "host:pay.example"},
		{"call:a2a", `{"server":"https://pay.example/agent"}`, "host:pay.example"},
		{"call:mcp&", `{"transport":{"stdio":{"command":"npx"}}}`, "programs"},
		{ir.Request{Protocol: ir.RequestREST, URI: "https://Pay.example/{id}"}.Operation(false), `{"endpoint":"x"}`, "host:pay.example"},
		{"call:request:oops", `{}`, "name:f"},
		{"call:log:WARN", `{}`, "name:f"},
		{"call:shell&", `{"command":"ls"}`, "programs"},
	} {
		args, err := expr.ParseJSON([]byte(c.args))
		if err != nil {
			t.Fatal(err)
		}
		if got := endpoint(&ir.Function{Name: "f", Operation: c.operation}, args); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.operation, c.args, got, c.want)
		}
	}
}
