// The filter of the list, which is in the address: as it is written, and its commonest words as choices.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem, statuses, type Status } from "../api";
import { amend, go, place } from "../router";
import { valueOf, withValue } from "../parts/filter";
import { Icon } from "../parts/icon";
import { useLive } from "../parts/live";
import { useLoad, type Loaded } from "../parts/load";
import { Popover } from "../parts/popover";
import { statusChoices } from "./instances-views";

export interface Stats {
  total: number;
  statuses: Partial<Record<Status, number>>;
  definitions: { id: string; total: number; statuses: Partial<Record<Status, number>> }[];
}

export function useStats(): Loaded<Stats> {
  const stats = useLoad((signal) => get<Stats>("/api/v1/stats", signal), []);
  useLive(2000, () => true, stats.again);
  return stats;
}

/** Another filter in the same place: the view and what is folded stay, the page and the selection do not. */
function apply(q: string) {
  const query = new URLSearchParams(place.peek().query);
  for (const gone of ["after", "page", "sel"]) query.delete(gone);
  if (q) query.set("q", q);
  else query.delete("q");
  go("/instances" + (query.size ? "?" + query : ""));
}

/** Where the filter is typed. What is typed belongs to the box: answers never touch it. */
export function FilterBox(p: { q: string; fault?: Problem }) {
  const [text, setText] = useState(p.q);
  const mine = useRef(p.q);
  const timer = useRef(0);
  useEffect(() => {
    if (p.q === mine.current) return;
    mine.current = p.q; // a link or Back changed it
    setText(p.q);
  }, [p.q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const typed = (value: string) => {
    clearTimeout(timer.current);
    if (value === mine.current) return;
    mine.current = value;
    amend({ q: value, after: null, page: null, sel: null });
  };
  const first = (p.fault?.body.errors as { column?: number; message: string; hint?: string }[] | undefined)?.[0];
  return (
    <form
      class="filter"
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        typed(text);
      }}
    >
      <label class="unseen" for="filter">
        Filter
      </label>
      <span class="search">
        <Icon name="search" />
        <input
          id="filter"
          type="search"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          placeholder="Filter, such as order:A-1038 error:Timeout age:>1h"
          value={text}
          aria-invalid={p.fault !== undefined}
          aria-describedby={p.fault ? "filter-error" : undefined}
          onInput={(e) => {
            const value = e.currentTarget.value;
            setText(value);
            clearTimeout(timer.current);
            timer.current = window.setTimeout(typed, 250, value);
          }}
        />
      </span>
      {p.fault && (
        <div class="filter-error" id="filter-error" role="alert">
          {first?.column && <pre aria-hidden="true">{" ".repeat(first.column - 1)}^</pre>}
          {first ? `Column ${first.column}: ${first.message}` : p.fault.message}
          {first?.hint && <span class="quiet"> {first.hint}</span>}
        </div>
      )}
    </form>
  );
}

/** The words that people want most, as choices, with how many there are. */
export function Choices(p: { q: string; stats?: Stats }) {
  const status = valueOf(p.q, "status") ?? "";
  const definition = valueOf(p.q, "def") ?? "";
  const ids = p.stats?.definitions.map((d) => d.id) ?? [];
  const counts = p.stats?.definitions.find((d) => d.id === definition)?.statuses ?? p.stats?.statuses;
  return (
    <>
      <select
        aria-label="Status"
        class={status ? "set" : undefined}
        value={statuses.includes(status as Status) ? status : ""}
        onChange={(e) => apply(withValue(p.q, "status", e.currentTarget.value))}
      >
        <option value="">Any status</option>
        {statusChoices(counts).map((c) => (
          <option key={c.value} value={c.value}>
            {c.text}
          </option>
        ))}
      </select>
      <select
        aria-label="Definition"
        class={definition ? "set" : undefined}
        value={ids.includes(definition) ? definition : ""}
        onChange={(e) => apply(withValue(p.q, "def", e.currentTarget.value))}
      >
        <option value="">Any definition</option>
        {ids.slice(0, 500).map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </>
  );
}

const grammar = [
  ["status:failed  status:failed,paused", "by status, one of several"],
  ["def:order  def:order@1.3", "by definition and version"],
  ["state:Charge", "in a state now"],
  ["error:Timeout", "by the name of the error"],
  ["age:>1h  idle:<30m", "by the time since creation, since the last change"],
  ["created:2026-01-31  updated:>2026-01-31T12:00:00Z", "by day or instant"],
  ["order:A-1038  label:order=A-1038", "by label"],
  ['name:"Order 7"  key:KEY', "by name, by idempotency key or correlation attribute"],
  ["id:abc  parent:ID", "by the beginning of the id, by the parent"],
  ["is:root", "started by no other instance"],
  ["is:job  client:device7  group:OPEN", "jobs"],
  ["A-1038", "a whole id, name, key or label's value"],
  ["text:bank", "a part of an id, name, label, definition, state, client or error"],
  ["-word", "what the word does not select"],
];

export function Grammar() {
  return (
    <Popover label="How to filter" icon="info" class="ghost" right>
      {() => (
        <dl class="grammar">
          {grammar.map(([example, meaning]) => (
            <div key={example}>
              <dt class="mono">{example}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      )}
    </Popover>
  );
}
