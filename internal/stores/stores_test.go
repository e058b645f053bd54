package stores

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// leaks finds a part of a password of these tests, in every spelling.
var leaks = regexp.MustCompile(`(?i)hunter|%48unter|swordfish|sword%66ish`).MatchString

// TestStoreWithoutPassword: an address is told without its passwords, wherever they stand.
func TestStoreWithoutPassword(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://u:hunter2@h/d":                                               "postgres://u:xxxxx@h/d",
		"postgres://u:hunter2@swordfish@h/d":                                     "postgres://u:xxxxx@h/d",
		"postgres://u:%48unter2@h:5/d":                                           "postgres://u:xxxxx@h:5/d",
		"postgres://:hunter2@h/d":                                                "postgres://:xxxxx@h/d",
		"postgresql://u@h/d?password=hunter2&sslmode=require":                    "postgresql://u@h/d?password=xxxxx&sslmode=require",
		"postgres://u@h/d?PASSWORD=hunter2":                                      "postgres://u@h/d?PASSWORD=xxxxx",
		"postgres://u@h/d?pass%77ord=hunter2":                                    "postgres://u@h/d?password=xxxxx",
		"postgres://u@h/d?sslpassword=hunter2&sslkey=k":                          "postgres://u@h/d?sslkey=xxxxx&sslpassword=xxxxx",
		"postgres://u@h/d?options=-c%20my.secret%3Dhunter2":                      "postgres://u@h/d?options=xxxxx",
		"postgres://u@h/d?sslmode=require;password=hunter2":                      "postgres://u@h/d",
		"postgres://u@h/d?sslmode=require%20password=hunter2":                    "postgres://u@h/d?sslmode=xxxxx",
		"postgres://u@h/d?sslmode=require&sslmode=password%3Dhunter2":            "postgres://u@h/d?sslmode=xxxxx",
		"postgres://u@h/d?schema=s#hunter2":                                      "postgres://u@h/d?schema=s",
		"postgres://u:12/d?hunter2@h/x":                                          "postgres://u:12/d",
		"postgres:///d?host=/run/pg&user=u&password=hunter2":                     "postgres:///d?host=%2Frun%2Fpg&password=xxxxx&user=u",
		"postgres://u:hunter2@h1:5432,h2:5433/d?target_session_attrs=read-write": "postgres://u:xxxxx@h1:5432,h2:5433/d?target_session_attrs=read-write",
	} {
		spec, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := spec.String(); got != want || leaks(got) {
			t.Errorf("%s is told as %s, want %s", text, got, want)
		}
	}
	spec := Address{Kind: Postgres, Path: "postgres://u:%48unter2%2F@h/d?sslpassword=sword%66ish&user=u"}
	cause := errors.New("x")
	err := spec.Redact(fmt.Errorf("cannot use %s, Hunter2/ or swordfish of u: %w", spec.Path, cause))
	if leaks(err.Error()) || !errors.Is(err, cause) || !strings.HasSuffix(err.Error(), "xxxxx or xxxxx of u: x") {
		t.Errorf("%v", err)
	}
}
