package serve

import (
	"fmt"
	"testing"
)

func TestReceiversBehind(t *testing.T) {
	metrics := "# TYPE lockstep_webhook_behind_seconds gauge\nlockstep_webhook_behind_seconds{webhook=\"a.example-12\"} 181.2\n" +
		"lockstep_webhook_behind_seconds{webhook=\"b\"} 59\nlockstep_spans_behind_seconds 7200\nlockstep_sink_waiting 3\n"
	want := "[{webhook a.example-12 it has not accepted notices for 3m1s; they are kept and sent again} " +
		"{collector of traces it has not accepted spans for 2h0m0s; they are kept and sent again}]"
	if got := fmt.Sprint(receivers(metrics)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := receivers("lockstep_spans_behind_seconds 0\n"); got != nil {
		t.Error(got)
	}
}
