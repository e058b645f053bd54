package postgres

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var flagPlants = flag.Bool("interleave.plants", false, "let TestInterleavedPlants plant all bugs in Go code, not only the first")

// sqlPlant is a bug in a function of the schema, and the operations among whose orders it must show.
type sqlPlant struct {
	name, function, old, new string
	by                       []string
}

var sqlPlants = []sqlPlant{
	{"what changed since the look is not compared", "route", "seen(p_ns, x_what[i], x_a[i], x_b[i], x_c[i], x_d[i]) <> x_sum[i]", "false", []string{"event c", "event d"}},
	{"an event that came meanwhile is not looked for", "route", "IF n_seq <> 0 THEN\n\t\tSELECT until", "IF false THEN\n\t\tSELECT until", []string{"event late", "event late"}},
	{"a routing takes no lock", "route", "PERFORM exclusive(p_ns);", "", []string{"event c", "event d"}},
	{"a commit takes no lock", "commit_batch", "END IF;\n\t\tPERFORM exclusive(p_ns);", "END IF;", []string{"event l", "o waits by l"}},
	{"revisions are not compared", "commit_batch", "o_rev[i] <> r_rev[i] OR ", "", []string{"step w", "step w"}},
	{"rows are not locked", "commit_batch", " FOR UPDATE) x ON", ") x ON", []string{"step w", "end w unread"}},
	{"deployments are not compared", "commit_batch", "r_deployed[i] <> 0 AND r_deployed[i] <> v_deployments", "false", []string{"deploy d", "start d"}},
	{"inboxes are not looked into", "commit_batch", " OR v_met[i]", "", []string{"event a", "end w unread"}},
	{"a content that is deleted meanwhile is not missed", "commit_batch", "absent(p_ns, p_needs) IS DISTINCT FROM o_absent", "false", []string{"o starts e", "delete e"}},
	{"a plain commit takes no lock", "commit_one", "PERFORM exclusive(p_ns);", "", []string{"event l", "o waits by l"}},
	{"a plain commit does not compare revisions", "commit_one", "x.rev = r_rev AND ", "", []string{"step w", "end w unread"}},
	{"a plain commit does not compare deployments", "commit_one", "r_deployed <> 0 AND", "false AND", []string{"deploy d", "start d"}},
	{"a plain commit does not look into inboxes", "commit_one", "r_unread AND", "false AND", []string{"event a", "end w unread"}},
	{"a plain commit does not miss a content", "commit_one", "r_need <> '' AND", "false AND", []string{"start e", "delete e"}},
	{"waits of a plain commit are not compared with kept events", "commit_one", "AND k.event > CASE", "AND false AND k.event > CASE", []string{"o waits", "event for o"}},
	{"what changed since the look is not compared with a step", "take_event", "seen(p_ns, x_what[i], x_a[i], x_b[i], x_c[i], x_d[i]) <> x_sum[i]", "false", []string{"event a with its step", "o waits as w does"}},
	{"an event with its step takes no lock", "take_event", "PERFORM exclusive(p_ns);", "", []string{"event a with its step", "another event a"}},
	{"an event that came meanwhile is not looked for before a step", "take_event", "IF FOUND THEN", "IF false THEN", []string{"event a with its step", "another event a"}},
	{"an event with its step does not compare deployments", "take_event", "p_deployed <> 0 AND", "false AND", []string{"event a with its step", "deploy d"}},
	{"a content is not missed by a routing", "route", "absent(p_ns, r_need || g_digest) IS NOT NULL", "false", []string{"event s", "delete e"}},
	{"waits are not compared with kept events", "commit_batch", "AND k.event > CASE", "AND false AND k.event > CASE", []string{"o waits", "event for o"}},
	{"a deletion takes no lock of the row", "delete_instance", " FOR UPDATE;", ";", []string{"m refuses", "delete m"}},
	{"events of a deleted inbox are not put back", "remove_instances", "PERFORM refuse(p_ns, r.inst, r.id, r.event, r.ticket, b[1]);", "", []string{"delete m", "event for m"}},
	{"a delivery closes a standing wait", "deliver", "u.ticket & 2147483648 = 0 AND ", "", []string{"event for v", "next event for v"}},
	{"what is on its way to a wait that goes stays there", "put_back", "i.status < 4", "i.status < 0", []string{"event for v", "v asks again"}},
	{"whoever takes over does not lock the node", "heartbeat", "node <> p_node FOR UPDATE SKIP LOCKED) g", "node <> p_node) g", []string{"a beats", "b beats"}},
	{"an epoch does not grow", "heartbeat", "epoch = s.epoch + 1", "epoch = s.epoch", []string{"a decides", "b beats and lists calls"}},
	{"calls are not handed over", "hand_over", "x.epoch < h.epoch", "x.epoch < 0", []string{"a decides", "b beats and lists calls"}},
	{"parts that are given back are taken from whoever has them", "heartbeat", "s.ns = p_ns AND s.owner = p_node AND s.shard = ANY (p_back)", "s.ns = p_ns AND s.shard = ANY (p_back)", []string{"a leaves", "b beats"}},
	{"a schedule moves from anywhere", "advance_schedule", " AND next = p_from AND fires = p_was;\n\tEND IF", ";\n\tEND IF", []string{"advance d", "advance d"}},
}

// goPlant is a bug in Go code.
type goPlant struct {
	name, file, old, new string
	by                   []string
}

var goPlants = []goPlant{
	{"a look begins with the event of the look before", "events.go", "kept.For = slices.DeleteFunc(slices.Clone(kept.For), func(id string) bool { return id == x.Instance })\n\t\t\t}\n\t\t}\n", "kept.For = slices.DeleteFunc(slices.Clone(kept.For), func(id string) bool { return id == x.Instance })\n\t\t\t}\n\t\t}\n\t\tcame = kept\n", []string{"event c", "event d"}},
	{"nobody got an event", "view.go", "got = got || err != nil || in.Fixed(keys)", "_ = in", []string{"end n", "route seven"}},
	{"what is looked at is not noted", "view.go", "if !v.noting || v.noted(l) {", "if true {", []string{"event c", "event d"}},
	{"the last look is without the lock", "route.go", "if err := t.exclusive(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tknown", "known", []string{"event c", "event d"}},
	{"a wait of a new kind does not see what is kept", "shapes.go", "return all.write(ctx, t)", "return nil", []string{"event l", "o waits by l"}},
	{"shapes are read once", "view.go", "v.notes = append(v.notes, note{look{What: \"h\"}, v.known.sum})", "", []string{"event l", "o waits by l"}},
	{"a transaction sees what was there when it began", "tx.go", "\"BEGIN; SET LOCAL", "map[bool]string{true: \"BEGIN\", false: \"BEGIN ISOLATION LEVEL REPEATABLE READ\"}[ns == 0] + \"; SET LOCAL", []string{"event g", "deploy d"}},
	{"an hour is not locked while it is added to", "tallies.go", " FOR UPDATE", "", []string{"tally", "tally two hours"}},
	{"a deployment takes no lock", "definitions.go", "err = s.transact(ctx, func(ctx context.Context, t *tx) (err error) {\n\t\tif err := t.exclusive(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tout = make", "err = s.transact(ctx, func(ctx context.Context, t *tx) (err error) {\n\t\tout = make", []string{"event g", "deploy d"}},
	{"a deletion of a definition takes no lock", "definitions.go", "heir = nil\n\t\tif err := t.exclusive(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n", "heir = nil\n", []string{"start e", "delete e"}},
}

// TestInterleavedPlants: bugs of the kind that this driver is for are found. Those in functions of the schema are
// planted into a database, those in Go code into a copy that takes the place of a file.
func TestInterleavedPlants(t *testing.T) {
	plain, gathering := newLab(t, 3), newLabOf(t, 3, Options{gather: true})
	for _, p := range sqlPlants {
		l := plain
		if p.function == commitFunction.name {
			l = gathering
		}
		lines := l.linesOf()
		restore, err := l.plant(p)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		before := l.tries
		var n int
		if nodes := leaseActionsNamed(p.by); len(nodes) > 0 {
			n, err = l.exploreLeases(lines, nodes...)
		} else {
			n, err = l.explore(actionsNamed(t, p.by)...)
		}
		if err == nil || !strings.Contains(err.Error(), "\nsteps:\n") {
			t.Errorf("%s: not found in %d orders of %q: %v", p.name, n, p.by, err)
		} else {
			t.Logf("%s: found in run %d of %q", p.name, l.tries-before, p.by)
		}
		restore()
	}
	for i, p := range goPlants {
		file, err := p.patch(t)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		if !*flagPlants && i > 0 {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-timeout=5m", "-overlay="+file, ".", "-run", "^TestInterleavedPairs$", "-interleave.only="+strings.Join(p.by, "|"))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "to see it again") {
			t.Errorf("%s: not found in orders of %q: %v\n%s", p.name, p.by, err, out)
			continue
		}
		t.Logf("%s: found in orders of %q", p.name, p.by)
	}
}

func actionsNamed(t *testing.T, names []string) (out []action) {
	all := slices.Concat(actions, houses)
	for _, name := range names {
		at := slices.IndexFunc(all, func(a action) bool { return a.name == name })
		if at < 0 {
			t.Fatalf("there is no operation %q", name)
		}
		out = append(out, all[at])
	}
	return out
}

func leaseActionsNamed(names []string) (out []leaseAction) {
	for _, a := range leaseActions {
		if slices.Contains(names, a.name) {
			out = append(out, a)
		}
	}
	return out
}

// plant puts a bug into a function of the database.
func (l *lab) plant(p sqlPlant) (restore func(), err error) {
	text := ""
	if err := l.base.one(ctx, "SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'lockstep' AND p.proname = $1", []any{p.function}, &text); err != nil {
		return nil, err
	}
	if n := strings.Count(text, p.old); n != 1 {
		return nil, fmt.Errorf("the function %s has the text %d times, not once; adapt the plant to the code: %q", p.function, n, p.old)
	}
	run := func(text string) error {
		_, err := l.base.pool.Exec(ctx, text)
		return err
	}
	restore = func() {
		if err := run(text); err != nil {
			l.t.Fatal(err)
		}
	}
	return restore, run(strings.Replace(text, p.old, p.new, 1))
}

// patch writes a copy with the bug, and a file for go test -overlay.
func (p goPlant) patch(t *testing.T) (overlay string, err error) {
	text, err := os.ReadFile(p.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), p.old); n != 1 {
		return "", fmt.Errorf("%s has the text %d times, not once; adapt the plant to the code: %q", p.file, n, p.old)
	}
	original, err := filepath.Abs(p.file)
	if err != nil {
		return "", err
	}
	dir := t.TempDir()
	copied, overlay := filepath.Join(dir, p.file), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: copied}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(copied, []byte(strings.Replace(string(text), p.old, p.new, 1)), 0o600)
}
