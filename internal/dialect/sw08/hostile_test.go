package sw08

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// TestRepeatedParts: what a short document repeats at each use counts, before memory is taken for it.
func TestRepeatedParts(t *testing.T) {
	list := func(n int, format string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprintf(format, i)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	use := func(n int, action string) string {
		return fmt.Sprintf("[{name: a, type: operation, actions: %s, end: true}]", list(n, action))
	}
	for name, source := range map[string]string{
		"functions in expressions": "id: x\nspecVersion: '0.8'\nfunctions: [{name: f, type: expression, operation: '" + strings.Repeat(".a + ", 2000) + "1'}]\n" +
			"states: [{name: a, type: inject, data: {x: " + list(2000, "'${fn:f}'#%d\n") + "}, end: true}]",
		"errors": "id: x\nspecVersion: '0.8'\nfunctions: [{name: f}]\nretries: [{name: r, maxAttempts: 1}]\nerrors: " + list(1000, "{name: e%d, code: '1'}") +
			"\nstates: " + use(1000, "{functionRef: f, retryRef: r, name: n%d}"),
		"policies": "name: x\nspecVersion: '0.9'\nversion: 1.0.0\nfunctions: [{name: f}]\nerrors: {policies: [{name: p, handlers: " + list(1000, "{when: [{status: %d}]}") +
			"}]}\nstates: " + use(1000, "{functionRef: f, onErrors: p, name: n%d}"),
	} {
		t.Run(name, func(t *testing.T) {
			c, found := dialect.NewRegistry(FrontEnds()...).Compile("x.yaml", []byte(source), nil, dialect.Options{})
			if c.Program != nil || !strings.Contains(fmt.Sprint(found), "definition-steps") {
				t.Errorf("program %t, %.400v", c.Program != nil, found)
			}
		})
	}
}
