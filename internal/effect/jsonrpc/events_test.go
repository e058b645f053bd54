package jsonrpc

import (
	"io"
	"strings"
	"testing"
)

func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"data: a\n\n":                            "a",
		"\ufeffdata:a\n\ndata: b\r\n\r\n":        "a|b",
		"event: message\nid: 1\ndata: a\n\n":     "a",
		": alive\n\n\n\ndata: a\ndata: b\n\n":    "a\nb",
		"data:\n\nid: 7\ndata: \n\ndata: a\n\n":  "a",
		"data: a\n":                              "",
		"data: a":                                "",
		"data\n\ndate: x\n\n data: y\n\nDATA:\n": "",
		"":                                       "",
	} {
		e := newEvents(strings.NewReader(text))
		var got []string
		for {
			data, err := e.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimSuffix(string(data), "\n"))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestReplies(t *testing.T) {
	messages, err := Parse([]byte(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":2,"method":"roots/list"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"id":"a","jsonrpc":"2.0","result":{}}`,
		`{"error":{"code":-32601,"message":"Method not found"},"id":2,"jsonrpc":"2.0"}`,
	}
	for i, m := range messages {
		if got := string(Reply(m)); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":1,"error":{"code":1}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		messages, err := Parse(text)
		for _, m := range messages {
			if result, bad := m.Answers(1); err == nil && bad == nil && m.Method == "" && m.Err != nil {
				t.Errorf("%s answers with an error and %s", text, result)
			}
		}
	})
}
