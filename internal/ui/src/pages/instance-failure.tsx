import { useState } from "preact/hooks";
import { api, get, type Definition, type Instance } from "../api";
import { may } from "../parts/access";
import { number } from "../parts/format";
import { Json } from "../parts/json";
import { useLoad } from "../parts/load";
import { RequestLine } from "./instance-call";
import { didFail } from "./instance-calls";
import type { Attempt } from "./instance-history";
import { itemText } from "./instance-progress";
import { showState, showTab } from "./instance-show";

const longDetail = 400;

/** Why it failed: the error, where, what the other side answered, and what can be done. */
export function Failure(p: { instance: Instance; calls: Attempt[] }) {
  const e = p.instance.error!;
  const { id, version } = p.instance.definition;
  const [all, setAll] = useState(false);
  const source = "/definitions/" + encodeURIComponent(id) + "?" + new URLSearchParams({ ...(version ? { version } : {}), tab: "source", line: String(e.place?.line ?? 1) });
  const call = p.calls.findLast((a) => didFail(a) && a.ended!.error?.name === e.name && (!e.item || a.called.index === e.item.index));
  const tries = call ? Math.max(call.called.attempt ?? 1, p.calls.filter((a) => a.function === call.function && a.called.node === call.called.node && a.called.frame === call.called.frame).length) : 0;
  const x = call?.ended?.exchange;
  const detail = e.detail ?? "";
  const long = detail.length > longDetail;
  return (
    <section class="problem failure" aria-label="Error">
      <h2>
        ✕ {e.name}
        {e.code && ` (${e.code})`}
        {e.node && (
          <span>
            {" "}
            in{" "}
            <button type="button" class="plain" onClick={() => showState(e.node!)}>
              {e.node}
            </button>
          </span>
        )}
      </h2>
      <p class="failure-where">
        {e.item && (
          <span>
            item {number(e.item.index)} <span class="mono">{itemText(e.item.value)}</span>
          </span>
        )}
        {tries > 1 && <span>after {tries} attempts</span>}
        {e.place && (
          <span>
            <a href={source}>
              line {e.place.line} of {id}
              {version && "@" + version}
            </a>
          </span>
        )}
        {call && (
          <button type="button" class="plain link" onClick={() => showTab("calls", call.called.seq)}>
            the call of {call.function}
          </button>
        )}
      </p>
      {detail && (
        <p class="detail">
          {long && !all ? detail.slice(0, longDetail) + "… " : detail}{" "}
          {long && (
            <button type="button" class="bare" onClick={() => setAll(!all)}>
              {all ? "Show less" : "Show all"}
            </button>
          )}
        </p>
      )}
      {x && <RequestLine exchange={x} />}
      {e.data !== undefined && (
        <div class="failure-answer">
          <h3>
            Answer
            {(x?.status ?? e.status) && ` with status ${x?.status ?? e.status}`}
          </h3>
          <Json value={e.data} label="Answer of the failed call" />
        </div>
      )}
      {(e.trail?.length ?? 0) > 1 && <p class="quiet">It came from {e.trail!.map((hop) => [hop.workflow, hop.node].filter(Boolean).join(" · ")).join(" → ")}</p>}
      <NextStep instance={p.instance} />
    </section>
  );
}

/** What this role can do about it, in a sentence. */
function NextStep(p: { instance: Instance }) {
  const { error: e, definition: d, allowed = [], progress } = p.instance;
  const current = useLoad(async (signal) => await get<Definition>(api("definitions", d.id), signal).catch(() => undefined), [d.id]);
  const newer = current.data && current.data.digest !== d.digest && current.data.version !== d.version ? current.data.version : "";
  const steps: string[] = [];
  const operates = may("operate");
  if (operates && allowed.includes("retry")) {
    if (progress?.length) steps.push("Retry failed items calls only those again, and keeps the results of the others.");
    else steps.push(`Retry runs ${e?.node ?? "the state"} again with the same input${allowed.includes("skip") ? "; Skip continues with an output that you give" : ""}.`);
  }
  if (may("deploy") && e?.name === "FunctionNotFound") steps.unshift("Nothing carries out this function: correct its operation and deploy, or add it to the catalogue.");
  if (operates && newer) steps.push(`Version ${newer} is deployed since: Restart can begin with it.`);
  if (steps.length === 0) return null;
  return (
    <p class="failure-next">
      <b>Next:</b> {steps.join(" ")}
    </p>
  );
}

export function Quarantine(p: { text: string }) {
  return (
    <div class="problem" role="region" aria-label="Set aside">
      <p>
        <b>It is in quarantine because an invariant was violated.</b> {may("operate") && "Resume retries it, terminate ends it."}
      </p>
      <pre class="detail">{p.text}</pre>
    </div>
  );
}
