package main

import (
	"strings"
	"testing"
)

// TestStoreWithoutPassword: an address is told without its password, wherever that stands.
func TestStoreWithoutPassword(t *testing.T) {
	for _, text := range []string{
		"postgres://u:secret@h/d",
		"postgres://u@h/d?password=secret&sslmode=require",
		"postgres://u@h/d?sslmode=require;password=secret",
	} {
		spec, err := parseStore(text)
		if err != nil {
			t.Fatal(err)
		}
		if told := spec.String(); strings.Contains(told, "secret") || !strings.Contains(told, "@h/d") {
			t.Errorf("%s is told as %s", text, told)
		}
	}
}
