package scenario

import (
	_ "embed" // of schema.json
	"slices"
)

// Schema returns the JSON Schema of scenario files, for editors. It accepts
// whatever [Parse] accepts; its properties stand in the order of meaning.
func Schema() []byte { return slices.Clone(schemaJSON) }

//go:embed schema.json
var schemaJSON []byte
