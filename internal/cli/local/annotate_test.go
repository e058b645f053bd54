package local

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// TestGitHub: nothing in a file name or a message can end the command early or begin another one.
func TestGitHub(t *testing.T) {
	var out bytes.Buffer
	err := writeGitHub(&out, dialect.Diagnostics{
		{File: "a,b:c%.yaml", Line: 3, Column: 7, EndColumn: 9, Severity: dialect.Error, Code: "SW101", Message: "100% wrong:\r\n::error::x", Hint: "did you mean \"y\"?"},
		{File: "b.yaml", Severity: dialect.Warning, Code: "DOC001", Message: "as a whole"},
	})
	const want = "::error file=a%2Cb%3Ac%25.yaml,line=3,col=7,endColumn=9,title=SW101::100%25 wrong:%0D%0A::error::x; did you mean \"y\"?\n" +
		"::warning file=b.yaml,title=DOC001::as a whole\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, want)
	}
}

// TestSARIF: the log has what SARIF 2.1.0 requires: a driver with a name, a text for each message, URIs, regions that
// begin at line 1 or later, and indexes that lead to the rule of the same id.
func TestSARIF(t *testing.T) {
	var out bytes.Buffer
	all := dialect.Diagnostics{
		{File: "dir/a b%.yaml", Line: 3, Column: 7, EndColumn: 9, Severity: dialect.Error, Code: "CALL005", Message: "m", Hint: "h"},
		{File: "/abs/b.yaml", Line: 1, Column: 1, Severity: dialect.Warning, Code: "CALL007", Message: "n"},
		{File: "c.yaml", Severity: dialect.Error, Code: "CALL005", Message: "o"},
		{File: "https://x.example/d.yaml", Line: 2, Column: 1, Severity: dialect.Error, Code: "NONE1", Message: "p"},
	}
	if err := writeSARIF(&out, all, false); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID               string
						ShortDescription *struct{ Text string }
					}
				}
			}
			Invocations []struct{ ExecutionSuccessful *bool }
			Results     []struct {
				RuleID, Level string
				RuleIndex     int
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine, StartColumn, EndColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Version != "2.1.0" || len(log.Runs) != 1 || run.Tool.Driver.Name != "lockstep" || len(run.Tool.Driver.Rules) != 3 || *run.Invocations[0].ExecutionSuccessful {
		t.Fatalf("%s", &out)
	}
	if rule := run.Tool.Driver.Rules[0]; rule.ID != "CALL005" || rule.ShortDescription.Text == "" {
		t.Errorf("%+v", rule)
	}
	for i, want := range []struct {
		uri, text string
		line      int
	}{
		{"dir/a%20b%25.yaml", "m; h", 3}, {"file:///abs/b.yaml", "n", 1}, {"c.yaml", "o", 0}, {"https://x.example/d.yaml", "p", 2},
	} {
		r := run.Results[i]
		at := r.Locations[0].PhysicalLocation
		if at.ArtifactLocation.URI != want.uri || r.Message.Text != want.text || r.Level != string(all[i].Severity) ||
			run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.RuleID != all[i].Code {
			t.Errorf("%+v, want %+v", r, want)
		}
		if (at.Region == nil) != (want.line == 0) || at.Region != nil && (at.Region.StartLine != want.line || at.Region.StartColumn != all[i].Column) {
			t.Errorf("%+v, want %+v", at.Region, want)
		}
	}
}
