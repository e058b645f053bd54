//go:build unix

package docs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/nodetest"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/wfxdb/wfxtest"
)

// shownStore is the address of a PostgreSQL, as pages show it.
const shownStore = "postgres://lockstep@db.example/lockstep"

// reader carries out a page in a folder of its own, with one shell.
type reader struct {
	t     *testing.T
	store string // the address of a PostgreSQL; "": the page has not asked for one yet
	dir   string
	env   []string
	shell *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader

	server *server
}

// server is a "lockstep serve" or "dev" that runs beside the shell.
type server struct {
	cmd          *exec.Cmd
	north, south string
	log          nodetest.Buffer
	done         chan struct{}
}

// Where a server listens by default, as pages show it.
const (
	shownNorth = "http://127.0.0.1:8081"
	shownSouth = "http://127.0.0.1:8080"
)

// newReader starts a shell in an empty folder that has the examples of the repository, and a database of wfx.
func newReader(t *testing.T, program string) *reader {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	if err := wfxtest.Write(filepath.Join(dir, "wfx.db"), wfxtest.Fleet()); err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, dir: dir, env: []string{
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC",
		"TMPDIR=" + t.TempDir(), "NO_COLOR=1", "PS1=", "EDITOR=true",
	}}
	r.shell = exec.Command("bash", "--noprofile", "--norc")
	r.shell.Dir, r.shell.Env = dir, r.env
	r.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what runs in the background ends with it
	if r.in, err = r.shell.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.shell.Stdout, r.shell.Stderr, r.out = write, write, bufio.NewReader(out)
	if err := r.shell.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	t.Cleanup(func() {
		r.stop()
		r.in.Close()
		_ = syscall.Kill(-r.shell.Process.Pid, syscall.SIGKILL)
		_ = r.shell.Wait()
		out.Close()
	})
	return r
}

// patience is how long a command may take; it is for commands that never end.
const patience = 3 * time.Minute

// mark ends the output of a command. Nothing else prints it.
const mark = "\x01\x02end "

// run runs a command and returns what it printed, and whether it succeeded.
func (r *reader) run(command string) (lines []string, ok bool, err error) {
	if isServer(command) {
		return r.serve(command)
	}
	if _, err := fmt.Fprintf(r.in, "%s </dev/null\nprintf '\\n\\001\\002end %%d\\n' $?\n", groupOf(r.actual(command))); err != nil {
		return nil, false, err
	}
	stuck := time.AfterFunc(patience, func() { _ = syscall.Kill(-r.shell.Process.Pid, syscall.SIGKILL) })
	defer stuck.Stop()
	var b strings.Builder
	for {
		line, err := r.out.ReadString('\n')
		if err != nil {
			return nil, false, fmt.Errorf("it does not end, or ended the shell; it printed\n%s", b.String())
		}
		if code, found := strings.CutPrefix(line, mark); found {
			return split(r.asShown(b.String())), code == "0\n", nil
		}
		b.WriteString(line)
	}
}

// groupOf lets the input of a whole command line be redirected. An assignment or a cd must stay in this shell.
func groupOf(command string) string { return "{ " + command + "\n}" }

func split(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func isServer(command string) bool {
	return strings.HasPrefix(command, "lockstep serve") && !strings.Contains(command, "--check") && !strings.Contains(command, "--help") ||
		strings.HasPrefix(command, "lockstep dev")
}

// actual puts the addresses of the server and of PostgreSQL into a command, asShown takes them out of what it prints.
func (r *reader) actual(text string) string {
	if strings.Contains(text, shownStore) {
		if r.store == "" {
			r.store = pgtest.Start(r.t).Database(r.t)
		}
		text = strings.ReplaceAll(text, shownStore, "'"+r.store+"'")
	}
	if r.server == nil {
		return text
	}
	north, south := strings.TrimPrefix(r.server.north, "http://"), strings.TrimPrefix(r.server.south, "http://")
	return strings.NewReplacer("127.0.0.1:8081", north, "127.0.0.1:8080", south, "localhost:8081", north, "localhost:8080", south).Replace(text)
}

func (r *reader) asShown(text string) string {
	if r.store != "" {
		text = strings.ReplaceAll(text, r.store, shownStore)
	}
	if r.server == nil {
		return text
	}
	return strings.NewReplacer(strings.TrimPrefix(r.server.north, "http://"), strings.TrimPrefix(shownNorth, "http://"),
		strings.TrimPrefix(r.server.south, "http://"), strings.TrimPrefix(shownSouth, "http://"), " --url "+shownNorth, "").Replace(text)
}

// serve starts a server on free ports, waits until it serves, and tells the shell where.
func (r *reader) serve(command string) (lines []string, ok bool, err error) {
	r.stop()
	s := &server{done: make(chan struct{})}
	files, err := os.MkdirTemp(r.dir, ".addresses")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(files)
	north, south := filepath.Join(files, "north"), filepath.Join(files, "south")
	where, err := r.folder()
	if err != nil {
		return nil, false, err
	}
	command = strings.TrimSuffix(strings.TrimSpace(command), "&")
	s.cmd = exec.Command("bash", "-c", "exec "+r.actual(command)+` --addr-file "$0" --south-addr-file "$1"`, north, south)
	s.cmd.Dir, s.cmd.Env = where, append(r.env, "LOCKSTEP_NORTH=127.0.0.1:0", "LOCKSTEP_SOUTH=127.0.0.1:0")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, false, err
	}
	go func() { _ = s.cmd.Wait(); close(s.done) }()
	for addresses := 0; addresses < 2; {
		select {
		case <-s.done:
			return split(s.log.String()), false, nil
		case <-time.After(20 * time.Millisecond): // until it serves or ends
		}
		addresses = 0
		for _, f := range []struct {
			file string
			to   *string
		}{{north, &s.north}, {south, &s.south}} {
			if text, err := os.ReadFile(f.file); err == nil && len(text) > 0 {
				*f.to = "http://" + strings.TrimPrefix(strings.TrimSpace(string(text)), "http://")
				addresses++
			}
		}
	}
	r.server = s
	_, _, err = r.run("export LOCKSTEP_URL=" + s.north + " LOCKSTEP_SOUTH_URL=" + s.south)
	return split(r.asShown(s.log.String())), true, err
}

// folder is where the shell is.
func (r *reader) folder() (string, error) {
	lines, _, err := r.run("pwd")
	return strings.Join(lines, ""), err
}

// stop ends the server.
func (r *reader) stop() {
	if r.server == nil {
		return
	}
	_ = r.server.cmd.Process.Signal(os.Interrupt)
	select {
	case <-r.server.done:
	case <-time.After(30 * time.Second): // a call that waits may hold it up
		_ = r.server.cmd.Process.Kill()
		<-r.server.done
	}
	r.server = nil
}
