package scenario

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
)

// File is one scenario file.
type File struct {
	Path      string
	Document  *dialect.Document // for showing diagnostics with their lines
	Workflows []Workflow        // the first is tested, the others are there for it
	Scenarios []Scenario
}

// Workflow is a definition that a file names.
type Workflow struct {
	Path string // relative to the working directory, as the file's own path is
	At   dialect.Span
}

// Scenario is one test.
type Scenario struct {
	Name     string
	At       dialect.Span
	Clock    time.Time // when virtual time begins
	Input    expr.Value
	HasInput bool
	Mocks    mock.Mocks
	mockAt   map[string]dialect.Span // where the name of each mock stands
	Events   []Event
	Client   string // whose job it is; jobs only
	Takes    []Take
	Until    *calendar.Duration    // virtual time ends then, and schedules fire until then; nil: they fire once
	Secrets  map[string]expr.Value // that definitions may use
	Expect   Expect
}

// Event is a CloudEvent that arrives some virtual time after the start.
type Event struct {
	After calendar.Duration
	Value expr.Value // the event as an object: attributes and data
	At    dialect.Span
}

// Take is a status that an actor of a job sends: a move, or news of the same state.
type Take struct {
	After    calendar.Duration // where none is written, that of the take before
	Client   string            // whose job it moves, where the workflow under test creates jobs
	Actor    string
	State    string
	Status   expr.Value // progress, message and the like
	Rejected bool       // the move must be refused
	At       dialect.Span
}

// Expect is what must come of a scenario. What is absent is not compared, but an
// instance that fails without a word of it in Expect fails the scenario.
type Expect struct {
	Status    string // "" when not given
	Output    *expr.Value
	Error     *expr.Value // an object; a subset of the fault
	Path      *[]string
	Calls     *[]ExpectCall
	Produced  *[]expr.Value // each a subset of an event
	Lifecycle *[]expr.Value // each a subset of a lifecycle event; others may lie between
	State     string
	Elapsed   *calendar.Duration
	Instances *int64
	At        dialect.Span
}

// ExpectCall is one call of a function.
type ExpectCall struct {
	Function  string
	Arguments *expr.Value
}

// The statuses a scenario can expect.
const (
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusCancelled = "cancelled"
	StatusWaiting   = "waiting" // nothing more can happen, and the instance is not over
	StatusNone      = "none"    // no instance was created
)

var statuses = []string{StatusCompleted, StatusFailed, StatusCancelled, StatusWaiting, StatusNone}

// defaultClock is where virtual time begins unless a scenario says otherwise.
var defaultClock = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// IsFile reports whether a file name is that of a scenario file.
func IsFile(name string) bool {
	for _, suffix := range []string{"_test.yaml", "_test.yml", "_test.json"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// Load reads a scenario file. Mistakes in it come as [dialect.Diagnostics], all of
// them; the File is then there too, for its Document.
func Load(ctx context.Context, path string) (*File, error) {
	src, err := dialect.ReadFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// Parse is Load for text that is already at hand. Definitions are looked for
// beside path.
func Parse(path string, src []byte) (*File, error) {
	doc, found := dialect.Read(path, src)
	f := &File{Path: path, Document: doc}
	d := newDecoder(path)
	switch root := doc.Root; {
	case root == nil:
	case (root.Get("states") != nil || root.Get("do") != nil) && root.Get("scenarios") == nil:
		ext := filepath.Ext(path)
		d.Errorf(root.Pos(), codeMissing, "this is a definition, not a scenario file").
			WithHint("scenarios stand beside it, in %s", strings.TrimSuffix(filepath.Base(path), ext)+"_test"+ext)
	default:
		d.file(f, root)
	}
	if found = d.all(found); found.HasErrors() {
		return f, found
	}
	return f, nil
}

// Find returns the scenario files among the paths, and those below the ones that
// are directories, sorted within each. A file that is named is taken whatever
// its name. Directories whose name begins with a dot are passed over.
func Find(paths ...string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		below, err := dialect.FindFiles(path, func(entry fs.DirEntry) bool { return IsFile(entry.Name()) })
		if err != nil {
			return nil, fmt.Errorf("look for scenario files: %w", err)
		}
		files = append(files, below...)
	}
	if len(files) == 0 {
		return nil, ErrNoFiles
	}
	return files, nil
}

// ErrNoFiles says that there is no scenario file.
var ErrNoFiles = errors.New("no scenario files found; they are named *_test.yaml, *_test.yml or *_test.json")
