package cluster

// Invariant names something that must hold. Each is counted whenever a run could have broken it:
// one that is never counted proves nothing.
type Invariant string

// The invariants. README.md of package sim says what they promise.
const (
	KeptStart        Invariant = "an acknowledged start is there"
	KeptEvent        Invariant = "an acknowledged event is there"
	OneStart         Invariant = "a key starts one instance"
	StaysOver        Invariant = "an instance stays over"
	TimesGrow        Invariant = "times of records grow"
	SameHistory      Invariant = "history is what was committed"
	SameStream       Invariant = "streams tell what was committed"
	SameState        Invariant = "inputs give the stored state"
	NeverEarly       Invariant = "timers are not early"
	DecidedCall      Invariant = "a call is decided on first"
	OwnCall          Invariant = "a node makes its own calls"
	SameCall         Invariant = "a call made again is the same"
	OneAnswer        Invariant = "a call has one answer"
	OwnAnswer        Invariant = "an answer is to its own call"
	InboxFirst       Invariant = "a step takes what is in the inbox"
	Answerable       Invariant = "an open call can be answered"
	OneInput         Invariant = "a key stands for one input"
	SameInput        Invariant = "a restart has the input of the first"
	AtRevision       Invariant = "what names a revision follows it"
	Followed         Invariant = "who follows the feed misses nothing"
	FeedKept         Invariant = "the feed forgets nothing too early"
	StaysGone        Invariant = "what was deleted stays gone"
	Swept            Invariant = "housekeeping deletes nothing too early"
	AckedAnswer      Invariant = "the answer is the acknowledged one"
	OneConsumer      Invariant = "an event has one consumer"
	Released         Invariant = "an event that nobody consumed is free"
	LinearJob        Invariant = "updates of a job are linearizable"
	LinearRegistry   Invariant = "deployments are linearizable"
	WholeCampaign    Invariant = "a campaign ends with its jobs"
	ToldOperator     Invariant = "operators are told what happened"
	InOrderAtSink    Invariant = "the sink gets all events in order"
	EachFire         Invariant = "a schedule fires each time"
	SilentSchedule   Invariant = "a paused schedule fires never"
	SilentDefinition Invariant = "a paused or retired definition starts nothing"
	NoOverlap        Invariant = "instances overlap as the rule says"
	AccountedFire    Invariant = "a fire time is left out for a reason"
	EachTrigger      Invariant = "a trigger starts one instance"
	Ends             Invariant = "what can end ends"
	Retained         Invariant = "nothing is purged too early"
	AsInterpreted    Invariant = "outcomes are the interpreter's"
	Recovered        Invariant = "a restart finds what was stored"
	RefusedTwice     Invariant = "a commit is taken once"
)

var invariants = []Invariant{
	KeptStart, KeptEvent, OneStart, StaysOver, TimesGrow, SameHistory, SameStream, SameState, NeverEarly, DecidedCall, OwnCall, SameCall, OneAnswer, OwnAnswer, InboxFirst, Answerable, OneInput, SameInput, AtRevision, Followed, FeedKept, StaysGone, Swept, AckedAnswer, OneConsumer, Released,
	LinearJob, LinearRegistry, WholeCampaign, ToldOperator, InOrderAtSink, EachFire, SilentSchedule, SilentDefinition, NoOverlap, AccountedFire, EachTrigger, Ends, Retained, AsInterpreted, Recovered, RefusedTwice,
}

// check counts that an invariant could have been broken here.
func (w *world) check(i Invariant) { w.checks[i]++ }
