package sim

// plantsPostgres are bugs of the PostgreSQL store that one named test finds on a real server. Those that
// only orders of concurrent writes show are in store/postgres/interleave_plant_test.go.
var plantsPostgres = []plant{
	{
		name: "everybody has won", in: "internal/store/postgres", by: "internal/store/postgres TestOneRoundTrip",
		old: "		r.finish(r.verdict(verdict[at], rev, absent))\n",
		new: "		r.finish(r.verdict(0, rev, absent))\n",
	},
	{
		name: "a commit whose answer is lost is made again", in: "internal/store/postgres", by: "internal/store/postgres TestLostAnswer",
		old: "		result, committed, unknown := db.outcome(ctx, token)\n",
		new: "		result, committed, unknown := []int16(nil), false, error(nil)\n",
	},
	{
		name: "a transaction whose answer is lost is made again", in: "internal/store/postgres", by: "internal/store/postgres TestLostAnswer",
		old: "				_, done, err := s.db.outcome(ctx, token)\n",
		new: "				done, err := false, error(nil)\n",
	},
	{
		name: "a transaction that comes late commits after it was called undone", in: "internal/store/postgres", by: "internal/store/postgres TestLateTransaction",
		old: "INSERT INTO ~.outcomes (token, result) VALUES ($1, NULL) ON CONFLICT DO NOTHING\"), token)\n		if err != nil {\n			return err\n		}\n",
		new: "SELECT $1::uuid\"), token)\n		if err != nil {\n			return err\n		}\n		if db.one(ctx, \"SELECT result FROM ~.outcomes WHERE token = $1\", []any{token}, &result) != nil {\n			return nil\n		}\n",
	},
	{
		name: "what the database refuses fails its whole batch", in: "internal/store/postgres", by: "internal/store/postgres TestOneIsToBlame",
		old: "	case len(batch) > 1 && oneIsToBlame(err):\n",
		new: "	case len(batch) > 1<<20 && oneIsToBlame(err):\n",
	},
	{
		name: "a timer below the last scan is never read", in: "internal/store/postgres/schema/015_route.sql", by: "internal/store/postgres TestStore/a_wake_time_that_passed_already",
		old: "		v_low := least(v_low, v_new);\n",
		new: "",
	},
	{
		name: "positions are given out by several at a time", in: "internal/store/postgres/schema/014_commit.sql", by: "internal/store/postgres TestPositionsInOrder",
		old: "	SELECT pg_advisory_xact_lock('namespaces'",
		new: "	SELECT pg_advisory_xact_lock_shared('namespaces'",
	},
	{
		name: "a commit notifies", in: "internal/store/postgres/schema/014_commit.sql", by: "internal/store/postgres TestNothingNotifies",
		old: "	INSERT INTO outcomes (token, result) VALUES (p_token, o_verdict); -- the last thing: see outcomes\n",
		new: "	PERFORM pg_notify('lockstep', 'commit');\n	INSERT INTO outcomes (token, result) VALUES (p_token, o_verdict);\n",
	},
	{
		name: "a node goes by its own clock", in: "internal/store/postgres", by: "internal/store/postgres TestClock",
		old: "	return s.leases.offset.now(time.Now())\n",
		new: "	return time.Now()\n",
	},
	{
		name: "a lease counts from its answer", in: "internal/store/postgres", by: "internal/store/postgres TestRenewal",
		old: "	l.epochs, l.until, l.nodes = now, sent.Add(lease), nodes\n",
		new: "	l.epochs, l.until, l.nodes = now, time.Now().Add(lease), nodes\n",
	},
	{
		name: "a node that is not heard of keeps what it has", in: "internal/store/postgres", by: "internal/store/postgres TestSilentNode",
		old: "!l.node.Valid || time.Now().Before(l.until) }",
		new: "!l.node.Valid || !l.until.IsZero() }",
	},
	{
		name: "the plan of a commit follows the statistics", in: "internal/store/postgres/schema/014_commit.sql", by: "internal/store/postgres TestPlans",
		old: ") LANGUAGE plpgsql\nSET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan\n",
		new: ") LANGUAGE plpgsql\nSET search_path FROM CURRENT SET jit = off\n",
	},
	{
		name: "messages of a deleted instance are looked for in all inboxes", in: "internal/store/postgres/schema/016_retention.sql", by: "internal/store/postgres TestPlans",
		old: "	FOREACH s IN ARRAY v_inst LOOP\n		DELETE FROM inbox WHERE ns = p_ns AND inst = s;\n",
		new: "	DELETE FROM inbox WHERE ns = p_ns AND inst = ANY (v_inst);\n	FOREACH s IN ARRAY v_inst LOOP\n",
	},
	{
		name: "statements are prepared for a session", in: "internal/store/postgres", by: "internal/store/postgres TestPooler",
		old: "DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe",
		new: "DefaultQueryExecMode = pgx.QueryExecModeCacheStatement",
	},
	{
		name: "a client that stops holds its locks", in: "internal/store/postgres", by: "internal/store/postgres TestSilentClient",
		old: "; SET LOCAL idle_in_transaction_session_timeout = '\" + silence + \"'\",",
		new: "\",",
	},
	{
		name: "a node that hears nothing looks for nothing", in: "internal/engine", by: "internal/engine TestNodesFollow",
		old: "	longestLook  = 250 * time.Millisecond\n",
		new: "	longestLook  = time.Hour\n",
	},
	{
		name: "a commit is acknowledged before it is durable", in: "internal/store/postgres", by: "internal/store/postgres TestDatabaseAway",
		old: "	db.answers.watch(config)\n",
		new: "	db.answers.watch(config)\n	config.ConnConfig.RuntimeParams[\"synchronous_commit\"] = \"off\"\n",
	},
}
