package sim

// plantsSQLite are bugs that only a crash, a disk that fails or a clock that steps shows. TestCluster
// of sim/cluster must find them on the SQLite store.
var plantsSQLite = []plant{
	{
		name: "commits are not synced", in: "internal/store/sqlite",
		old: "\"PRAGMA synchronous = FULL\"",
		new: "\"PRAGMA synchronous = OFF\"",
	},
	{
		name: "only checkpoints are synced", in: "internal/store/sqlite",
		old: "\"PRAGMA synchronous = FULL\"",
		new: "\"PRAGMA synchronous = NORMAL\"",
	},
	{
		name: "a sync that failed is taken for one that did not", in: "internal/crashfs",
		old: "rc != 0 || d.NoSync {\n			return rc",
		new: "rc != 0 || d.NoSync {\n			return 0",
	},
	{
		name: "a commit that failed is acknowledged", in: "internal/store/sqlite",
		old: "		return w.rollback(&fatalError{err})\n	}\n	if err := w.look(); err",
		new: "		_ = w.rollback(&fatalError{err})\n	}\n	if err := w.look(); err",
	},
	{
		name: "a commit at an old revision is taken", in: "internal/store/sqlite",
		old: "	case h.rev != in.Rev:",
		new: "	case false:",
	},
	{
		name: "a timer has no row", in: "internal/store/sqlite",
		old: `{"wake", func(st *sqlite.Stmt, param int, r *instanceRow) { bind(st, param, r.wake) }},`,
		new: `{"wake", func(st *sqlite.Stmt, param int, _ *instanceRow) { bind(st, param, nil) }},`,
	},
	{
		name: "a start does not read calls", in: "internal/engine",
		old: "	e.calls.enqueue(calls)\n	return nil\n}\n\n// Languages",
		new: "	_ = calls\n	return nil\n}\n\n// Languages",
	},
	{
		name: "recovery does not read timers", in: "internal/store/sqlite",
		old: "		sp.wakes, sp.wakeExact = core.Time(wake), true\n	}\n	until",
		new: "		_ = wake\n	}\n	until",
	},
	{
		name: "recovery does not read messages", in: "internal/store/sqlite",
		old: "WHERE b.ns = ? GROUP",
		new: "WHERE b.ns = ? AND 0 GROUP",
	},
	{
		name: "recovery does not read schedules", in: "internal/store/sqlite",
		old: "		sp.schedules[s.Definition] = s\n		return nil\n	}, sp.ns)\n	if err",
		new: "		_ = s\n		return nil\n	}, sp.ns)\n	if err",
	},
	{
		name: "recovery does not read how events are found", in: "internal/store/sqlite",
		old: "		sp.shapes[r.ColumnText(0)] = append(sp.shapes[r.ColumnText(0)], s)\n		return err",
		new: "		_ = s\n		return err",
	},
	{
		name: "recovery does not know of events to be routed again", in: "internal/store/sqlite",
		old: "\"events WHERE ns = ?\": &sp.again",
		new: "\"events WHERE ns = ? AND 0\": &sp.again",
	},
	{
		name: "recovery does not know of produced events", in: "internal/store/sqlite",
		old: "\"emits WHERE ns = ? AND sink = 0\"",
		new: "\"emits WHERE ns = ? AND sink = 9\"",
	},
	{
		name: "recovery does not know of fresh subscriptions", in: "internal/store/sqlite",
		old: "\"subs WHERE ns = ?\": &sp.unchecked",
		new: "\"subs WHERE ns = ? AND 0\": &sp.unchecked",
	},
	{
		name: "recovery does not know of events kept for an instance", in: "internal/store/sqlite",
		old: "	sp.keptFor = kept != 0",
		new: "	_ = kept",
	},
	{
		name: "history goes back with the clock", in: "internal/engine",
		old: "	return max(e.now(), l.row.Updated)",
		new: "	return e.now()",
	},
	{
		name: "an event that was here is taken again", in: "internal/store/sqlite",
		old: "	if known.Until > e.Received {\n		return known, true, nil",
		new: "	if known.Until > e.Received && !known.Taken {\n		return known, true, nil",
	},
	{
		name: "a clock that steps back drops timers", in: "internal/store/sqlite",
		old: "				sp.sleeps(int64(w.wake))\n",
		new: "",
	},
	{
		name: "a timer before the last scan is not noticed", in: "internal/store/sqlite",
		old: "ok && core.Time(at) <= sp.wakes {\n",
		new: "ok && core.Time(at) <= sp.wakes && core.Time(at) > sp.woken {\n",
	},
	{
		name: "who follows the feed skips what comes next", in: "internal/store/sqlite",
		old: "		out.Next, out.Last = max(after, end), max(end, out.Oldest)\n",
		new: "		out.Next, out.Last = max(after, end+1), max(end, out.Oldest)\n",
	},
}
