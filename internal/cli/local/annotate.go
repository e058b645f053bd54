package local

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// Reports for programs that show diagnostics beside the lines of a change: SARIF and the commands of GitHub's workflows.

// sarif is a log of SARIF 2.1.0 (OASIS), as far as it is written here.
type sarif struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string     `json:"id"`
	Short *sarifText `json:"shortDescription,omitempty"`
	Full  *sarifText `json:"fullDescription,omitempty"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	Successful bool `json:"executionSuccessful"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"` // none: the file as a whole
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

// writeSARIF writes diagnostics as a log of SARIF 2.1.0. whole: every file could be read.
func writeSARIF(w io.Writer, all dialect.Diagnostics, whole bool) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "lockstep", Version: version.Read().Version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{whole}}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	index := map[string]int{}
	for _, d := range all {
		if _, ok := index[d.Code]; !ok {
			index[d.Code] = len(run.Tool.Driver.Rules)
			rule := sarifRule{ID: d.Code}
			if e, ok := dialect.Explain(d.Code, explanations()...); ok {
				rule.Short, rule.Full = &sarifText{e.Title}, &sarifText{e.Text}
			}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		at := sarifPhysical{Artifact: sarifArtifact{uri(d.File)}}
		if d.Line > 0 {
			at.Region = &sarifRegion{d.Line, d.Column, d.EndColumn}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: d.Code, RuleIndex: index[d.Code], Level: string(d.Severity),
			Message: sarifText{sentence(d)}, Locations: []sarifLocation{{at}},
		})
	}
	return cli.WriteJSON(w, sarif{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// sentence is a diagnostic's message with its hint.
func sentence(d dialect.Diagnostic) string {
	if d.Hint == "" {
		return d.Message
	}
	return d.Message + "; " + d.Hint
}

// uri is a file as a URI reference: relative to where the program runs, or absolute.
func uri(file string) string {
	if strings.Contains(file, "://") {
		return file
	}
	path := filepath.ToSlash(filepath.Clean(file))
	u := url.URL{Path: path}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		u.Path = "/" + strings.TrimPrefix(path, "/")
	}
	return u.String()
}

// writeGitHub writes diagnostics as commands of GitHub's workflows, which makes annotations of them.
func writeGitHub(w io.Writer, all dialect.Diagnostics) error {
	for _, d := range all {
		place := "file=" + property.Replace(filepath.ToSlash(d.File))
		if d.Line > 0 {
			place += fmt.Sprintf(",line=%d,col=%d", d.Line, d.Column)
		}
		if d.Line > 0 && d.EndColumn > 0 {
			place += fmt.Sprintf(",endColumn=%d", d.EndColumn)
		}
		if _, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", d.Severity, place, property.Replace(d.Code), data.Replace(sentence(d))); err != nil {
			return err
		}
	}
	return nil
}

// How texts are written in a command: a line break would end it, and , and : the value of a property.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
