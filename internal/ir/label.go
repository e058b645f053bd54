package ir

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LabelName is the label that is the name of an instance.
const LabelName = "name"

// Limits of what an instance is found by.
const (
	MaxName       = 256  // bytes of the name of an instance ("instance-name")
	MaxLabels     = 32   // labels of an instance ("instance-labels")
	MaxLabelName  = 64   // bytes of the name of a label ("label-name")
	MaxLabelValue = 1024 // bytes of the value of a label ("label-value")
)

// CheckName says what is wrong with the name that an instance is given; "": nothing.
func CheckName(name string) string {
	switch {
	case len(name) > MaxName:
		return fmt.Sprintf("the name has %d bytes, more than %d (limit instance-name)", len(name), MaxName)
	case !utf8.ValidString(name) || strings.IndexFunc(name, unicode.IsControl) >= 0:
		return "the name must be UTF-8 text without control characters"
	}
	return ""
}

// CheckLabelName says what is wrong with the name of a label; "": nothing.
func CheckLabelName(name string) string {
	switch {
	case name == "":
		return "a label needs a name"
	case name == LabelName:
		return `the label "name" is the name of the instance`
	case len(name) > MaxLabelName:
		return fmt.Sprintf("the name of label %.20q… has %d bytes, more than %d (limit label-name)", name, len(name), MaxLabelName)
	}
	for i, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", c)) {
			return fmt.Sprintf("label %q: a name has letters and digits of ASCII and . _ -, and begins with a letter or digit", name)
		}
	}
	return ""
}
