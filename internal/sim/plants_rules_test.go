package sim

// plantsRules are bugs in rules of reliability and security that a simulation does not show: each
// names the test that must find it. The table of rules in README.md says of which rule each is.
var plantsRules = []plant{
	{
		name: "a retry keeps the deadline of the attempt before", in: "internal/core", by: "internal/conformance TestCases/sw01/retry-timeout-each-attempt",
		old: "return w.kind != WaitListen && w.kind != WaitTotal })\n	f.taken",
		new: "return w.kind != WaitListen && w.kind != WaitTotal && w.kind != WaitDeadline })\n	f.taken",
	},
	{
		name: "a cancelled instance stays paused", in: "internal/core", by: "internal/core TestTranscripts/cancel-paused",
		old: "	case VerbCancel:\n		s.paused, s.costly = false, false\n",
		new: "	case VerbCancel:\n		s.costly = false\n",
	},
	{
		name: "an early event is not compared again", in: "internal/core", by: "internal/conformance TestCases/sw05/callback-state-early-of-another",
		old: "			if m.meets(f, ev, h.event) {\n",
		new: "			if m.meets(f, ev, h.event) || true {\n",
	},
	{
		name: "messages are applied in the order of their times", in: "internal/engine", by: "internal/engine TestMessagesKeepTheirOrder",
		old: "		latest = max(latest, m.At)\n",
		new: "		latest = m.At\n",
	},
	{
		name: "an event overtakes what is in the inbox", in: "internal/engine", by: "internal/engine TestEventsThatGoByTheInbox",
		old: "	f.c.Unread = true // a message that came before must not be overtaken\n",
		new: "",
	},
	{
		name: "an event overtakes others for the same listen", in: "internal/engine", by: "internal/engine TestEventsFromBeforeAListenComeFirst/memory",
		old: "			checked[s.Instance] = r.check(d, s.Instance)\n",
		new: "			checked[s.Instance] = true\n",
	},
	{
		name: "what was on its way to a listen comes late to the next", in: "internal/store/sqlite", by: "internal/store/sqlite TestStore/what_is_on_its_way_to_a_standing_subscription_that_goes_is_put_back",
		old: "	back, err := t.putBack(sp, h, c.Unsubscribe)\n",
		new: "	back, err := t.putBack(sp, h, nil)\n",
	},
	{
		name: "jitter only adds", in: "internal/core", by: "internal/engine TestJitterGoesBothWays",
		old: "	span := uint64(bound)*2 + 1\n	return int64(x%span) - bound\n",
		new: "	span := uint64(bound) + 1\n	return int64(x % span)\n",
	},
	{
		name: "the case of a correlation value does not count", in: "event", by: "event TestValuesMatchToTheLetter",
		old: "		case have != k.Value:\n",
		new: "		case !strings.EqualFold(have, k.Value):\n",
	},
	{
		name: "an event with a known id and another content is a duplicate", in: "internal/engine", by: "internal/server TestSameIDWithOtherContentIsRefused",
		old: "		if !expr.Equal(r.earlier.Value(), ev.Value()) {\n",
		new: "		if !expr.Equal(r.earlier.Value(), ev.Value()) && r.earlier.ID != ev.ID {\n",
	},
	{
		name: "a stale revision is taken", in: "internal/engine", by: "internal/engine TestRevisionsOfJobs",
		old: "	case have != rev:\n		return &RevisionError{f.l.id, rev, have}\n",
		new: "	case have < rev:\n		return &RevisionError{f.l.id, rev, have}\n",
	},
	{
		name: "the later of two updates wins, whatever it had read", in: "internal/store/sqlite", by: "internal/store/sqlite TestStore/a_commit_compares_the_revision",
		old: "	case h.rev != in.Rev:",
		new: "	case h.rev != in.Rev && in.Updated < in.Created:",
	},
	{
		name: "counts are written in any order", in: "internal/store/sqlite", by: "internal/store/sqlite TestSameBytes",
		old: "slices.SortedFunc(maps.Keys(t.counts), countKey.compare)",
		new: "slices.Collect(maps.Keys(t.counts))",
	},
	{
		name: "an event without an id is taken", in: "event", by: "event TestRefused",
		old: "[]struct{ name, value string }{{\"id\", e.ID}, {\"source\"",
		new: "[]struct{ name, value string }{{\"source\"",
	},
	{
		name: "what one request gets wrong fails its whole batch", in: "internal/store/sqlite", by: "internal/store/sqlite TestPoisonedBatch",
		old: "	case errors.As(err, &dirty) && len(live) > 1:\n",
		new: "	case errors.As(err, &dirty) && len(live) > maxBatch:\n",
	},
	{
		name: "what was in memory of instances stays when a transaction is undone", in: "internal/store/sqlite", by: "internal/store/sqlite TestPoisonedBatch",
		old: "	w.heads.clear()\n	clear(w.contents)\n	w.granted = w.tx.granted\n",
		new: "	clear(w.contents)\n	w.granted = w.tx.granted\n",
	},
	{
		name: "an instance whose input is expensive is created without its start", in: "internal/engine", by: "internal/engine TestExpensiveWorkStarvesOthers",
		old: "		Messages: []store.Message{{To: row.ID, At: row.Created, Input: start}},\n",
		new: "",
	},
	{
		name: "two processes write to one file", in: "internal/store/sqlite", by: "internal/store/sqlite TestOneProcess",
		old: "c.PrepareTransient(\"BEGIN EXCLUSIVE\")",
		new: "c.PrepareTransient(\"BEGIN\")",
	},
	{
		name: "writers do not wait for one another", in: "internal/store/sqlite", by: "internal/store/sqlite TestBackupWhileWriting",
		old: "	w.waiting = append(w.waiting, r)\n	w.mu.Unlock()\n",
		new: "	w.mu.Unlock()\n	if w.conn != nil {\n		w.run([]*request{r})\n		return r.err\n	}\n",
	},
	{
		name: "any library will do", in: "internal/store/sqlite", by: "internal/store/sqlite TestOldLibrary",
		old: "const minSQLite = 3_051_003",
		new: "const minSQLite = 3_044_000",
	},
	{
		name: "anybody may listen anywhere", in: "internal/server", by: "internal/server TestListen",
		old: "	if !local {\n		return &UnsafeError",
		new: "	if !local && l.Tokens {\n		return &UnsafeError",
	},
	{
		name: "a viewer may do everything", in: "internal/server", by: "internal/server TestRoutesByRole",
		old: "	if slices.Contains(rt.roles, who.role) {\n",
		new: "	if slices.Contains(rt.roles, who.role) || who.role == Viewer {\n",
	},
	{
		name: "a route without a role of its own is open to readers", in: "internal/server", by: "internal/server TestContractAndRoutes",
		old: "\"terminateInstance\", operators,",
		new: "\"terminateInstance\", readers,",
	},
	{
		name: "a body is read before its sender is known", in: "internal/server", by: "internal/server TestNoBodyOfAStranger",
		old: "	if rt.roles != nil {\n		if who, err = s.identify(r); err != nil {\n",
		new: "	if err := s.openVisit(r).receive(w, r, s.bodyLimit(rt)); err != nil {\n		return rt, who, err\n	}\n	if rt.roles != nil {\n		if who, err = s.identify(r); err != nil {\n",
	},
	{
		name: "a device updates jobs of others", in: "internal/engine", by: "internal/server/wfx TestClientID",
		old: "!f.l.prog.Job || a.client != \"\" && a.client != clientOf(f.l.state.Data()):",
		new: "!f.l.prog.Job || a.client != \"\" && clientOf(f.l.state.Data()) == \"\":",
	},
	{
		name: "a device reads jobs of others", in: "internal/server/wfx", by: "internal/server/wfx TestClientID",
		old: "	if err == nil && r.client != \"\" && j.Instance.Job.Client != r.client {",
		new: "	if err == nil && r.client != \"\" && j.Instance.Job.Client == \"\" {",
	},
	{
		name: "a device says who it is", in: "internal/server", by: "internal/server TestSouthByRole",
		old: "	if claims && claimed != id {\n		return",
		new: "	if claims && claimed != id {\n		return claimed, true, nil\n	}\n	if claims && claimed != id {\n		return",
	},
	{
		name: "only addresses written as such are checked, not what names stand for", in: "internal/effect/http", by: "internal/effect/http TestRefusedAddress",
		old: "	if !p.allowsHost(address) {\n",
		new: "	if host, _, _ := net.SplitHostPort(address); !p.allowsHost(address) && net.ParseIP(host) != nil {\n",
	},
	{
		name: "a redirect reaches other ports of an allowed address", in: "internal/effect/http", by: "internal/effect/http TestRedirects",
		old: "	if slices.Contains(p.sockets, socket) {\n",
		new: "	if slices.ContainsFunc(p.sockets, func(s netip.AddrPort) bool { return s.Addr() == socket.Addr() }) {\n",
	},
	{
		name: "a redirect from https to http is followed", in: "internal/effect/http", by: "internal/effect/http TestCredentialsNeverCrossHosts",
		old: "	case last.URL.Scheme == \"https\" && next.URL.Scheme == \"http\":\n",
		new: "	case last.URL.Scheme == \"http\" && next.URL.Scheme == \"https\":\n",
	},
	{
		name: "a provider's metadata can be read", in: "internal/effect/http", by: "internal/effect/http TestPolicyKnowsMappedAndProviderAddresses",
		old: "err != nil || socket.Addr() == azureHost {",
		new: "err != nil {",
	},
	{
		name: "credentials follow to another port", in: "internal/effect/http", by: "internal/effect/http TestCredentialsNeverCrossHosts",
		old: "	if next.URL.Host == via[0].URL.Host {\n",
		new: "	if next.URL.Hostname() == via[0].URL.Hostname() {\n",
	},
	{
		name: "a call with a secret in its body follows to another host", in: "internal/effect/http", by: "internal/effect/http TestRedirectToAnotherHost",
		old: "	if rules.secret {\n",
		new: "	if next.Context() == nil {\n",
	},
	{
		name: "credentials of an authentication follow to another host", in: "internal/effect/http", by: "internal/effect/http TestDescribedRedirects",
		old: "	if rules.auth == nil || origin(r.URL) != rules.origin {\n",
		new: "	if rules.auth == nil {\n",
	},
	{
		name: "a request for a token is redirected", in: "internal/effect/http", by: "internal/effect/http TestDescribedAuthentication",
		old: "rules{redirects: RedirectNever, secret: true, guarded: guarded}",
		new: "rules{redirects: RedirectAll, guarded: guarded}",
	},
	{
		name: "an address that data chose need not be on the allow-list", in: "internal/effect/http", by: "internal/effect/http TestGuarded",
		old: "	if r.guarded {\n		return c.guarded\n",
		new: "	if r.guarded && c == nil {\n		return c.guarded\n",
	},
	{
		name: "the proxy of the environment is used", in: "internal/effect/http", by: "internal/effect/http TestProxyOfTheEnvironmentIsIgnored",
		old: "Proxy:                  nil, //",
		new: "Proxy:                  nethttp.ProxyFromEnvironment, //",
	},
	{
		name: "a definition reads files outside of its folder", in: "internal/dialect", by: "internal/dialect TestDirBundle",
		old: "readInside(b.dir, path, DefaultLimits.Bytes)",
		new: "readInside(\"/\", strings.TrimPrefix(filepath.Join(b.dir, path), \"/\"), DefaultLimits.Bytes)",
	},
	{
		name: "data chooses the host of a call", in: "internal/effect/catalogue", by: "internal/effect/catalogue TestDiagnostics",
		old: "i >= 0 && i < len(authority) || looksSecret(authority) {",
		new: "i >= 0 && i > len(authority) || looksSecret(authority) {",
	},
	{
		name: "matches of an expression cost nothing", in: "internal/expr/jsonpath", by: "internal/expr/jsonpath TestMatchesAreOutput",
		old: "		return w.budget.Emit(1)\n",
		new: "		return w.budget.Emit(0)\n",
	},
	{
		name: "values nest twice as deep", in: "expr", by: "expr TestParseRefusesDeepNesting",
		old: "	if depth > MaxDepth {\n		return Null, p.errorf",
		new: "	if depth > 2*MaxDepth {\n		return Null, p.errorf",
	},
	{
		name: "answers tell secrets", in: "internal/effect/catalogue", by: "internal/effect/catalogue TestSecretsStay",
		old: "	return s.redact(out)\n",
		new: "	return out\n",
	},
	{
		name: "messages about secrets quote them", in: "internal/secrets", by: "internal/secrets TestWrongSources",
		old: "it is not valid YAML or JSON (%s)\", d.Pos(), d.Code)",
		new: "%s\", d.Pos(), d.Message)",
	},
	{
		name: "text that looks like a sealed secret is opened", in: "internal/redact", by: "internal/redact TestSealIsUndone",
		old: "append(seals, begin, begin+end)",
		new: "append(seals, begin, begin)",
	},
	{
		name: "a state is stored with its secrets", in: "internal/engine", by: ". TestSecretsAreNotTold",
		old: "f.l.state.TakeDirty(f.l.sealer())",
		new: "f.l.state.TakeDirty(nil)",
	},
	{
		name: "the history tells secrets", in: "internal/engine", by: ". TestSecretsAreNotTold",
		old: "		f.l.redactRecord(&res.Records[i])\n",
		new: "		_ = i\n",
	},
	{
		name: "another workflow gets a secret", in: "internal/engine", by: ". TestSecretsAreNotTold",
		old: "		c.Input = s.Redact(c.Input)\n",
		new: "",
	},
	{
		name: "an instance without a secret is set aside", in: "internal/engine", by: ". TestSecretsAreNotTold",
		old: "err != nil && !isNoSecret(err) {",
		new: "err != nil {",
	},
	{
		name: "a secret in another form is told", in: "internal/effect/catalogue", by: "internal/effect/catalogue TestSecretsInAllForms",
		old: "			base64.URLEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)),\n",
		new: "",
	},
	{
		name: "a message repeats the password of a store", in: "internal/stores", by: "cmd/lockstep TestNoPasswordInMessages",
		old: "			shown.User = url.UserPassword(u.User.Username(), \"xxxxx\")\n",
		new: "			shown.User = u.User\n",
	},
	{
		name: "the page may have inline scripts", in: "internal/ui", by: "internal/ui TestFiles",
		old: "script-src 'self'; style-src",
		new: "script-src 'self' 'unsafe-inline'; style-src",
	},
	{
		name: "pages of other sites may change something", in: "internal/server", by: "internal/server TestOtherSites",
		old: "	if err := s.origin.Check(r); err != nil {\n",
		new: "	if err := s.origin.Check(r); err != nil && who.cookie {\n",
	},
	{
		name: "scripts can read the session", in: "internal/server", by: "internal/server TestSession",
		old: "		HttpOnly: true, SameSite",
		new: "		HttpOnly: false, SameSite",
	},
	{
		name: "other sites send the session along", in: "internal/server", by: "internal/server TestSession",
		old: "SameSite: http.SameSiteStrictMode",
		new: "SameSite: http.SameSiteNoneMode",
	},
	{
		name: "bodies have no limit", in: "internal/server/web", by: "internal/server TestBodyLimits",
		old: "	if int64(len(text)) > limit {\n		return nil, &http.MaxBytesError",
		new: "	if int64(len(text)) > limit && err != nil {\n		return nil, &http.MaxBytesError",
	},
	{
		name: "any content type is taken", in: "internal/server", by: "internal/server TestInput",
		old: "	if err != nil || !slices.Contains(types, media) || charset",
		new: "	if err != nil || len(types) == 0 || charset",
	},
	{
		name: "a text of a query is part of the statement", in: "internal/store/sqlite", by: "internal/store/sqlite TestStore/texts_are_no_part_of_a_statement",
		old: "from: \"FROM labels WHERE ns = ? AND name = ? AND text = ? AND lane = ?\", args: []any{s.ns, l.Name, l.Value, lane}",
		new: "from: \"FROM labels WHERE ns = ? AND name = ? AND text = '\" + l.Value + \"' AND lane = ?\", args: []any{s.ns, l.Name, lane}",
	},
}
