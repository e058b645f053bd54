package sw05

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// corpus is where the definitions published with the specification are kept;
// they are no part of the project.
const corpus = "../../../../shared/corpus/v0.5"

// corpusResources stand in for the files that one of the definitions refers to
// and that are not published with it.
var corpusResources = dialect.MapBundle{
	"functiondefs.json": []byte(`{"functions": [
		{"name": "checkFundsAvailability", "operation": "file://bank.json#funds"},
		{"name": "sendSuccessEmail", "operation": "file://mail.json#success"},
		{"name": "sendInsufficientFundsEmail", "operation": "file://mail.json#insufficient"}]}`),
	"eventdefs.yml": []byte("events:\n" +
		"- {name: PaymentReceivedEvent, type: payment.receive, source: payments}\n" +
		"- {name: ConfirmationCompletedEvent, type: payment.confirmation, kind: produced}\n"),
}

// Every complete definition loads; what is odd in them is said in warnings.
func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob(corpus + "/*.*")
	if len(files) == 0 {
		t.Logf("no definitions in %s: this checkout has none", corpus)
		return
	}
	warnings := map[string]string{
		"applicant-request-decision-example":     codeWait,
		"check-inbox-periodically":               codeDirectInvoke,
		"event-based-transitions-example":        codeWait + " " + codeWait + " " + codeWait,
		"monitor-job-example":                    codeWait,
		"perform-customer-credit-check-example":  codeUnusedFunc + " " + codeNoFunction + " " + codeWait,
		"provision-orders-example":               strings.Join([]string{codeWait, codeWait, codeWait, codeWait}, " "),
		"reusing-function-and-event-definitions": codeNoStart + " " + codeLiteral + " " + codeLiteral,
	}
	registry := dialect.NewRegistry(FrontEnd{})
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, found := registry.Compile(filepath.Base(file), source, corpusResources, dialect.Options{})
			if found.HasErrors() {
				t.Fatalf("errors:\n%v", found)
			}
			var codes []string
			for _, d := range found {
				codes = append(codes, d.Code)
			}
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if got := strings.Join(codes, " "); got != warnings[name] {
				t.Errorf("warnings %q, want %q:\n%v", got, warnings[name], found)
			}
			roundTrip(t, c.Program)
		})
	}
}

// roundTrip checks that a program passes its own check and survives encoding.
func roundTrip(t *testing.T, p *ir.Program) {
	t.Helper()
	if p == nil {
		t.Fatal("no program")
	}
	text, err := ir.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ir.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ir.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(again) {
		t.Errorf("encoding differs after decoding:\n%s\n%s", text, again)
	}
}
