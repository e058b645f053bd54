package process

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"regexp"
	"strconv"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/process/javascript"
)

// Scripts knows the scripts that stand in files of their own.
type Scripts struct{}

var _ pin.Kind = Scripts{}

// Find opens the source of a script.
func (Scripts) Find(f *pin.Finder, fn pin.Function) string {
	ref := fn.Operation.Document
	if ref == "" {
		return ""
	}
	if _, err := f.Open(ref); err != nil {
		f.Failf(fn.Document, err, pin.CodeDocument, "script %q: %v", fn.Name, err)
		return ""
	}
	return ref
}

// script reads Open Workflow §Script Process.
func script(in *reader, c effect.Call) *program {
	code := in.text("code")
	if source := in.get("source"); !source.IsNull() {
		if c.Documents.Root == 0 {
			in.fail("the source of the script could not be opened when the definition was deployed (CALL001)")
			return nil
		}
		code = c.Documents.All[c.Documents.Root-1].Text
	}
	p := &program{stdin: in.stdin(), env: append(exec.Path(), in.environment()...), limits: in.limits}
	list, named := in.arguments()
	switch language := in.need("language"); language {
	case "js":
		in.javascript(p, code, list, named)
	case "python":
		in.python(p, code, list, named)
	default:
		in.fail("the language of a script is js or python, not %q", language)
	}
	return p
}

// javascript runs a script in this program, started once more. That sets the limits itself: it needs no shell.
func (r *reader) javascript(p *program, code string, list []string, named expr.Value) {
	self, err := os.Executable()
	switch {
	case !javascript.Enabled():
		r.fail("%v", errNoHook)
	case err != nil:
		r.fail("JavaScript runs in this program, started once more, which cannot be found: %v", err)
	}
	p.files = map[string]string{"script.js": code}
	variables := ""
	if !named.IsNull() {
		variables = "../arguments.json"
		p.files["arguments.json"] = named.String()
	}
	p.argv = append([]string{self, javascript.Argument, strconv.FormatInt(r.limits.Memory, 10), variables, "../script.js"}, list...)
	p.limits = exec.Limits{}
	memory := r.limits.Memory
	p.problem = func(r exec.Result) error {
		if r.Code == 2 && noMemory.MatchString(r.Stderr) {
			return fmt.Errorf("the program needs more than %d bytes of memory (limit program-memory)", memory)
		}
		return nil
	}
}

var (
	errNoHook = errors.New("JavaScript is not available in this program: call lockstep.RunScript first in its main function")
	// noMemory is how a Go program, as the child is, ends that gets no memory.
	noMemory = regexp.MustCompile(`(?m)^fatal error: .*(out of memory|allocate memory)`)
)

// withVariables is a program in Python that runs another one with the members of an object as variables.
const withVariables = `import json, runpy, sys
named = json.load(open(sys.argv[2], encoding="utf-8"))
sys.argv = sys.argv[1:2]
runpy.run_path(sys.argv[0], init_globals=named, run_name="__main__")`

// python runs a script with the python3 of PATH.
func (r *reader) python(p *program, code string, list []string, named expr.Value) {
	if _, err := osexec.LookPath("python3"); err != nil {
		r.fail("Python is not installed here: %v", err)
	}
	p.files = map[string]string{"script.py": code}
	if named.IsNull() {
		p.argv = append([]string{"python3", "../script.py"}, list...)
		return
	}
	p.files["arguments.json"] = named.String()
	p.argv = []string{"python3", "-c", withVariables, "../script.py", "../arguments.json"}
}
