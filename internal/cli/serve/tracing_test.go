package serve

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep"
)

// TestTracingSettings: the flag comes before the environment, and what cannot work is refused.
func TestTracingSettings(t *testing.T) {
	const none = "none"
	for _, c := range []struct {
		flags tracingFlags
		env   string // NAME=value, separated by spaces
		want  string // a part of the error; "": it is on; none: it is off
	}{
		{tracingFlags{}, "", none},
		{tracingFlags{endpoint: "http://localhost:4318"}, "", ""},
		{tracingFlags{}, "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318", ""},
		{tracingFlags{}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://example.com/traces", ""},
		{tracingFlags{}, "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 OTEL_SDK_DISABLED=true", none},
		{tracingFlags{}, "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 OTEL_TRACES_EXPORTER=none", none},
		{tracingFlags{endpoint: "http://localhost:4318"}, "OTEL_TRACES_EXPORTER=none", ""},
		{tracingFlags{}, "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317 OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "http/protobuf only"},
		{tracingFlags{endpoint: "localhost:4318"}, "", "is not an http or https URL"},
		{tracingFlags{endpoint: "http://me:pw@localhost:4318"}, "", "user or password"},
		{tracingFlags{endpoint: "http://localhost:4318", ratio: "2"}, "", "0 to 1"},
		{tracingFlags{endpoint: "http://localhost:4318", ratio: "NaN"}, "", "0 to 1"},
		{tracingFlags{ratio: "0.5"}, "", "needs --otlp-endpoint"},
		{tracingFlags{endpoint: "http://localhost:4318"}, "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b,other=1", ""},
		{tracingFlags{endpoint: "http://localhost:4318"}, "OTEL_EXPORTER_OTLP_HEADERS=secret", "OTEL_EXPORTER_OTLP_HEADERS is not a list"},
	} {
		env := func(name string) string {
			for _, entry := range strings.Fields(c.env) {
				if value, ok := strings.CutPrefix(entry, name+"="); ok {
					return value
				}
			}
			return ""
		}
		option, err := c.flags.use("node", env)
		switch {
		case c.want == "" && (err != nil || option == nil || lockstep.Check(option) != nil):
			t.Errorf("%+v: %v", c, err)
		case c.want == none && (err != nil || option != nil):
			t.Errorf("%+v is on, %v", c, err)
		case c.want != "" && c.want != none && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%+v: %v", c, err)
		}
	}
}
