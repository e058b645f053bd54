package javascript

import "testing"

func TestImports(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"import fs from 'fs'\nfs", "const fs = require('fs');\nfs"},
		{"/* a\nb */ import * as p from \"node:process\"; p", "/* a\nb */ const p = require(\"node:process\"); p"},
		{"import {\n  readFileSync as read,\n} from 'fs';\nread(0)", "const {\n  readFileSync: read,\n} = require('fs');\nread(0)"},
		{"import\n'fs'\nx", "require('fs');\n\nx"},
		{"let a = `\nimport fs from 'fs'`", "let a = `\nimport fs from 'fs'`"},
		{"1\nimport fs from 'fs'", "1\nimport fs from 'fs'"},
		{"importantly('x')", "importantly('x')"},
		{"", ""},
	} {
		if got := imports(c.code); got != c.want {
			t.Errorf("%q:\n%q\nwant\n%q", c.code, got, c.want)
		}
	}
}
