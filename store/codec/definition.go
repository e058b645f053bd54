package codec

import (
	"encoding/json"

	"github.com/lockstep-workflows/lockstep/store"
)

// EditionOf is the edition of the core's semantics that a program was compiled for.
func EditionOf(program []byte) int64 {
	var p struct {
		Edition int64 `json:"edition"`
	}
	if json.Unmarshal(program, &p) != nil {
		return 0
	}
	return p.Edition
}

// DefinitionInfo is a definition without what has a column, as JSON.
func DefinitionInfo(d store.Definition) (string, error) {
	d.Program, d.Source, d.Current = nil, nil, false
	b, err := json.Marshal(d)
	return string(b), err
}
