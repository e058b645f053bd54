// Package store says what must survive the process, as an interface and its rows.
// It holds no semantics: package engine decides, a store remembers.
//
// A [Store] is the view of one namespace; a database keeps the namespace as the
// first key of every table.
//
// # What an implementation must do
//
//  1. Commit, Ingest and Route are transactions: all of it or nothing, durable
//     before they return.
//  2. Commit compares the instance's revision before anything else and fails with
//     ErrConflict where it differs. Safety rests on this alone.
//  3. A commit changes one instance. For others it only inserts: an instance that does
//     not exist yet, or a message.
//  4. A Router runs inside its transaction: between what it sees in its View and what
//     its Routing does, no subscription, gathering or event changes. It is called once
//     or more; it is quick, and calls no method of the store but the View's.
//  5. Seq numbers order instances, messages, events and gatherings together: what is
//     stored later has the greater one.
//  6. Lists come in the order their method names, never in that of a hash table.
//  7. Where an instance's status is final after a commit, its subscriptions and its calls
//     are gone with that commit, and the events that are kept for it are listed by Again.
//  8. A list with a limit costs what it returns, not what there is: engines ask for a
//     batch at a time while thousands wait. A list of kept events looks at MaxEventScan
//     of them, and a page of history at what comes after its beginning, at worst.
//  9. Who asks after a call has returned sees what the call did.
//  10. An event and a subscription that it matches do not miss each other: who is stored
//     second finds the first. A new subscription is fresh, and its instance Unchecked,
//     until a Routing says that it is checked; where no event is kept that it could get,
//     it need not be, if that is found out in the transaction that adds it.
//  11. Instances and gatherings refer to contents that are there: who would add one whose
//     Digest, unless it is empty, is not that of a content fails with *NoContentError, in the
//     same transaction. DeleteDefinition counts in one, too: they cannot miss each other.
//  12. The name of a suspect outlives the process, and the instance: only Unsuspect removes it.
//  13. A value that is damaged is never returned as another one: whoever reads it gets ErrDamaged, with
//     words that name the instance, event or definition and what of it. Lists have the others, see
//     DamagedError, and nobody else is held up.
//
// [Shared] is what a store adds that several processes use at a time.
//
// store/memory is the reference, store/storetest the test of every store.
package store
