package store

import (
	"context"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// Note is a small document that servers share beside instances: a session of the page, a revocation.
type Note struct {
	Kind, Key string // together they identify it
	Value     string
	Until     core.Time // it is forgotten afterwards; 0: never
}

// CheckText refuses a note that has a name that is not stored: an ErrText.
func (n *Note) CheckText() error {
	return checkText("note", named{"kind", n.Kind}, named{"key", n.Key}, named{"value", n.Value})
}

// Forgotten is how many expired notes, or old entries, a write forgets besides: more than it adds, so that
// they do not accumulate.
const Forgotten = 16

// Notes keeps notes.
type Notes interface {
	// PutNote stores a note in place of one with the same kind and key, and forgets some of the notes that
	// expired before now.
	PutNote(ctx context.Context, n Note, now core.Time) error

	// Note returns a note, or ErrNotFound. It may have expired.
	Note(ctx context.Context, kind, key string) (Note, error)

	// Notes lists notes of a kind by key, those after a key. Some may have expired.
	Notes(ctx context.Context, kind, after string, limit int) ([]Note, error)

	// DeleteNote removes a note, and reports whether there was one.
	DeleteNote(ctx context.Context, kind, key string) (bool, error)
}

// Entry is an entry of the audit log: what somebody changed.
type Entry struct {
	Seq                    int64  // given by the store
	ID                     string // chosen by the caller: an entry that is appended again is not there twice
	At                     core.Time
	Who, Operation, Target string
	Detail                 string
}

// CheckText refuses an entry that has a text that is not stored: an ErrText.
func (e *Entry) CheckText() error {
	return checkText("audit entry", named{"id", e.ID}, named{"who", e.Who}, named{"operation", e.Operation}, named{"target", e.Target}, named{"detail", e.Detail})
}

// EntryQuery selects entries. Texts that are empty select all.
type EntryQuery struct {
	Who, Operation, Target string
	Before                 int64 // a Seq: only older ones; 0: from the newest on
	Limit                  int
}

// Matches reports whether the query selects an entry, apart from Limit.
func (q *EntryQuery) Matches(e *Entry) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return is(q.Who, e.Who) && is(q.Operation, e.Operation) && is(q.Target, e.Target) && (q.Before == 0 || e.Seq < q.Before)
}

// Audit keeps the audit log. Entries are appended and never changed.
type Audit interface {
	// AppendEntry appends an entry, and forgets some of those that are older than an instant.
	AppendEntry(ctx context.Context, e Entry, oldest core.Time) error

	// Entries lists entries, the newest first.
	Entries(ctx context.Context, q EntryQuery) ([]Entry, error)
}
