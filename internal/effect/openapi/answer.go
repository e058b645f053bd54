package openapi

import (
	"fmt"
	"mime"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// outcome is what an answer means. One that went well must adhere to the document,
// where that describes it; a failure is described by what it holds.
func (o *operation) outcome(a effecthttp.Answer, where string) effect.Outcome {
	out := a.Outcome(where)
	if out.Failure != nil || out.None {
		return out
	}
	if f := o.judge(a, out.Value, where); f != nil {
		return effect.Outcome{Failure: f}
	}
	return out
}

// judge reports an answer that does not adhere to the document.
func (o *operation) judge(a effecthttp.Answer, v expr.Value, where string) *effect.Failure {
	schema := o.answerCheck(a)
	if schema != nil && schema.structured && v.Kind() == expr.KindString && !isJSON(a.Media) {
		return nil // text that stands for the object, such as XML
	}
	found, err := schema.violations(v)
	if err != nil {
		return &effect.Failure{
			Name: effect.Unnamed, Code: effecthttp.CodeInvalid, Status: strconv.Itoa(a.Status),
			Detail: fmt.Sprintf("%s: the answer cannot be checked: %v", where, err),
		}
	}
	if len(found) > 0 {
		return violated(where+": the answer does not adhere to the document", codeReceived, found, v)
	}
	return nil
}

// answerCheck finds the schema of an answer: by its status, else by the range of
// statuses, else by default; then by its media type, the most specific one.
func (o *operation) answerCheck(a effecthttp.Answer) *check {
	status := strconv.Itoa(a.Status)
	media, _, _ := mime.ParseMediaType(a.Media)
	for _, want := range []string{status, status[:1] + "XX", "DEFAULT"} {
		for _, r := range o.responses {
			if r.status == want {
				return r.check(media)
			}
		}
	}
	return nil
}

func (r response) check(media string) *check {
	var best *check
	rank := 0
	for _, m := range r.media {
		pattern, _, _ := strings.Cut(m.media, ";")
		pattern = strings.TrimSpace(pattern)
		prefix, ranged := strings.CutSuffix(pattern, "*")
		score := 0
		switch {
		case pattern == media:
			score = 3
		case pattern == "*/*":
			score = 1
		case ranged && strings.HasPrefix(media, prefix):
			score = 2
		}
		if score > rank {
			best, rank = m.check, score
		}
	}
	return best
}
