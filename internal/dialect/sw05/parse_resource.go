package sw05

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// schema reads the JSON Schema at a URI.
func (p *parser) schema(f *dialect.Fields, key string) *schema {
	n := f.Str(key)
	if n == nil {
		return nil
	}
	text := p.resources.SchemaAt(n, key)
	if text == "" {
		return nil
	}
	return &schema{node: n, text: text}
}
