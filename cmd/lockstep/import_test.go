package main

import (
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockstep-workflows/lockstep/internal/wfxdb/wfxtest"
)

// wfxDatabase FILE makes a database of wfx with a small fleet; wfxdatabase FILE later changes it as wfx would, and
// wfxdatabase FILE done brings the job of the car to its end.
func wfxDatabase(ts *testscript.TestScript, _ bool, args []string) {
	const car, van = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"
	statements := wfxtest.Fleet()
	switch at := wfxtest.Begin.Add(time.Hour); strings.Join(args[1:], " ") {
	case "later":
		statements = wfxtest.History(10, van, wfxtest.Begin.Add(30*time.Minute), `{"clientId":"van","state":"INSTALLING","progress":40}`, "") +
			wfxtest.Job(van, 1, "van", wfxtest.Begin.Add(time.Minute), at, `{"clientId":"van","state":"INSTALLED"}`, `{"n":2}`) +
			wfxtest.Job("66666666-0000-4000-8000-000000000006", 1, "new", at, at, `{"clientId":"new","state":"INSTALL"}`, "")
	case "done":
		statements = wfxtest.History(11, car, wfxtest.Begin, `{"clientId":"car","state":"INSTALL"}`, "") +
			wfxtest.Job(car, 1, "car", wfxtest.Begin, at.Add(time.Minute), `{"clientId":"car","state":"INSTALLED"}`, "")
	}
	ts.Check(wfxtest.Write(ts.MkAbs(args[0]), statements))
}
