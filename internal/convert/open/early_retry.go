package open

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// unwanted are tasks that fail where an answer is one that a retry is for.
func (e *early) unwanted(a *sw01.Action) []*task {
	var out []*task
	sc := newScope()
	for _, r := range a.Retries {
		word, isResult := e.result(r)
		if !isResult {
			continue
		}
		e.answered(a)
		out = append(out, &task{name: sc.name("unwanted " + word), value: obj(
			"if", str(wanted(word)), "raise", obj("error", obj("type", str(resultType), "status", expr.Int(500), "title", str("Result "+word))))})
	}
	return out
}

// resultType is the type of the error that an unwanted answer becomes.
const resultType = "urn:unwanted-result"

// wanted is whether an answer equals a word: also a number or a boolean that is spelled so.
func wanted(word string) string {
	if n, err := expr.Number(strings.TrimSpace(word)); err == nil {
		return fmt.Sprintf("IN(%s, %s)", n, text(word))
	}
	switch word {
	case "true", "false", "null":
		return fmt.Sprintf("IN(%s, %s)", word, text(word))
	}
	return ". == " + text(word)
}

// answered notes that a function is assumed to answer something: without an answer the data would be compared.
func (e *early) answered(a *sw01.Action) {
	e.assume(a.Pos, "function "+quote(a.Function)+" always answers something")
	e.calls.Answering[a.Function] = true
}

// result is what a retry matches that may be an answer.
func (e *early) result(r *sw01.Retry) (word string, ok bool) {
	word = r.Match.Str()
	if r.Match.Kind() != expr.KindString {
		word = r.Match.String()
	}
	switch word {
	case sw01.SysMatchAny, "*", sw01.SysTimeout, sw01.SysFilterError, sw01.SysPermission, sw01.SysInvalidParameter, sw01.SysFail:
		return word, false
	}
	return word, !slices.Contains(e.opts.Errors, word)
}

// retried is a call with its retries: a try for each, the first outermost. When its attempts are used up, the error
// goes on, or leads to another state.
func (e *early) retried(name string, a *sw01.Action, tasks []*task) *task {
	if len(a.Retries) == 0 {
		return finished(name, tasks, "", nil, "")
	}
	counting := 0
	for i, r := range slices.Backward(a.Retries) {
		if r.Max > 0 {
			if counting++; counting > 1 {
				e.lose(r.Pos, "the retry for "+r.Match.String(), "several retries of one call count their attempts one by one; in 1.0 they are inside of each other, and the inner ones count again after an outer one", "keep one of them")
			}
		}
		if r.Max == 0 && r.Next == nil {
			continue // it fails at once; those behind it do not match
		}
		catch := expr.EmptyObject
		if when := e.when(a.Retries, i); when != "" {
			catch = catch.With("when", str(when))
		}
		if r.Max > 0 {
			retry := obj("limit", obj("attempt", obj("count", expr.Int(int64(r.Max)))))
			if !r.Interval.IsZero() {
				retry = retry.With("delay", str(r.Interval.String()))
			}
			catch = catch.With("retry", retry)
		}
		if r.Next != nil {
			catch = catch.With("do", list([]*task{{name: "lead on", value: obj("raise", obj("error", obj(
				"type", str(nextType), "status", expr.Int(500), "title", str(r.Next.Name))))}}))
		}
		tasks = []*task{{name: words("attempt", r.Match.Str()), value: obj("try", list(tasks), "catch", catch)}}
	}
	return finished(name, tasks, "", nil, "")
}

// when is whether a retry is the first that matches an error; an unwanted answer is for its own alone.
func (e *early) when(all []*sw01.Retry, i int) string {
	word, isResult := e.result(all[i])
	own := e.matchesError(all[i])
	parts := []string{"($error.type | IN(" + text(nextType) + ", " + text(resultType) + ") | not)"}
	for _, r := range all[:i] {
		before := e.matchesError(r)
		if before == "" {
			parts = []string{"false"}
			break
		}
		parts = append(parts, "("+before+" | not)")
	}
	if own != "" {
		parts = append(parts, own)
	}
	out := strings.Join(parts, " and ")
	first := !slices.ContainsFunc(all[:i], func(r *sw01.Retry) bool { w, _ := e.result(r); return w == word })
	if isResult && first {
		out += " or $error.title == " + text("Result "+word)
	}
	return out
}

// matchesError is whether an error is one that a retry is for; "": all are.
func (e *early) matchesError(r *sw01.Retry) string {
	word, _ := e.result(r)
	is := func(name string) string { return "$error.type == " + text(errorBase+name) }
	const other = `($error.type | test("/(timeout|expression|validation|configuration)$") | not)`
	switch word {
	case sw01.SysMatchAny, "*":
		return ""
	case sw01.SysTimeout:
		return "(" + is("timeout") + " or $error.title == " + text(sw01.SysTimeout) + ")"
	case sw01.SysFilterError:
		return "(" + is("expression") + " or $error.title == " + text(sw01.SysFilterError) + ")"
	case sw01.SysPermission:
		return "(($error.status | IN(401, 403)) and " + other + " or $error.title == " + text(word) + ")"
	case sw01.SysInvalidParameter:
		return "(($error.status | IN(400, 422)) and " + other + " or $error.title == " + text(word) + ")"
	case sw01.SysFail:
		return "((($error.status | IN(401, 403, 400, 422)) or " + is("timeout") + " or " + is("expression") + " | not) or $error.title == " + text(word) + ")"
	}
	e.assume(r.Pos, "what fails with "+quote(word)+" says so in the title of its error: errors of 1.0 have no name")
	if _, isResult := e.result(r); isResult {
		e.assume(r.Pos, quote(word)+" is always the name of an error, always its code, or always an answer: attempts are counted together")
	}
	out := []string{"$error.title == " + text(word)}
	if numeral.MatchString(word) {
		out = append(out, "$error.status == "+word)
	}
	return "(" + strings.Join(out, " or ") + ")"
}
