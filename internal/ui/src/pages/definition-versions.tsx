import { api, get, type Definition, type Page } from "../api";
import { amend, place } from "../router";
import { DiffText } from "../parts/diff";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Ago } from "../parts/when";

/** The versions of a definition, and what differs between two of them. */
export function Versions(p: { id: string; versions: Definition[] }) {
  const query = place.value.query;
  const current = p.versions.find((d) => d.current) ?? p.versions[p.versions.length - 1]!;
  const to = query.get("to") ?? current.version;
  const from = query.get("from") ?? p.versions.filter((d) => d.version !== to).pop()?.version ?? to;
  const path = "/definitions/" + encodeURIComponent(p.id);
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Deployed</th>
            <th scope="col">Warnings</th>
            <th scope="col">Digest</th>
          </tr>
        </thead>
        <tbody>
          {[...p.versions].reverse().map((d) => (
            <tr key={d.version}>
              <td>
                <a href={path + "?version=" + encodeURIComponent(d.version)}>{d.version || "(none)"}</a> {d.current && <b>current</b>}
              </td>
              <td>{d.deployed && <Ago time={d.deployed} />}</td>
              <td>{d.diagnostics?.length || <span class="quiet">none</span>}</td>
              <td>
                <code title={d.digest}>{d.digest.slice(0, 12)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {p.versions.length < 2 ? (
        <p class="quiet">With a second version, the two can be compared here.</p>
      ) : (
        <>
          <h2>Compare</h2>
          <div class="bar">
            <Choice id="diff-from" label="From" value={from} versions={p.versions} onChange={(v) => amend({ from: v, to })} />
            <Choice id="diff-to" label="to" value={to} versions={p.versions} onChange={(v) => amend({ to: v, from })} />
          </div>
          <Diff id={p.id} from={from} to={to} />
        </>
      )}
    </>
  );
}

function Choice(p: { id: string; label: string; value: string; versions: Page<Definition>["items"]; onChange: (v: string) => void }) {
  return (
    <>
      <label for={p.id}>{p.label}</label>
      <select id={p.id} value={p.value} onChange={(e) => p.onChange(e.currentTarget.value)}>
        {p.versions.map((d) => (
          <option value={d.version}>{d.version || "(none)"}</option>
        ))}
      </select>
    </>
  );
}

function Diff(p: { id: string; from: string; to: string }) {
  const diff = useLoad((signal) => get<string>(api("definitions", p.id, "diff") + "?" + new URLSearchParams({ from: p.from, to: p.to }), signal), [p.id, p.from, p.to]);
  if (diff.error) return <ProblemBox error={diff.error} again={diff.again} />;
  if (diff.data === undefined) return <p class="quiet">Loading…</p>;
  if (!diff.data) return <p>The documents are identical.</p>;
  return <DiffText text={diff.data} label={`What differs from ${p.from} to ${p.to}`} />;
}
