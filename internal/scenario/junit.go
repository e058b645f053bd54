package scenario

import (
	"encoding/xml"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

// junitCase has no time: readers add up real time, and this is virtual. It is
// a property.
type junitCase struct {
	Name       string          `xml:"name,attr"`
	Class      string          `xml:"classname,attr"`
	File       string          `xml:"file,attr"`
	Line       int             `xml:"line,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Failure    *junitProblem   `xml:"failure"`
	Error      *junitProblem   `xml:"error"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes reports as JUnit XML. A file that cannot be used is one test
// in error.
func WriteJUnit(w io.Writer, reports []Report) error {
	var all junitSuites
	for _, r := range reports {
		suite := junitSuite{Name: r.File}
		if r.Diagnostics.HasErrors() {
			suite.Tests, suite.Errors = 1, 1
			suite.Cases = []junitCase{{
				Name: "read", Class: r.File, File: r.File,
				Error: &junitProblem{Message: "the file cannot be used", Text: r.Diagnostics.Error()},
			}}
		} else {
			for _, result := range r.Results {
				suite.Tests++
				c := junitCase{
					Name: result.Name, Class: r.File, File: r.File, Line: result.At.Line,
					Properties: []junitProperty{{"virtual-elapsed", result.Outcome.elapsed()}},
				}
				if !result.Passed() {
					suite.Failures++
					f := result.Failures[0]
					c.Failure = &junitProblem{Message: f.Field + ": " + f.Message, Text: strings.Join(failureLines(result), "\n")}
				}
				suite.Cases = append(suite.Cases, c)
			}
		}
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
