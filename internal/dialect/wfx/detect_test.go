package wfx

import "testing"

func TestDetect(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		want   bool
	}{
		"a workflow":              {complete(""), true},
		"with braces in it":       {complete("description: about {{ braces }}\n"), true},
		"transitions forgotten":   {"name: a\nstates:\n- {name: A, description: x}\n- name: B\n", true},
		"states forgotten":        {"name: a\ntransitions:\n- {from: A, to: B, eligible: CLIENT}\n", true},
		"another family":          {"id: a\nname: a\nstates:\n- {name: A, type: inject, end: {kind: default}}\n", false},
		"states of another":       {"name: a\nstates:\n- {name: A, type: DELAY, end: true}\ntransitions: []\n", false},
		"states with more":        {"name: a\nstates:\n- {name: A, data: {}}\n", false},
		"nothing of it":           {"name: a\n", false},
		"states that are no list": {"name: a\nstates: functions.yaml\n", false},
	} {
		reason, ok := FrontEnd{}.Detect(read(t, test.source).Root)
		if ok != test.want || ok == (reason == "") {
			t.Errorf("%s: %t %q", name, ok, reason)
		}
	}
}
