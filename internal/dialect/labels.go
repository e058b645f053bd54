package dialect

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Label is a label that a definition declares for its instances, or, called [ir.LabelName], their name.
type Label struct {
	Key   string
	Value *Node // a text, which may have expressions over the workflow input; a number or a boolean
}

// The keys of metadata that say what instances are called and found by. Every version of the language allows
// keys of an author's own there, and texts as their values.
const (
	metaPrefix = "lockstep."
	metaName   = metaPrefix + "name"
	metaLabel  = metaPrefix + "label."
)

// Labels reads what a definition's metadata says about the names and labels of its instances. Keys that do not
// begin with "lockstep." are the author's.
func (r *Reader) Labels(metadata *Node) (out []Label) {
	if !metadata.Is(expr.KindObject) {
		return nil
	}
	for _, m := range metadata.Members {
		key, ours := m.Name(), strings.HasPrefix(m.Name(), metaPrefix)
		label, isLabel := strings.CutPrefix(key, metaLabel)
		switch problem := ir.CheckLabelName(label); {
		case !ours, strings.HasPrefix(key, metaSchedule):
			continue
		case key == metaName:
			label = ir.LabelName
		case !isLabel:
			d := r.Warnf(m, CodeLabel, "%q is not known, and ignored", key)
			if d.WithHint("write %s, or %sKEY", metaName, metaLabel); Suggest(key, []string{metaName}) != "" {
				d.WithHint("did you mean %q?", metaName)
			}
			continue
		case problem != "":
			r.Errorf(m, CodeLabel, "%s: %s", key, problem)
			continue
		}
		switch m.Kind {
		case expr.KindString, expr.KindNumber, expr.KindBool:
			out = append(out, Label{label, m})
		default:
			r.Errorf(m, CodeLabel, "%s must be a text, which may be an expression over the workflow input", key)
		}
	}
	if len(out) > ir.MaxLabels {
		r.Errorf(metadata, CodeLabel, "%d labels are more than %d (limit instance-labels)", len(out), ir.MaxLabels)
		return nil
	}
	return out
}
