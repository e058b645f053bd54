// Package store defines what must survive the process: an interface and its rows.
// Package engine decides and a store remembers, but for the few rules listed below under Events,
// which a store enforces itself.
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
//     or more; it is fast, and calls no method of the store but the View's.
//  5. Seq numbers order instances, messages, events and gatherings together: what is
//     stored later has the greater one.
//  6. Lists come in the order their method names, never in that of a hash table.
//  7. Where an instance's status is final after a commit, its subscriptions and its calls
//     are gone with that commit, and the events that are kept for it are listed by Again.
//  8. A list with a limit costs what it returns, not what there is: engines ask for a
//     batch at a time while thousands wait. A list of kept events looks at MaxEventScan
//     of them, and a page of history at what comes after its beginning, at worst.
//  9. A read that begins after a write has returned sees the write.
//  10. An event and a subscription that it matches do not miss each other: the one that is
//     stored second finds the first. A new subscription is fresh, and its instance is listed by
//     Unchecked, until a Routing lists the instance as Checked. If no kept event could match, and
//     the transaction that adds the subscription finds that out, it need not be fresh.
//  11. Instances and gatherings refer to contents that exist: adding one with a Digest, unless
//     empty, that is not that of a content fails with *NoContentError in the same transaction.
//     DeleteDefinition counts its references in a transaction, too: they cannot miss each other.
//  12. A suspect outlives the process, and the instance: only Unsuspect removes it.
//  13. A damaged value is never returned as another value: reading it fails with ErrDamaged and a
//     message that names the instance, event or definition and the part that is damaged. Lists
//     return the undamaged rows beside the error (see DamagedError), so that those go on.
//  14. Commit.Chunks are stored with the records, and live as long as these. Pages and States append
//     those to which the pages refer; Records, Feed, Calls, Instance and Instances put them in their
//     places, but for Query.Bare.
//
// # Events
//
// An event, its deliveries and the subscriptions of instances change together, so the store
// enforces these rules in its transactions. Every store has the same ones; storetest tests each.
//
//   - An event is identified by source and id. Until Event.Until, Ingest refuses another one
//     with both as a duplicate. Purge forgets it afterwards.
//   - A delivery puts the event into the inbox and closes the subscription to other events, unless its
//     ticket is standing. It counts as taken (Event.Taken) from then on, as does an event that a start used.
//   - A subscription with a standing ticket ([core.Ticket.Standing]) stays open, and gets one event after
//     the other. View.Subscriptions says that it is fresh while any open one of its wait is
//     ([core.Ticket.Wait]): then a router delivers to the wait what came before, or nothing.
//   - A commit that removes such a subscription, by Unsubscribe, refuses the events in the inbox for it,
//     and removes their messages, unless the instance is over with it. Otherwise another subscription
//     could get a later event before it gets these.
//   - With Commit.Event the event is delivered and taken in one transaction: nothing is put into the
//     inbox, and the commit closes the subscription, if it is to be closed.
//   - A commit that lists a message in Taken and Release refuses its event: the subscription, if it
//     still exists, is open again, the delivery no longer counts, that ticket does not get the event
//     again, and the event is kept for the instance (Event.For). All subscriptions of the instance are
//     fresh again.
//   - An event is no longer kept for an instance once it is delivered to it. The same happens when the
//     instance ends or is deleted: then the event is listed by Again.
//   - A Routing that names an event among Events takes it off that list, unless Again names it.
//
// [Shared] is a store that several processes use at the same time.
//
// store/memory is the reference, store/storetest the test of every store.
package store
