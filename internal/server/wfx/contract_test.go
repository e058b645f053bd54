package wfx

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/contract"
)

func readContract(t *testing.T) *contract.Contract {
	t.Helper()
	text, err := ContractJSON()
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestContractAndOperations: both name the same operations, with the same parameters.
func TestContractAndOperations(t *testing.T) {
	c := readContract(t)
	byID := map[string]contract.Operation{}
	for _, op := range c.Operations() {
		byID[op.ID] = op
	}
	for _, op := range Operations {
		want, ok := byID[op.ID]
		if !ok {
			t.Errorf("the contract has no operation %s", op.ID)
			continue
		}
		delete(byID, op.ID)
		if want.Method != op.method || want.Path != op.path {
			t.Errorf("%s is %s %s, in the contract %s %s", op.ID, op.method, op.path, want.Method, want.Path)
		}
		params, got := c.Parameters(want, "query"), slices.Clone(op.params)
		slices.Sort(params)
		slices.Sort(got)
		if !slices.Equal(params, got) {
			t.Errorf("%s takes %v, in the contract %v", op.ID, got, params)
		}
		if filtered := slices.Contains(c.Parameters(want, "header"), filterHeader); filtered != op.filtered {
			t.Errorf("%s takes a filter: %v, in the contract: %v", op.ID, op.filtered, filtered)
		}
		if forbids := op.north && !strings.Contains(want.Value.String(), `"403"`); forbids {
			t.Errorf("%s is refused on the south, and the contract has no 403", op.ID)
		}
	}
	for id := range byID {
		t.Errorf("the operation %s of the contract is not served", id)
	}
}

// TestContractIsSound: every reference leads somewhere, every schema compiles, every
// component is used.
func TestContractIsSound(t *testing.T) {
	for _, problem := range readContract(t).Sound("#/components/schemas/JobEvent") { // which is text to the contract
		t.Error(problem)
	}
}
