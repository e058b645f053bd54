package process

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
)

// engines are the clients of container engines, in the order in which they are looked for.
var engines = []string{"podman", "docker"}

// engineVariables are what a client needs of the environment of this process: where its engine is, and its own settings.
var engineVariables = []string{
	"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "SYSTEMROOT", "CONTAINER_HOST", "CONTAINERS_CONF",
	"DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "DOCKER_API_VERSION",
}

// tidyTime is how long the engine may take to find, kill or remove a container (limit container-cleanup-time).
const tidyTime = 30 * time.Second

// engineFailed is the exit code of a client whose engine did not run the container.
const engineFailed = 125

// label marks the container of a call.
const label = "lockstep.call"

// box is the container of a call.
type box struct {
	engine  string   // its client
	env     []string // of the client
	id      string   // of the call, by which the container is found
	cleanup string
	after   time.Duration
}

// container reads Open Workflow §Container Process.
func container(in *reader, c effect.Call) *program {
	b := &box{id: callID(c.Key), cleanup: "never"}
	for _, name := range engines {
		if found, err := osexec.LookPath(name); err == nil && b.engine == "" {
			b.engine = found
		}
	}
	if b.engine == "" {
		in.fail("no container engine is installed here: neither %s is in PATH", strings.Join(engines, " nor "))
		return nil
	}
	for _, name := range engineVariables {
		if value, ok := os.LookupEnv(name); ok {
			b.env = append(b.env, name+"="+value)
		}
	}
	b.lifetime(in)
	p := &program{
		engine: true, argv: b.run(in, c), stdin: in.stdin(), env: append([]string{keyVariable + "=" + c.Key}, b.env...),
		before: b.removeOld, after: b.over, problem: engineProblem,
	}
	for _, entry := range in.environment() { // after what the client needs itself
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(engineVariables, name) {
			in.fail("the environment variable %s is that of the container engine; set it in the command", name)
		} else if strings.HasSuffix(name, "*") { // podman would pass on all variables of its own that begin so
			in.fail("%q is not the name of an environment variable", name)
		}
		p.env = append(p.env, entry)
	}
	return p
}

// run is the command line that runs the container. Of variables it has the names only: values may be secrets, and
// come from the environment of the client.
func (b *box) run(in *reader, c effect.Call) []string {
	argv := []string{b.engine, "run", "--name", in.containerName(c, b.id), "--label", label + "=" + b.id}
	if b.cleanup == "always" {
		argv = append(argv, "--rm")
	}
	pull, known := map[string]string{"": "missing", "ifNotPresent": "missing", "always": "always", "never": "never"}[in.text("pullPolicy")]
	if !known {
		in.fail("pullPolicy must be ifNotPresent, always or never")
	}
	argv = append(argv, "--pull", pull)
	if !in.get("stdin").IsNull() {
		argv = append(argv, "--interactive")
	}
	argv = append(argv, in.mapping("ports", "--publish")...)
	argv = append(argv, in.mapping("volumes", "--volume")...)
	argv = append(argv, "--env", keyVariable)
	for _, m := range in.get("environment").Members() {
		if !m.Value.IsNull() {
			argv = append(argv, "--env", in.argument("the name of an environment variable", expr.String(m.Key)))
		}
	}
	image := in.argument("image", expr.String(in.need("image")))
	if strings.HasPrefix(image, "-") {
		in.fail("image must not begin with -: %q", image)
	}
	argv = append(argv, image)
	if command := in.get("command"); !command.IsNull() {
		argv = append(argv, "sh", "-c", in.argument("command", expr.String(in.need("command"))), "sh")
	}
	list, named := in.arguments()
	if !named.IsNull() {
		in.fail("arguments must be a list of texts, not an object")
	}
	return append(argv, list...)
}

// mapping reads ports or volumes: what is outside, and what is in the container.
func (r *reader) mapping(name, option string) (out []string) {
	v := r.get(name)
	if !v.IsNull() && !v.IsObject() {
		r.fail("%s must be an object, not %s", name, v.Kind().WithArticle())
	}
	for _, m := range v.Members() {
		outside := r.argument("the name of a member of "+name, expr.String(m.Key))
		out = append(out, option, outside+":"+r.argument(name+"."+m.Key, m.Value))
	}
	return out
}

// nameForm is what engines take as a name, and notName what stands for other characters.
var (
	nameForm = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]+$`)
	notName  = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)
)

// containerName is the name of the container, by default as the specification recommends it:
// {workflow.name}-{uuid}.{workflow.namespace}-{task.name}.
func (r *reader) containerName(c effect.Call, id string) string {
	if name := r.text("name"); name != "" {
		if !nameForm.MatchString(name) {
			r.fail("%q cannot be the name of a container: letters, digits, _, . and - can stand in it, and it begins with a letter or a digit", name)
		}
		return r.argument("name", expr.String(name))
	}
	workflow, _ := expr.ParseJSON([]byte(cmp.Or(c.Metadata, "{}"))) // an error gives null, which has no members
	name := effect.Name(workflow, "name") + "-" + id + "." + effect.Name(workflow, "namespace") + "-" + c.Function
	return strings.TrimLeft(notName.ReplaceAllString(name, "_"), "_.-")
}

// callID is a key in the form of a UUID: the same for every delivery of a call.
func callID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// lifetime reads Open Workflow §Container Lifetime.
func (b *box) lifetime(in *reader) {
	v := in.get("lifetime")
	if v.IsNull() {
		return
	}
	b.cleanup = effect.Name(v, "cleanup")
	switch after, _ := v.Get("after"); b.cleanup {
	case "always", "never":
	case "eventually":
		var err error
		if b.after, err = durationOf(after); err != nil {
			in.fail("lifetime.after: %v", err)
		}
	default:
		in.fail("lifetime.cleanup must be always, never or eventually")
	}
}

// durationOf reads a duration: an object of amounts, or a text of ISO 8601.
func durationOf(v expr.Value) (time.Duration, error) {
	if v.Kind() == expr.KindString {
		d, err := calendar.ParseDuration(v.Str())
		now := time.Now()
		if err != nil {
			return 0, err
		}
		return d.AddTo(now).Sub(now), nil
	}
	if !v.IsObject() {
		return 0, errors.New("it must be a duration, not " + v.Kind().WithArticle())
	}
	var out time.Duration
	for _, m := range v.Members() {
		unit, known := units[m.Key]
		n, whole := m.Value.Int()
		if !known || !whole || n < 0 {
			return 0, fmt.Errorf("%s: %s is not an amount of time", m.Key, m.Value)
		}
		out += time.Duration(min(n, int64(longest/unit))) * unit
	}
	return out, nil
}

// longest is more than any server lives.
const longest = 50 * 365 * 24 * time.Hour

var units = map[string]time.Duration{"days": 24 * time.Hour, "hours": time.Hour, "minutes": time.Minute, "seconds": time.Second, "milliseconds": time.Millisecond}

// engineProblem is why the engine did not run the container.
func engineProblem(r exec.Result) error {
	if r.Code != engineFailed {
		return nil
	}
	return errors.New("the container engine did not run the container: " + lastLine(r.Stderr))
}

// client runs a command of the engine.
func (b *box) client(ctx context.Context, args ...string) (exec.Result, error) {
	r, err := exec.Run(ctx, exec.Command{
		Argv: append([]string{b.engine}, args...), Env: b.env, Dir: os.TempDir(), Timeout: tidyTime, Named: "limit container-cleanup-time",
	})
	if err == nil && r.Code != 0 {
		err = fmt.Errorf("%s exited with %d: %s", args[0], r.Code, lastLine(r.Stderr))
	}
	return r, err
}

// removeOld removes the container of the same call that an earlier delivery left behind.
func (b *box) removeOld(ctx context.Context) error {
	return b.tidy(ctx, []string{"rm", "--force"}, "--all")
}

// tidy does something with the containers of the call, which are one at most.
func (b *box) tidy(ctx context.Context, command []string, which ...string) error {
	r, err := b.client(ctx, append([]string{"ps", "--quiet", "--filter", "label=" + label + "=" + b.id}, which...)...)
	if ids := strings.Fields(string(r.Stdout)); err == nil && len(ids) > 0 {
		_, err = b.client(ctx, append(command, ids...)...)
	}
	if err != nil {
		return fmt.Errorf("the container of an earlier delivery of this call could not be found or removed: %w", err)
	}
	return nil
}

// over does what is left to do when the client is gone. Where that was killed, the container may run: the engine
// is another process.
func (b *box) over(killed bool) {
	ctx := context.Background()
	switch {
	case killed && b.cleanup == "always":
		_ = b.removeOld(ctx)
	case killed:
		_ = b.tidy(ctx, []string{"kill"})
	}
	if b.cleanup == "eventually" {
		time.AfterFunc(b.after, func() { _ = b.removeOld(ctx) })
	}
}
