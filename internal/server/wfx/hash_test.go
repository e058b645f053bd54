package wfx

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestDefinitionHash compares with texts that were written by hand; the first hash is one
// that wfx itself gives.
func TestDefinitionHash(t *testing.T) {
	if got := definitionHash(expr.Null); got != "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945" {
		t.Errorf("without a definition: %s", got)
	}
	for json, text := range map[string]string{
		`{}`:                           `[]`,
		`{"a":1}`:                      `["a":1E+00]`,
		`{"title":"expose job api"}`:   `["title":"expose job api"]`,
		`{"b":true,"a":false}`:         `["a":f,"b":t]`,
		`{"a":null}`:                   `["a":<invalid Value>]`,
		`{"a":[]}`:                     `["a":[]]`,
		`{"a":{}}`:                     `["a":[]]`,
		`{"a":[1,"x",[2]]}`:            `["a":[1E+00,"x",[2E+00]]]`,
		`{"a":0,"b":-0.5,"c":1234567}`: `["a":0E+00,"b":-5E-01,"c":1.234567E+06]`,
		`{"n":9007199254740993}`:       `["n":9.007199254740992E+15]`,
		`{"a":"x\"y\n"}`:               "[\"a\":\"x\"y\n\"]",
		`{"a":1,"a!":2,"a#":3}`:        `["a!":2E+00,"a":1E+00,"a#":3E+00]`, // the closing quote comes between ! and #
		`{"ä":1,"z":2}`:                `["z":2E+00,"ä":1E+00]`,
	} {
		v, err := expr.ParseJSON([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		if got := definitionHash(v); got != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %s is hashed, want %s", json, appendHashed(nil, v), text)
		}
	}
}
