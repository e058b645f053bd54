package server

import (
	"bytes"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
)

// appendInstance appends an instance as encoding/json writes it, without reflection and without allocating: most answers are
// instances. A test compares the two; they differ only in how they escape \b, \f, U+2028 and U+2029. Members that few instances
// have are left to encoding/json.
func appendInstance(to []byte, v *api.Instance) ([]byte, error) {
	o := object{text: append(to, '{')}
	o.string("id", v.ID)
	o.optional("name", v.Name)
	o.optional("key", v.Key)
	o.key("definition")
	o.text = append(o.text, '{')
	o.string("id", v.Definition.ID)
	o.string("version", v.Definition.Version)
	o.string("digest", v.Definition.Digest)
	o.text = append(o.text, '}')
	o.string("status", string(v.Status))
	o.optional("state", v.State)
	if len(v.States) > 0 {
		o.strings("states", v.States)
	}
	o.time("created", v.Created)
	o.time("updated", v.Updated)
	if !v.Ended.IsZero() {
		o.time("ended", v.Ended)
	}
	if !v.Wake.IsZero() {
		o.time("wake", v.Wake)
	}
	o.number("rev", v.Rev)
	if len(v.Output) > 0 {
		o.data("output", v.Output)
	}
	if v.Error != nil {
		o.other("error", v.Error)
	}
	o.data("labels", v.Labels)
	o.optional("parent", v.Parent)
	if v.Children != 0 {
		o.number("children", v.Children)
	}
	o.optional("restartOf", v.RestartOf)
	o.optional("reason", v.Reason)
	o.optional("quarantine", v.Quarantine)
	o.strings("allowed", v.Allowed)
	if v.Job != nil {
		o.other("job", v.Job)
	}
	if len(v.Progress) > 0 {
		o.other("progress", v.Progress)
	}
	return append(o.text, '}'), o.err
}

// object is a JSON object that is being written.
type object struct {
	text []byte
	err  error
}

func (o *object) key(name string) {
	if o.text[len(o.text)-1] != '{' {
		o.text = append(o.text, ',')
	}
	o.text = append(append(append(o.text, '"'), name...), `":`...)
}

func (o *object) string(name, value string) {
	o.key(name)
	o.text = expr.AppendQuoted(o.text, value)
}

// optional is string, unless there is none.
func (o *object) optional(name, value string) {
	if value != "" {
		o.string(name, value)
	}
}

func (o *object) strings(name string, list []string) {
	o.key(name)
	for i, value := range list {
		o.text = expr.AppendQuoted(append(o.text, "[,"[min(i, 1)]), value)
	}
	o.text = append(o.text, ']')
}

func (o *object) time(name string, at time.Time) {
	o.key(name)
	o.text = append(at.AppendFormat(append(o.text, '"'), time.RFC3339Nano), '"')
}

func (o *object) number(name string, n int64) {
	o.key(name)
	o.text = strconv.AppendInt(o.text, n, 10)
}

func (o *object) data(name string, data api.Data) {
	o.key(name)
	o.text = append(o.text, data...)
}

func (o *object) other(name string, value any) {
	o.key(name)
	text, err := encode(value)
	if err != nil {
		o.err = err
	}
	o.text = append(o.text, bytes.TrimSuffix(text, []byte("\n"))...)
}
