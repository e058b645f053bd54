package ir

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// format is the version of the encoding of programs, stored with each.
const format = 1

// Encode writes the program. The same program gives the same bytes.
func Encode(p *Program) ([]byte, error) {
	return json.Marshal(struct {
		Format  int      `json:"format"`
		Program *Program `json:"program"`
	}{format, p})
}

// Decode reads a program and checks that all its references hold.
func Decode(data []byte) (*Program, error) {
	var stored struct {
		Format  int             `json:"format"`
		Program json.RawMessage `json:"program"`
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, fmt.Errorf("decode program: %w", err)
	}
	if stored.Format != format {
		return nil, fmt.Errorf("decode program: unknown format %d (want %d)", stored.Format, format)
	}
	p := new(Program)
	dec := json.NewDecoder(bytes.NewReader(stored.Program))
	dec.DisallowUnknownFields() // a field of a later release must not be dropped in silence
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("decode program: %w", err)
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("decode program: %w", err)
	}
	return p, nil
}

type nodeJSON struct {
	Name string          `json:"name,omitempty"`
	Pos  Pos             `json:"pos,omitzero"`
	Ref  string          `json:"ref,omitempty"`
	Mark Mark            `json:"mark,omitempty"`
	Next NodeID          `json:"next,omitempty"`
	Out  NodeID          `json:"out,omitempty"`
	Op   string          `json:"op,omitempty"`
	Arg  json.RawMessage `json:"arg,omitempty"`
}

// MarshalJSON writes the operation with its name.
func (n Node) MarshalJSON() ([]byte, error) {
	out := nodeJSON{Name: n.Name, Pos: n.Pos, Ref: n.Ref, Mark: n.Mark, Next: n.Next, Out: n.Out}
	if n.Op != nil {
		arg, err := json.Marshal(n.Op)
		if err != nil {
			return nil, err
		}
		out.Op, out.Arg = n.Op.opName(), arg
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Node) UnmarshalJSON(data []byte) error {
	var in nodeJSON
	if err := strictUnmarshal(data, &in); err != nil {
		return err
	}
	*n = Node{Name: in.Name, Pos: in.Pos, Ref: in.Ref, Mark: in.Mark, Next: in.Next, Out: in.Out}
	if in.Op == "" {
		return nil
	}
	for _, op := range []Op{
		new(Eval), new(Branch), new(Call), new(Await), new(Emit), new(Fan), new(Enter), new(Spawn), new(Raise), new(Undo), new(End),
	} {
		if op.opName() == in.Op {
			n.Op = op
			return strictUnmarshal(in.Arg, op)
		}
	}
	return fmt.Errorf("unknown operation %q", in.Op)
}

func strictUnmarshal(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
