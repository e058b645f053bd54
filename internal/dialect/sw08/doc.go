// Package sw08 compiles definitions of Serverless Workflow 0.6, 0.7, 0.8 and 0.9: one family in four
// forms.
//
// Its files follow a document's way: detect.go tells the forms apart, parse*.go turn the document into the
// model of model*.go and report what can be judged one value at a time, check*.go resolve references and
// report what takes more than one value, and compile*.go emit the program of a definition without errors.
//
// Comments cite the specification by version and section ("0.8 §Retry Definition"; where all versions
// agree, only one is named), and docs/semantics.md where the text is silent or contradicts itself.
package sw08
