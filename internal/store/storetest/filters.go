package storetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// MostFound is how many instances a store is asked for in tests of what filters cost: as many as a server compares for a
// request, and one more.
const MostFound = 101

// MostCounted is how far a server has instances counted, and one more.
const MostCounted = 10_001

// Filter is a filter that people may ask for, and how many of [Mixed] instances it finds at once; -1: that depends.
type Filter struct {
	Text  string
	Finds int
}

// Filters reads those of the package of the grammar, in the folder query.
func Filters(query string) (out []Filter, err error) {
	text, err := os.ReadFile(filepath.Join(query, "testdata", "filters.txt"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := Filter{Text: line, Finds: -1}
		if text, finds, found := strings.Cut(line, " => "); found {
			f.Text = text
			if f.Finds, err = strconv.Atoi(finds); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// Mixed is the i-th of n instances, of which the last is created now, and one in ten seconds before. Of ten, nine
// are children of the first. Of twenty, six completed, three failed, and three are jobs; the others wait in one state, or in two; seven in the state Rare.
func Mixed(i, n int, now core.Time) store.Instance {
	order := fmt.Sprintf("A-%d", i)
	in := store.Instance{
		ID: fmt.Sprintf("i%07d", i), Name: "Order " + order, Key: fmt.Sprintf("k-%d", i), Indexed: true, Definition: "d", Version: "1", Digest: "x",
		Status: core.Waiting, Active: []string{"Charge"}, Created: now - core.Time(time.Duration(n-i)*10*time.Second),
		Labels: expr.Object(expr.Member{Key: "order", Value: expr.String(order)}, expr.Member{Key: "region", Value: expr.String("eu")}),
	}
	in.Updated = in.Created + core.Time(time.Duration(i%7)*time.Minute)
	if i%10 != 0 {
		in.Parent = fmt.Sprintf("i%07d", i-i%10)
	}
	switch i % 20 {
	case 1, 2, 3, 4, 5, 6:
		in.Status, in.Active = core.Completed, nil
	case 7, 8, 9:
		in.Status, in.Fault = core.Failed, &core.Fault{Name: "Timeout"}
	case 10, 11, 12:
		in.Definition, in.Digest, in.Parent, in.Key, in.Indexed = "j", "", "", "", false
		in.Job = store.Job{Client: fmt.Sprint("c", i/20%10), State: "NEW", Group: "OPEN"}
		in.Active = []string{"NEW"}
		in.Labels = expr.Object(expr.Member{Key: "tags", Value: expr.Array(expr.String("site-3"))})
	case 13:
		if i%1000 == 13 {
			in.Active = []string{"Charge", "Ship"}
		}
	case 14:
		if i/20%((n/20+6)/7) == 0 { // seven of them
			in.Active = []string{"Rare"}
		}
	}
	return in
}
