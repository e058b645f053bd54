import { useState } from "preact/hooks";
import { get } from "../api";
import { may } from "../parts/access";
import { listOf, quote } from "../parts/filter";
import { number } from "../parts/format";
import { Loading } from "../parts/head";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Ago } from "../parts/when";

interface Failure {
  definition: string;
  error: string;
  state?: string;
  count: number;
  newest: string;
  instance: string;
  detail?: string;
}

const few = 5; // causes that are shown at once

/** Failed instances by what they failed with, and where. */
export function Failures(p: { failed: number }) {
  // To group them the server reads many: not as often as the rest.
  const groups = useLoad((signal) => get<{ items: Failure[]; exact: boolean }>("/api/v1/failures", signal), []);
  useLive(5000, () => true, groups.again);
  const [all, setAll] = useState(false);
  const list = groups.data?.items ?? [];
  if (list.length === 0 && !groups.error && (groups.data || p.failed === 0)) return null; // the figure says 0
  const most = Math.max(...list.map((f) => f.count));
  return (
    <section class="panel failures" aria-labelledby="failures">
      <div class="home-title">
        <h2 id="failures">Failures by cause</h2>
        {p.failed > 0 && (
          <a class="calm" href={listOf("status:failed")}>
            All {number(p.failed)}
          </a>
        )}
      </div>
      <ProblemBox error={groups.error} again={groups.again} />
      {!groups.data && !groups.error && <Loading lines={3} />}
      <ul class="causes">
        {(all ? list : list.slice(0, few)).map((f) => (
          <Cause key={`${f.definition} ${f.error} ${f.state}`} failure={f} part={f.count / most} />
        ))}
      </ul>
      {list.length > few && (
        <button type="button" class="small ghost" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fewer" : `All ${number(list.length)} causes`}
        </button>
      )}
      {groups.data?.exact === false && <p class="quiet">There are more failures; these are the newest.</p>}
    </section>
  );
}

function Cause(p: { failure: Failure; part: number }) {
  const f = p.failure;
  const q = filterOf(f);
  return (
    <li>
      <div class="count">
        <b>{number(f.count)}</b>
        <svg class="share" height="4" aria-hidden="true">
          <rect class="off" width="100%" height="4" rx="2" />
          <rect width={Math.max(p.part * 100, 3) + "%"} height="4" rx="2" />
        </svg>
      </div>
      <div class="cause">
        <a class="name" href={listOf(q)}>
          {f.error}
          {f.state && <span class="quiet"> at </span>}
          {f.state}
        </a>
        {f.detail && (
          <p class="detail" title={f.detail}>
            {shortened(f.detail)}
          </p>
        )}
        <a class="calm quiet" href={"/definitions/" + encodeURIComponent(f.definition)}>
          {f.definition}
        </a>
      </div>
      <div class="acts">
        <a class="calm quiet" href={"/instances/" + encodeURIComponent(f.instance)} title="The newest of them">
          <Ago time={f.newest} />
        </a>
        {may("operate") && (
          // The list says how many are selected, and asks before it retries them.
          <a class="button small" href={listOf(q) + "&sel=all"} aria-label={`Retry ${number(f.count)} with ${f.error}…`}>
            Retry…
          </a>
        )}
      </div>
    </li>
  );
}

/** A long detail without its middle: causes often differ only at the end. */
function shortened(detail: string): string {
  const start = 110;
  const end = 50;
  return detail.length > start + end ? `${detail.slice(0, start).replace(/\s+\S*$/, "")} … ${detail.slice(-end).replace(/^\S*\s+/, "")}` : detail;
}

function filterOf(f: Failure): string {
  const words = ["status:failed", "def:" + quote(f.definition)];
  if (f.error) words.push("error:" + quote(f.error));
  if (f.state) words.push("state:" + quote(f.state));
  return words.join(" ");
}
