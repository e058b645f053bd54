package sim

// plantsCluster are bugs of the shell around the kernel: what only several nodes, crashes and lost
// answers show. TestCluster of sim/cluster must find them.
var plantsCluster = []plant{
	{
		name: "memory keeps a step whose commit failed", in: "internal/engine",
		old: "	if err != nil {\n		f.giveUp()\n		f.l.forget()\n		return fmt.Errorf(\"commit instance",
		new: "	if err != nil {\n		f.giveUp()\n		return fmt.Errorf(\"commit instance",
	},
	{
		name: "calls that were another node's are not made", in: "internal/engine",
		old: "		e.enqueue([]store.Call{call})",
		new: "		_ = call",
	},
	{
		name: "an event that must be routed again is not", in: "internal/engine",
		old: "				return r.event(ev, v, true).Routing",
		new: "				return store.Routing{Events: []store.Event{ev}}",
	},
	{
		name: "memory is trusted though others write", in: "internal/engine",
		old: "func (e *Engine) cacheIsCurrent() bool { return e.alone }",
		new: "func (e *Engine) cacheIsCurrent() bool { return true }",
	},
	{
		name: "an event starts an instance though one of its key runs", in: "internal/engine",
		old: "	if owner, ok := d.view.Owner(def.row.ID, keys); ok && !def.prog.Start.AsInput {",
		new: "	if owner, ok := d.view.Owner(def.row.ID, keys); ok && owner.ID == \"\" && !def.prog.Start.AsInput {",
	},
	{
		name: "an event that an instance got starts another", in: "internal/engine",
		old: "	if d.again && d.row.Taken && d.view.Got(d.row.Seq, def.row.ID, keys) {",
		new: "	if d.again && d.row.Taken && d.view.Got(d.row.Seq, \"\", keys) {",
	},
	{
		name: "an answered call is not noted", in: "internal/engine",
		old: "		f.c.Answered = append(f.c.Answered, in.call)\n",
		new: "",
	},
	{
		name: "an event that came too late is dropped", in: "internal/engine",
		old: "			f.c.Release = append(f.c.Release, in.message)\n",
		new: "",
	},
	{
		name: "a produced event is not done when it is taken", in: "internal/engine",
		old: "Producer: m.Instance, Origin: m.Definition}, m.Seq)",
		new: "Producer: m.Instance, Origin: m.Definition}, 0)",
	},
	{
		name: "a parent is not told", in: "internal/engine",
		old: "	row := &f.l.row\n	if !row.Awaited {\n		return nil\n	}\n",
		new: "	row := &f.l.row\n	if !row.Awaited || row.Depth > 0 {\n		return nil\n	}\n",
	},
	{
		name: "the instance of a schedule has another id each time", in: "internal/engine",
		old: "_, err := e.startAs(ctx, d, deployed, id)",
		new: "_, err := e.startAs(ctx, d, deployed, deriveID(\"schedule\", d.row.ID, at.String(), e.now().String()))",
	},
	{
		name: "a schedule goes on before it started its instance", in: "internal/engine",
		old: "	id, err := e.scheduledStart(ctx, d, deployed, at)\n",
		new: "	if err := e.advance(ctx, s, d.schedule.next(at), f.with(Fire{At: at, Outcome: FireStarted})); err != nil {\n		return err\n	}\n	id, err := e.scheduledStart(ctx, d, deployed, at)\n",
	},
	{
		name: "the same key starts another instance each time", in: "internal/engine",
		old: "		r.ID = r.keyedID(d)\n",
		new: "		r.ID = r.keyedID(d) + e.cfg.NewID()\n",
	},
	{
		name: "a call begins though the lease is over", in: "internal/engine",
		old: "		if e.shared != nil && !e.shared.Leased() {\n			return nil // another node may have them",
		new: "		if e.shared != nil && e.maxPasses == 0 {\n			return nil // another node may have them",
	},
	{
		name: "an answer is lost where it cannot be stored", in: "internal/engine",
		old: "	case err != nil && !isMissing(err):\n		e.calls.hold(c, reply, e.now()+core.Time(retryAnswer))\n",
		new: "	case err != nil && !isMissing(err):\n",
	},
	{
		name: "one failure sets an instance aside", in: "internal/engine",
		old: "	maxFailures = 10\n",
		new: "	maxFailures = 1\n",
	},
	{
		name: "what failed is never tried again", in: "internal/engine",
		old: "	return x.until > now && x.until-now <= core.Time(longestRest)\n",
		new: "	return x.failures > 0\n",
	},
	{
		name: "new waits are not compared with kept events", in: "internal/engine",
		old: "		{kind: \"subscriptions\", list: e.fresh, abreast: true, has: func(w store.Glance) bool { return w.Subscriptions }},\n",
		new: "",
	},
	{
		name: "retention deletes too early", in: "internal/engine",
		old: "	before := now - core.Time(p.after)\n",
		new: "	before := now - core.Time(p.after) + sweepPause(p.after)\n",
	},
	{
		name: "what is refused leaves a trace in memory", in: "internal/core",
		old: "	allowed := []ir.Offer{} // not nil, which would mean another reason; see Rejected.Allowed",
		new: "	m.s.nextFrame++\n	allowed := []ir.Offer{} // not nil, which would mean another reason; see Rejected.Allowed",
	},
	{
		name: "an instance is woken at the time of a timer that is gone", in: "internal/engine",
		old: "	row.Wake, row.HasWake = s.Wake()\n",
		new: "	if at, ok := s.Wake(); !ok || !row.HasWake {\n		row.Wake, row.HasWake = at, ok\n	}\n",
	},
	{
		name: "two requests work on one instance at a time", in: "internal/engine",
		old: "	l := c.entries[id]\n	if l == nil {\n		l = &live{",
		new: "	l := c.entries[id]\n	if l == nil || l.refs > 0 {\n		l = &live{",
	},
	{
		name: "an update at an old revision is taken", in: "internal/engine",
		old: "	case a.rev != 0:\n		return f.isAt(a.rev)",
		new: "	case a.rev > row.Rev:\n		return f.isAt(a.rev)",
	},
	{
		name: "jobs of a campaign that was given up go on", in: "internal/engine",
		old: "	case !row.Status.Final():\n		f.message(id, core.Control{Verb: core.VerbCancel, Actor: f.l.id})",
		new: "	case !row.Status.Final() && row.Depth > 9:\n		f.message(id, core.Control{Verb: core.VerbCancel, Actor: f.l.id})",
	},
	{
		name: "a second answer to a question is acknowledged", in: "internal/engine",
		old: "	if !taken {\n		return &NotFoundError{Kind: \"call\", ID: c.key}\n	}\n",
		new: "",
	},
	{
		name: "an intervention that is refused is acknowledged", in: "internal/engine",
		old: "		case refused && in.message == 0:\n			rejected = no\n",
		new: "		case refused && in.message == 0:\n",
	},
	{
		name: "a deletion that is refused is acknowledged", in: "internal/engine",
		old: "	if version == \"\" { // all or nothing, as far as that can be known\n		if err := e.unused(ctx, id, rows); err != nil {\n			return err\n		}\n	}\n	for _, row := range rows {\n		heir, err := e.store.DeleteDefinition(ctx, id, row.Version, e.inherited)\n		if err != nil && !errors.Is(err, store.ErrNotFound) {",
		new: "	for _, row := range rows {\n		heir, err := e.store.DeleteDefinition(ctx, id, row.Version, e.inherited)\n		if err != nil && ctx.Err() != nil {",
	},
	{
		name: "the sink does not get an event again that it did not take", in: "internal/engine",
		old: "	err := e.give(ctx, o)\n	if err == nil {\n",
		new: "	err := e.give(ctx, o)\n	{\n",
	},
	{
		name: "an event for the sink overtakes one that rests", in: "internal/engine",
		old: "		if seen[o.Instance] {\n			continue\n		}\n		seen[o.Instance] = true\n		until",
		new: "		seen[o.Instance] = true\n		until",
	},
	{
		name: "a call has another key each time", in: "internal/engine",
		old: "Key: CallKey(row), Instance",
		new: "Key: CallKey(row) + e.cfg.NewID(), Instance",
	},
	{
		name: "a call is decided on before that is stored", in: "internal/engine",
		old: "		began := time.Now()\n		err = e.store.Commit(ctx, *c)\n",
		new: "		for i := range c.Calls {\n			c.Calls[i].Instance, c.Calls[i].Created = f.l.id, c.Instance.Created\n		}\n		e.enqueue(c.Calls)\n		began := time.Now()\n		err = e.store.Commit(ctx, *c)\n",
	},
	{
		name: "a node makes calls that it has no claim to", in: "internal/engine",
		old: "return e.shared == nil || e.shared.HasShard(shard) }",
		new: "return e.shared == nil || part >= 0 }",
	},
	{
		name: "calls are audited in any order", in: "internal/engine",
		old: "slices.Sorted(maps.Keys(waiting))",
		new: "slices.Collect(maps.Keys(waiting))",
	},
	{
		name: "the answer to a call of another instance with the same id is taken", in: "internal/engine",
		old: "func (l *live) isOfAnother(in input) bool { return in.call != 0 && in.created != l.row.Created }",
		new: "func (l *live) isOfAnother(in input) bool { return in.call != 0 && in.created < 0 }",
	},
	{
		name: "an answer overtakes what is in the inbox", in: "internal/engine",
		old: "	f.c.Unread = true\n",
		new: "",
	},
	{
		name: "a person answers only the call that a node remembers", in: "internal/engine",
		old: "replyOf(c.row.Invoke, out)); !isMissing(err) {",
		new: "replyOf(c.row.Invoke, out)); !isMissing(err) || c.parked {",
	},
	{
		name: "timers of the next seconds fire with whatever comes", in: "internal/engine",
		old: "	if l.state == nil || !e.overdue(l) {\n		return nil\n	}\n	now := e.timeFor(l)\n",
		new: "	if l.state == nil {\n		return nil\n	}\n	now := e.timeFor(l) + 5_000_000_000\n",
		and: &plant{in: "internal/core", old: "		if m.now < w.at {\n			return false // never early", new: "		if m.now < 0 {\n			return false // never early"},
	},
	{
		name: "a step that was overtaken by one like it is taken for stored", in: "internal/engine",
		old: "	if err != nil {\n		f.giveUp()\n		f.l.forget()\n		return fmt.Errorf(\"commit instance",
		new: "	if row, no := e.store.Instance(ctx, f.l.id); f.l.how == ordinary && errors.Is(err, store.ErrConflict) && no == nil && row.Created == c.Instance.Created && row.Rev == c.Instance.Rev+1 && len(c.Answered) > 0 && len(c.Calls) == 0 && slices.Equal(row.Active, c.Instance.Active) {\n		err = nil\n	}\n	if err != nil {\n		f.giveUp()\n		f.l.forget()\n		return fmt.Errorf(\"commit instance",
	},
	{
		name: "a key is anybody's, whatever the input", in: "internal/engine",
		old: "	case known && !expr.Equal(had.Data, r.Input), r.Definition",
		new: "	case known && had.Data.IsNull(), r.Definition",
	},
	{
		name: "a restart begins without the input", in: "internal/engine",
		old: "Version: row.Version, Input: input, RestartOf: id}",
		new: "Version: row.Version, Input: input.With(\"n\", expr.Null), RestartOf: id}",
	},
	{
		name: "an intervention at a revision follows what comes before it", in: "internal/engine",
		old: "	in.rev = rev\n	err = e.applyTo(ctx, l, &[]input{in})\n",
		new: "	err = e.applyTo(ctx, l, &[]input{in})\n",
	},
	{
		name: "a job is deleted at an old revision", in: "internal/engine",
		old: "		case rev != 0 && row.Rev != rev:\n			return &RevisionError{id, rev, row.Rev}\n		case row.Awaited",
		new: "		case rev > row.Rev:\n			return &RevisionError{id, rev, row.Rev}\n		case row.Awaited",
	},
	{
		name: "who waits for a job is not told that it was deleted", in: "internal/engine",
		old: "		case row.Awaited && !row.Status.Final():\n			if err = e.endJob",
		new: "		case row.Awaited && row.Status.Final():\n			if err = e.endJob",
	},
	{
		name: "the feed forgets too early", in: "internal/engine",
		old: "e.store.PurgeFeed(ctx, before, limit)",
		new: "e.store.PurgeFeed(ctx, before+1_000_000_000, limit)",
	},
	{
		name: "housekeeping deletes too early", in: "internal/engine",
		old: "		if due := row.Updated + after; due > now {",
		new: "		if due := row.Updated + after; due > now+1_000_000_000 {",
	},
	{
		name: "a paused schedule fires", in: "internal/engine",
		old: "	return p.Paused != nil || p.Schedule.Paused != nil || e.retiredNow(definition) != nil",
		new: "	return p.Paused != nil || e.retiredNow(definition) != nil",
	},
	{
		name: "what was due during a pause is made up for", in: "internal/engine",
		old: "	paused := s.Next < rules.resumed\n",
		new: "	paused := s.Next < min(rules.resumed, 0)\n",
	},
	{
		name: "a start that was decided on before a pause is stored after it", in: "internal/engine",
		old: "		e.cfg.Probe.lock(&e.decisions)\n		defer e.decisions.Unlock()\n",
		new: "",
	},
	{
		name: "a retired definition is started by an operator", in: "internal/engine",
		old: "	if mark := e.retired(id); mark != nil {\n		return &PausedError{Definition: id, Retired: true",
		new: "	if mark := e.retired(id); mark != nil && id == \"\" {\n		return &PausedError{Definition: id, Retired: true",
	},
	{
		name: "a fire time starts an instance beside another one", in: "internal/engine",
		old: "	running, err := e.settle(ctx, d, f, keptFires)\n",
		new: "	running, err := e.settle(ctx, d, f, 0)\n",
	},
	{
		name: "a fire time that waits is left out by a pause", in: "internal/engine",
		old: "	case f.queued(s.Next): // it was due",
		new: "	case f.queued(s.Next) && !paused: // it was due",
	},
	{
		name: "a start whose node ended is forgotten", in: "internal/engine",
		old: "	} else if there {\n		return e.advance(ctx, s, d.schedule.next(s.Next), ",
		new: "	} else if there && id == \"\" {\n		return e.advance(ctx, s, d.schedule.next(s.Next), ",
	},
}
