package nats

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseSource(t *testing.T) {
	got, err := ParseSource("tls://a.example.com/ORDERS?server=b.example.com:4333&durable=shop&subject=o.*&subject=p.>&in-flight=9&deliver=new")
	want := SourceSettings{
		Connection: Connection{Servers: []string{"tls://a.example.com:4222", "tls://b.example.com:4333"}},
		Stream:     "ORDERS", Durable: "shop", Subjects: []string{"o.*", "p.>"}, InFlight: 9, New: true,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
	got, err = ParseSource("nats://[::1]/ORDERS")
	if err != nil || got.Servers[0] != "nats://[::1]:4222" || got.Durable != "lockstep" || got.InFlight != 0 {
		t.Errorf("%v %+v", err, got)
	}
}

func TestBadURLs(t *testing.T) {
	empty := write(t, "empty", "\n")
	full := write(t, "full", "x")
	for url, says := range map[string]string{
		"nats://h":                                        "names no stream",
		"nats:///S":                                       "names no host",
		"nats://h/S.T":                                    "not the name of a stream",
		"nats://h/S?durable=a.b":                          "not the name of a consumer",
		"nats://h/S?durable=a&durable=b":                  "one value",
		"nats://h/S?durable=":                             "one value",
		"nats://h/S?subject=a..b":                         "not a subject",
		"nats://h/S?subject=a.>.b":                        "not a subject",
		"nats://h/S?in-flight=0":                          "limit source-pending",
		"nats://h/S?in-flight=many":                       "limit source-pending",
		"nats://h/S?deliver=some":                         "neither all nor new",
		"nats://h/S?durabel=x":                            `unknown parameter "durabel"; the parameters are durable`,
		"nats://h/S?%zz":                                  "parameters",
		"nats://me:secret@h/S":                            "user or password",
		"nats://h/S?server=me:secret@h":                   "user or password",
		"nats://h/S#x":                                    "fragment",
		"amqp://h/S":                                      "neither nats nor tls",
		"nats://h:x/S":                                    "not a URL",
		"nats://h/S?credentials=/none":                    "credentials: open /none",
		"nats://h/S?token-file=" + empty:                  "is empty",
		"nats://h/S?user=a":                               "must be given together",
		"nats://h/S?cert=" + full:                         "must be given together",
		"nats://h/S?ca=" + full:                           "no PEM certificate",
		"nats://h/S?ca=/none":                             "ca: open /none",
		"nats://h/S?cert=" + full + "&key=" + full:        "cert, key",
		"nats://h/S?nkey=" + full + "&token-file=" + full: "mutually exclusive",
	} {
		_, err := ParseSource(url)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", url, err, says)
		}
	}
	for url, says := range map[string]string{
		"nats://h/S?subject={type}": "begin with a constant name",
		"nats://h/S?durable=x":      "unknown parameter",
		"nats://h/S?subject=":       "one value",
	} {
		if _, err := ParseSink(url); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", url, err, says)
		}
	}
}

func FuzzURL(f *testing.F) {
	f.Add("nats://h:4222/S?durable=x&subject=a.>")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "=/") || strings.Contains(text, "%2") || strings.Contains(text, "=.") {
			return // no files
		}
		if set, err := ParseSource(text); err == nil && (!validName(set.Stream) || !validName(set.Durable) || len(set.Servers) == 0) {
			t.Errorf("%q becomes %+v", text, set)
		}
		_, _ = ParseSink(text)
	})
}
