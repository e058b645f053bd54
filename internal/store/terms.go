package store

import "slices"

// A term is a text by which stores find an instance without being told the name of a label: its kind, then the
// text itself.
const (
	termName  = "#"
	termKey   = "%" // of the start, or the value of a correlation attribute
	termValue = "*" // of any label
	termTree  = "^" // of an instance that is not over
)

// Terms are the terms of an instance, sorted.
func (in *Instance) Terms() (out []string) {
	add := func(kind, text string) {
		if text != "" {
			out = append(out, kind+text)
		}
	}
	add(termName, in.Name)
	add(termKey, in.Key)
	if !in.Status.Final() {
		add(termTree, in.Tree)
	}
	if in.Indexed {
		for _, k := range in.Keys {
			add(termKey, k.Value)
		}
		if in.Labels.IsObject() {
			for _, m := range in.Labels.Members() {
				for _, text := range LabelTexts(m.Value) {
					add(termValue, text)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AllTerms are the terms that an instance must have, each of them.
func (q *Query) AllTerms() (out []string) {
	if q.Name != "" {
		out = append(out, termName+q.Name)
	}
	if q.Key != "" {
		out = append(out, termKey+q.Key)
	}
	if q.Tree != "" {
		out = append(out, termTree+q.Tree)
	}
	return out
}

// TextTerms are the terms of which an instance must have one, unless Text is its ID.
func (q *Query) TextTerms() []string {
	if q.Text == "" {
		return nil
	}
	return []string{termName + q.Text, termKey + q.Text, termValue + q.Text}
}

// finds reports whether an instance has the name, key, tree and text that the query asks for.
func (q *Query) finds(in *Instance) bool {
	if q.Name == "" && q.Key == "" && q.Tree == "" && q.Text == "" {
		return true
	}
	have := in.Terms()
	has := func(term string) bool { _, ok := slices.BinarySearch(have, term); return ok }
	for _, term := range q.AllTerms() {
		if !has(term) {
			return false
		}
	}
	return q.Text == "" || q.Text == in.ID || slices.ContainsFunc(q.TextTerms(), has)
}
