-- The namespace leads every primary key, and no other index that has something else to find
-- by: on a table without statistics the planner may take any index whose first column is
-- given, and would look at a whole namespace. Times are nanoseconds since 1970. Seqs, positions and
-- turns come from one sequence, a block at a time, while the lock of the namespace is held:
-- they become visible in their order. What users chose freely is bytes, or a hash of it that
-- its reader compares: text cannot have a zero byte, and an index entry not be long.

CREATE SEQUENCE seqs INCREMENT BY 1024 MINVALUE 1024 START 1024;

CREATE TABLE namespaces (
	ns     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name   text NOT NULL UNIQUE,
	oldest bigint NOT NULL DEFAULT 0, -- items of the feed up to here are forgotten
	deployments bigint NOT NULL DEFAULT 0 -- counts changes of the definitions
);

-- Transactions that were committed, for whoever lost the connection before the answer. Who
-- asks inserts the token: then either it was there, or it never will be. A token begins with
-- the time in nanoseconds. It goes round four tables, 73 minutes each (2^42 ns), and a table whose tokens
-- are old is emptied at once: nothing is left of them that anybody would have to pass.
CREATE TABLE outcomes (
	token  uuid NOT NULL,
	result smallint[]
) PARTITION BY LIST (((get_byte(uuid_send(token), 2) >> 2) & 3));
CREATE TABLE outcomes_0 PARTITION OF outcomes FOR VALUES IN (0);
CREATE TABLE outcomes_1 PARTITION OF outcomes FOR VALUES IN (1);
CREATE TABLE outcomes_2 PARTITION OF outcomes FOR VALUES IN (2);
CREATE TABLE outcomes_3 PARTITION OF outcomes FOR VALUES IN (3);
-- The same token comes to the same table: what is unique there is unique.
CREATE UNIQUE INDEX outcomes_0_token ON outcomes_0 (token);
CREATE UNIQUE INDEX outcomes_1_token ON outcomes_1 (token);
CREATE UNIQUE INDEX outcomes_2_token ON outcomes_2 (token);
CREATE UNIQUE INDEX outcomes_3_token ON outcomes_3 (token);

-- Nodes, and which of them has which part of a namespace's instances. An epoch never goes
-- back: it grows whenever a part changes hands.

CREATE TABLE nodes (
	node    uuid PRIMARY KEY,
	ns      integer NOT NULL,
	name    text NOT NULL,
	version text NOT NULL,
	address text NOT NULL,
	calls   integer NOT NULL, -- in flight
	since   timestamptz NOT NULL,
	seen    timestamptz NOT NULL,
	until   timestamptz NOT NULL -- so long it has its parts
) WITH (fillfactor = 50);

CREATE TABLE shards ( -- written only when a part changes hands
	ns    integer NOT NULL,
	shard smallint NOT NULL,
	owner uuid REFERENCES nodes ON DELETE SET NULL,
	epoch bigint NOT NULL,
	PRIMARY KEY (ns, shard)
) WITH (fillfactor = 50);

-- Definitions: programs by content, and the names that lead to them.

CREATE TABLE contents (
	ns      integer NOT NULL,
	digest  text NOT NULL,
	edition bigint NOT NULL,
	info    text NOT NULL, -- the definition without what has a column, as JSON
	program bytea NOT NULL,
	source  bytea,
	PRIMARY KEY (ns, digest, edition)
);

CREATE TABLE aliases (
	ns      integer NOT NULL,
	id      text NOT NULL,
	version text NOT NULL,
	seq     bigint NOT NULL, -- order of the first deployment
	current boolean NOT NULL,
	digest  text NOT NULL,
	edition bigint NOT NULL,
	info    text NOT NULL,
	source  bytea,
	PRIMARY KEY (ns, id, version)
);
CREATE INDEX aliases_digest ON aliases (digest);

CREATE TABLE schedules (
	ns         integer NOT NULL,
	definition text NOT NULL,
	digest     text NOT NULL,
	next       bigint NOT NULL,
	PRIMARY KEY (ns, definition)
);

-- Instances. Their rows are changed in place as long as no column of an index changes:
-- what is to be done with them is in tables of its own.

CREATE TABLE kinds ( -- what instances are instances of
	kind       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	ns         integer NOT NULL,
	definition text NOT NULL,
	version    text NOT NULL,
	digest     text NOT NULL,
	UNIQUE (ns, definition, version, digest)
);

CREATE TABLE instances (
	ns      integer NOT NULL,
	seq     bigint NOT NULL,
	rev     bigint NOT NULL,
	created bigint NOT NULL,
	updated bigint NOT NULL,
	ended   bigint NOT NULL,
	wake    bigint, -- when it is to be woken; none in quarantine
	told    bigint NOT NULL, -- how many records its history has
	labels  bigint NOT NULL, -- a hash of its rows in labels
	owns    bigint NOT NULL, -- a hash of its rows in owners
	error   bigint, -- a hash of the name of its fault
	kind    integer NOT NULL,
	status  smallint NOT NULL, -- 4 and above are final
	shard   smallint NOT NULL,
	more    boolean NOT NULL, -- a step ran out of fuel
	aside   boolean NOT NULL, -- in quarantine
	id      text NOT NULL,
	parent  text,
	client  text, -- of a job
	state   text, -- of a job; none: it is no job
	grp     text, -- of a job's state
	rest    bytea NOT NULL,
	PRIMARY KEY (ns, seq)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX instances_id ON instances (id, ns);
CREATE INDEX instances_status ON instances (kind, status, seq);
CREATE INDEX instances_parent ON instances (parent, seq) WHERE parent IS NOT NULL;
CREATE INDEX instances_error ON instances (error, seq) WHERE error IS NOT NULL;
CREATE INDEX instances_ended ON instances ((0 + ns), ended, seq) WHERE status >= 4; -- only who writes 0 + ns finds by it
CREATE INDEX instances_job ON instances (kind, state, seq) WHERE state IS NOT NULL;
CREATE INDEX instances_client ON instances (client, kind, state, seq) WHERE client IS NOT NULL;

CREATE TABLE job_states ( -- the states that jobs were in, ever
	ns    integer NOT NULL,
	kind  integer NOT NULL,
	state text NOT NULL,
	grp   text NOT NULL,
	PRIMARY KEY (ns, kind, state, grp)
);

CREATE TABLE pages (
	ns    integer NOT NULL,
	inst  bigint NOT NULL,
	frame bigint NOT NULL,
	part  integer NOT NULL,
	data  bytea NOT NULL,
	PRIMARY KEY (ns, inst, frame, part)
) WITH (fillfactor = 70);

CREATE TABLE labels (
	ns    integer NOT NULL,
	label bigint NOT NULL, -- a hash of the name, or of name and value
	kind  integer NOT NULL, -- 0: a row of every instance; else one more of a job, with its state
	state text NOT NULL,
	inst  bigint NOT NULL,
	PRIMARY KEY (ns, label, kind, state, inst)
);
CREATE INDEX labels_inst ON labels (inst);

CREATE TABLE owners ( -- correlation keys of instances that are not over
	ns   integer NOT NULL,
	key  bigint NOT NULL, -- a hash of definition, name and value
	inst bigint NOT NULL,
	PRIMARY KEY (ns, key, inst)
);
CREATE INDEX owners_inst ON owners (inst);

-- Nothing is deleted from history, which is the feed, too, and from events. They lie in generations,
-- tables of which one is the current one and gets all that is new. What is forgotten is
-- garbage; of a generation that has much of it, the rest is moved to the current one, and
-- then it is emptied at once (008_generations.sql).

CREATE TABLE rings ( -- which generation is the current one: 0 of history, 1 of events
	ring    smallint PRIMARY KEY,
	current smallint NOT NULL
);
INSERT INTO rings VALUES (0, 0), (1, 0);

CREATE TABLE generations (
	ring    smallint NOT NULL,
	gen     smallint NOT NULL,
	state   smallint NOT NULL DEFAULT 0, -- 0 empty, 1 current, 2 closed, 3 what is no garbage is being moved, 4 all of it was
	rows    bigint NOT NULL DEFAULT 0, -- when it was closed, about
	garbage bigint NOT NULL DEFAULT 0, -- how many of them
	at_ns   integer NOT NULL DEFAULT 0, -- how far the move is
	at_pos  bigint NOT NULL DEFAULT 0,
	moved   timestamptz, -- when it was over
	PRIMARY KEY (ring, gen)
) WITH (fillfactor = 20);
INSERT INTO generations (ring, gen, state) SELECT 0, g, (g = 0)::integer FROM generate_series(0, 7) g UNION ALL SELECT 1, g, (g = 0)::integer FROM generate_series(0, 3) g;

CREATE TABLE walked ( -- up to where rows of a generation of history were moved or are garbage
	gen smallint NOT NULL,
	ns  integer NOT NULL,
	pos bigint NOT NULL,
	PRIMARY KEY (gen, ns)
);

-- What commits did, in their order: the feed, and the history of an instance. Of a row nothing ever
-- changes but its generation. It is garbage once its instance is neither in instances nor in gone.

CREATE TABLE history (
	ns         integer NOT NULL,
	gen        smallint NOT NULL,
	status     smallint NOT NULL,
	pos        bigint NOT NULL,
	inst       bigint NOT NULL,
	at         bigint NOT NULL,
	told       bigint NOT NULL, -- how many records of the instance there are up to here
	kind       integer NOT NULL,
	instance   text NOT NULL,
	client     text,
	records    bytea -- none: only the status changed
) PARTITION BY LIST (gen);
DO $$
BEGIN
	FOR g IN 0..7 LOOP
		EXECUTE format('CREATE TABLE history_%s PARTITION OF history FOR VALUES IN (%1$s)', g);
		EXECUTE format('CREATE UNIQUE INDEX history_%s_pos ON history_%1$s (ns, pos)', g);
		EXECUTE format('CREATE INDEX history_%s_told ON history_%1$s (inst, told)', g);
	END LOOP;
END $$;

CREATE TABLE gone ( -- deleted instances that the feed still tells of
	ns   integer NOT NULL,
	inst bigint NOT NULL,
	last bigint NOT NULL,
	rows bigint NOT NULL, -- of history that it has at most
	PRIMARY KEY (ns, inst)
);
CREATE INDEX gone_last ON gone ((0 + ns), last); -- as instances_ended

-- What is yet to be done.

CREATE TABLE inbox (
	ns     integer NOT NULL,
	inst   bigint NOT NULL,
	seq    bigint NOT NULL,
	at     bigint NOT NULL,
	event  bigint NOT NULL, -- 0: it carries none
	ticket bigint NOT NULL, -- of a reply
	input  bytea NOT NULL,
	PRIMARY KEY (ns, inst, seq)
);

CREATE TABLE ready ( -- instances that have something to do
	ns     integer NOT NULL,
	inst   bigint NOT NULL,
	turn   bigint NOT NULL,
	shard  smallint NOT NULL,
	queued boolean NOT NULL, -- it has messages, or more to do
	due    bigint, -- its wake time, which has come
	id     text NOT NULL,
	PRIMARY KEY (inst)
);
CREATE INDEX ready_turn ON ready (ns, turn);
CREATE INDEX ready_due ON ready (due) WHERE due IS NOT NULL;

CREATE TABLE wakes ( -- instances whose wake time is yet to come
	ns    integer NOT NULL,
	inst  bigint NOT NULL,
	wake  bigint NOT NULL,
	shard smallint NOT NULL,
	id    text NOT NULL,
	turn  bigint NOT NULL, -- a number of the transaction that wrote it
	PRIMARY KEY (inst)
);
CREATE INDEX wakes_wake ON wakes (ns, wake);
CREATE INDEX wakes_turn ON wakes (ns, turn);

CREATE TABLE calls (
	ns     integer NOT NULL,
	inst   bigint NOT NULL,
	ticket bigint NOT NULL,
	seq    bigint NOT NULL,
	epoch  bigint NOT NULL, -- of the part, as the node knew it that has the call; 0: it has not the part
	shard  smallint NOT NULL, -- a part of the node that decided on it
	parked boolean NOT NULL DEFAULT false, -- it waits for a person
	call   bytea NOT NULL,
	PRIMARY KEY (inst, ticket)
);
CREATE INDEX calls_epoch ON calls (ns, shard, epoch);

CREATE TABLE emits (
	ns         integer NOT NULL,
	sink       boolean NOT NULL, -- it goes out to the sink; else it is to be ingested
	seq        bigint NOT NULL,
	shard      smallint NOT NULL,
	instance   text NOT NULL,
	definition text NOT NULL,
	event      bytea NOT NULL,
	PRIMARY KEY (ns, sink, seq)
);

-- Events. A shape is where events have what a filter fixes. Events and subscriptions meet
-- by hashes of their type and of the values of a shape.

CREATE TABLE shapes (
	ns     integer NOT NULL,
	typ    bigint NOT NULL,
	places text NOT NULL, -- a JSON array
	PRIMARY KEY (ns, typ, places)
);

CREATE TABLE subs (
	ns     integer NOT NULL,
	inst   bigint NOT NULL,
	ticket bigint NOT NULL,
	typ    bigint NOT NULL,
	match  bigint NOT NULL, -- 0: nothing can match
	ver    bigint NOT NULL, -- grows with every change
	shard  smallint NOT NULL,
	fresh  boolean NOT NULL, -- not compared with kept events yet
	busy   boolean NOT NULL, -- an event is on its way to it
	id     text NOT NULL, -- of the instance
	name   bytea NOT NULL,
	filter bytea NOT NULL,
	PRIMARY KEY (inst, ticket)
);
CREATE INDEX subs_match ON subs (typ, match, ns) WHERE NOT busy;
CREATE INDEX subs_fresh ON subs (ns, inst) WHERE fresh AND NOT busy;

-- Events are forgotten by an instant that only grows: one is there while its over is later. Else it is
-- garbage, which everybody passes over. Of one that is written when its time is up already, over is
-- never, and the next purge corrects it. So an index by source and id cannot be unique: who inserts has
-- the lock of the namespace, and looked. Keys and deliveries of an event are in its generation. Only who
-- writes 0 + ns finds events by over.

CREATE TABLE purges ( -- the last one holds
	ns   integer NOT NULL,
	over bigint NOT NULL,
	PRIMARY KEY (ns, over)
);

CREATE TABLE events (
	ns       integer NOT NULL,
	gen      smallint NOT NULL,
	again    boolean NOT NULL, -- to be routed again
	started  boolean NOT NULL, -- a definition uses it
	seq      bigint NOT NULL,
	typ      bigint NOT NULL,
	received bigint NOT NULL,
	until    bigint NOT NULL,
	over     bigint NOT NULL, -- until, or never
	ver      bigint NOT NULL, -- grows with every change
	key      bytea NOT NULL, -- a hash of source and id
	producer text NOT NULL,
	origin   text NOT NULL,
	fors     text[] NOT NULL, -- instances that it belongs to
	fate     bytea NOT NULL, -- used, why
	event    bytea NOT NULL
) PARTITION BY LIST (gen);

CREATE TABLE event_keys (
	ns    integer NOT NULL,
	gen   smallint NOT NULL,
	typ   bigint NOT NULL, -- 0: of shapes of any type
	match bigint NOT NULL,
	event bigint NOT NULL
) PARTITION BY LIST (gen);

CREATE TABLE deliveries ( -- who got an event
	ns      integer NOT NULL,
	gen     smallint NOT NULL,
	refused boolean NOT NULL, -- the instance did not wait for it any more
	event   bigint NOT NULL,
	inst    bigint NOT NULL,
	ticket  bigint NOT NULL,
	PRIMARY KEY (ns, event, inst, ticket, gen)
) PARTITION BY LIST (gen);
DO $$
BEGIN
	FOR g IN 0..3 LOOP
		EXECUTE format('CREATE TABLE events_%s PARTITION OF events FOR VALUES IN (%1$s)', g);
		EXECUTE format('CREATE UNIQUE INDEX events_%s_seq ON events_%1$s (ns, seq)', g);
		EXECUTE format('CREATE INDEX events_%s_key ON events_%1$s (key)', g);
		EXECUTE format('CREATE INDEX events_%s_typ ON events_%1$s (typ, seq)', g);
		EXECUTE format('CREATE INDEX events_%s_over ON events_%1$s ((0 + ns), over)', g);
		EXECUTE format('CREATE INDEX events_%s_again ON events_%1$s (ns, seq) WHERE again', g);
		EXECUTE format('CREATE INDEX events_%s_late ON events_%1$s (ns, until) WHERE over <> until', g);
		EXECUTE format('CREATE TABLE event_keys_%s PARTITION OF event_keys FOR VALUES IN (%1$s)', g);
		EXECUTE format('CREATE UNIQUE INDEX event_keys_%s_match ON event_keys_%1$s (ns, typ, match, event)', g);
		EXECUTE format('CREATE INDEX event_keys_%s_event ON event_keys_%1$s (event)', g);
		EXECUTE format('CREATE TABLE deliveries_%s PARTITION OF deliveries FOR VALUES IN (%1$s)', g);
	END LOOP;
END $$;

CREATE TABLE kept_for ( -- events that belong to instances
	ns    integer NOT NULL,
	id    text NOT NULL, -- of the instance
	event bigint NOT NULL,
	PRIMARY KEY (ns, id, event)
);

CREATE TABLE gatherings (
	ns         integer NOT NULL,
	seq        bigint NOT NULL,
	ver        bigint NOT NULL, -- grows with every change
	until      bigint NOT NULL, -- 0: of a content that is not the current one
	fits       bigint NOT NULL, -- a hash of key; 0: it is empty
	key        bytea NOT NULL, -- what an event must have to fit; empty: it may fit any
	definition text NOT NULL,
	digest     text NOT NULL,
	rest       bytea NOT NULL,
	PRIMARY KEY (ns, seq)
);
CREATE INDEX gatherings_definition ON gatherings (definition, digest, fits);
CREATE INDEX gatherings_until ON gatherings (until, seq);
