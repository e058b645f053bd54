package serve

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// tracingFlags say where spans go. What they leave open comes from the environment variables of OpenTelemetry.
type tracingFlags struct{ endpoint, ratio string }

func (t *tracingFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.endpoint, "otlp-endpoint", "", "send traces to the collector at this `URL`, by OTLP over HTTP (default OTEL_EXPORTER_OTLP_ENDPOINT)")
	f.StringVar(&t.ratio, "trace-ratio", "", "the `part` of the traces that begin here and are recorded, 0 to 1; callers decide for theirs (default OTEL_TRACES_SAMPLER_ARG, or 1)")
}

// use makes the option; nil: spans are not sent. env is os.Getenv.
func (t *tracingFlags) use(node string, env func(string) string) (lockstep.Option, error) {
	base, whole := cmp.Or(t.endpoint, env("OTEL_EXPORTER_OTLP_ENDPOINT")), ""
	if t.endpoint == "" {
		whole = env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
		if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || env("OTEL_TRACES_EXPORTER") == "none" {
			base, whole = "", ""
		}
	}
	if base == "" && whole == "" {
		if t.ratio != "" {
			return nil, cli.Usagef("--trace-ratio needs --otlp-endpoint")
		}
		return nil, nil
	}
	if p := cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), env("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf"); t.endpoint == "" && p != "http/protobuf" {
		return nil, cli.Usagef("OTEL_EXPORTER_OTLP_PROTOCOL is %s, but traces are sent by http/protobuf only; give --otlp-endpoint the collector's HTTP address (port 4318)", p)
	}
	target, err := operatorURL("otlp-endpoint", "http or https", cmp.Or(whole, base))
	if err != nil {
		return nil, err
	}
	if whole == "" {
		target = target.JoinPath("v1/traces")
	}
	out := lockstep.Trace{URL: target.String(), Ratio: 1, Resource: map[string]string{}}
	if out.Headers, err = pairs("OTEL_EXPORTER_OTLP_HEADERS", cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), env("OTEL_EXPORTER_OTLP_HEADERS"))); err != nil {
		return nil, err
	}
	if out.Resource, err = pairs("OTEL_RESOURCE_ATTRIBUTES", env("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return nil, err
	}
	if name := env("OTEL_SERVICE_NAME"); name != "" {
		out.Resource["service.name"] = name
	}
	if out.Resource["service.instance.id"] == "" && node != "" {
		out.Resource["service.instance.id"] = node
	}
	if text := cmp.Or(t.ratio, env("OTEL_TRACES_SAMPLER_ARG")); text != "" {
		if out.Ratio, err = strconv.ParseFloat(text, 64); err != nil || !(out.Ratio >= 0 && out.Ratio <= 1) {
			return nil, cli.Usagef("--trace-ratio %q is not a number from 0 to 1", text)
		}
	}
	return lockstep.Tracing(out), nil
}

// pairs reads key=value,key=value, with values percent-encoded, as OpenTelemetry writes lists.
func pairs(name, text string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, cli.Usagef("%s is not a list of key=value pairs", name)
		}
		out[key] = decoded
	}
	return out, nil
}
