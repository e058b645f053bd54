package server

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/contract"
)

var theContract = sync.OnceValue(func() *contract.Contract {
	text, err := contractJSON()
	if err != nil {
		panic(err)
	}
	c, err := contract.New(text)
	if err != nil {
		panic(err)
	}
	c.Documents = []string{"getSource"}
	return c
})

// witness holds every answer to the contract.
func witness(t *testing.T, next http.RoundTripper) http.RoundTripper {
	return contract.Witness{Contract: theContract(), Next: next, Errorf: t.Errorf}
}

// TestContractAndRoutes: both name the same operations, with the same parameters and roles.
func TestContractAndRoutes(t *testing.T) {
	c := theContract()
	byID := map[string]contract.Operation{}
	for _, op := range c.Operations() {
		if byID[op.ID].ID != "" {
			t.Errorf("the contract has %s twice", op.ID)
		}
		byID[op.ID] = op
	}
	for _, rt := range routes {
		op, ok := byID[rt.operation]
		if !ok {
			t.Errorf("%s %s: the contract has no operation %s", rt.method, rt.path, rt.operation)
			continue
		}
		delete(byID, rt.operation)
		if op.Method != rt.method || op.Path != rt.path {
			t.Errorf("%s is %s %s, in the contract %s %s", rt.operation, rt.method, rt.path, op.Method, op.Path)
		}
		want, got := c.Parameters(op, "query"), slices.Clone(rt.params)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s takes %v, in the contract %v", rt.operation, got, want)
		}
		if want, got := rolesOf(op), names(rt.roles); !slices.Equal(want, got) {
			t.Errorf("%s is for %v, in the contract for %v", rt.operation, got, want)
		}
	}
	for id := range byID {
		t.Errorf("the operation %s of the contract is not served", id)
	}
}

// rolesOf are those that the contract lists for an operation.
func rolesOf(op contract.Operation) []string {
	security, ok := op.Value.Get("security")
	if !ok {
		return []string{"nothing said"}
	}
	var out []string
	for _, s := range security.Items() {
		bearer, _ := s.Get("bearer")
		for _, role := range bearer.Items() {
			out = append(out, role.Str())
		}
	}
	return out
}

// TestContractIsSound: every reference leads somewhere, every schema compiles, every
// component is used.
func TestContractIsSound(t *testing.T) {
	for _, problem := range theContract().Sound("#/components/schemas/StreamChange") { // which is text to the contract
		t.Error(problem)
	}
}

// TestProblemCodes: every code of package api has a meaning, and no other.
func TestProblemCodes(t *testing.T) {
	seen := map[api.Code]bool{}
	for _, k := range kinds {
		if seen[k.Code] {
			t.Errorf("%s is there twice", k.Code)
		}
		seen[k.Code] = true
		if k.Title == "" || k.Meaning == "" || k.Status < 400 {
			t.Errorf("%s says too little", k.Code)
		}
	}
	text, err := os.ReadFile("../../api/problem.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := regexp.MustCompile(`(?m)^\tCode\w+ +Code = "(.+)"$`).FindAllSubmatch(text, -1)
	for _, c := range constants {
		if !seen[api.Code(c[1])] {
			t.Errorf("%s has no meaning", c[1])
		}
	}
	if len(constants) != len(kinds) {
		t.Errorf("there are %d codes and %d meanings", len(constants), len(kinds))
	}
}
