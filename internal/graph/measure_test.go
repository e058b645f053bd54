package graph

import (
	"slices"
	"testing"
)

func TestTextBreaksBetweenWords(t *testing.T) {
	for text, want := range map[string][]string{
		"for each order of $.orders[?(@.done == true)]": {"for each order of", "$.orders[?(@.done == true)]"},
		"$.customer.addresses.delivery.street":          {"$.customer.addresses.", "delivery.street"},
		"$.orders[?(@.customer=='x')].lines":            {"$.orders[?(@.customer==", "'x')].lines"},
		"reserve-everything/that-is-needed":             {"reserve-everything/that-is-", "needed"},
		"checkWhetherTheCustomerIsKnown":                {"checkWhetherTheCustomer", "IsKnown"},
		"error NotDeliverable, after 3 retries":         {"error NotDeliverable,", "after 3 retries"},
		"short":                                         {"short"},
		"abcdefghijklmnopqrstuvwxyzabcdefghijkl":        {"abcdefghijklmnopqrstuvwxyz", "abcdefghijkl"},
	} {
		if got := labelFont.wrap(text, labelMax, 2); !slices.Equal(got, want) {
			t.Errorf("%q breaks into %q, want %q", text, got, want)
		}
	}
}
