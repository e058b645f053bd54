package process

import (
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
)

// shell reads Open Workflow §Shell Process. The command is a file, of which a list of processes shows the name only; its
// arguments are $1 and so on.
func shell(in *reader, _ effect.Call) *program {
	list, named := in.arguments()
	for _, m := range named.Members() { // before 1.0.3; an object is in the order of its names
		list = append(list, "--"+in.argument("the name of an argument", expr.String(m.Key)), in.argument("arguments."+m.Key, m.Value))
	}
	return &program{
		files: map[string]string{"command": in.need("command")}, argv: append([]string{"sh", "../command"}, list...),
		stdin: in.stdin(), env: append(exec.Path(), in.environment()...), limits: in.limits,
	}
}
