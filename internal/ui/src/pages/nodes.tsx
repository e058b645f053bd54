import { api, get } from "../api";
import { useTitle } from "../app";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Ago, span } from "../parts/when";
import { useNowAndThen } from "./definitions";

interface Node {
  id?: string;
  name: string;
  address?: string;
  version?: string;
  since: string;
  seen: string;
  shards: number;
  of: number;
  calls: number;
}

const most = 200; // nodes that are shown
const silence = 3000; // ms without a sign, after which a node counts as gone; they give one three times a second

export function Nodes() {
  useTitle("Nodes");
  const nodes = useLoad((signal) => get<{ items: Node[] }>(api("nodes"), signal), []);
  useNowAndThen(2000, nodes.again);
  const list = nodes.data?.items ?? [];
  // The one that answers has just given a sign: what counts is how far behind it the others are.
  const newest = Math.max(...list.map((n) => Date.parse(n.seen)));
  const free = list.length > 0 ? list[0]!.of - list.reduce((sum, n) => sum + n.shards, 0) : 0;
  return (
    <>
      <h1>Nodes</h1>
      <ProblemBox error={nodes.error} again={nodes.again} />
      {list.length > 0 && (
        <div class="scroll-x" role="region" aria-label="Table of nodes" tabIndex={0}>
          <table class="numbers">
            <caption class="unseen">Servers that share the store</caption>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">State</th>
                <th scope="col">Up since</th>
                <th scope="col">Parts of the work</th>
                <th scope="col">Calls in flight</th>
                <th scope="col">Version</th>
              </tr>
            </thead>
            <tbody>
              {list.slice(0, most).map((n) => (
                <tr key={n.id ?? n.name}>
                  <th scope="row">
                    {n.name}
                    {n.address && <div class="quiet">{n.address}</div>}
                  </th>
                  <td>
                    <Alive behind={newest - Date.parse(n.seen)} />
                  </td>
                  <td>
                    <Ago time={n.since} />
                  </td>
                  <td>
                    {n.shards} of {n.of}
                  </td>
                  <td>{n.calls}</td>
                  <td>{n.version}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.length > most && <p class="quiet">{list.length - most} more are not shown.</p>}
      {list.length > 0 && free > 0 && <p class="kept">▲ {free} parts have no node now: another takes them within a second or two.</p>}
      {list.length === 1 && !list[0]!.id && <p class="quiet">Only this server uses the store. Several servers can share a PostgreSQL database.</p>}
    </>
  );
}

function Alive(p: { behind: number }) {
  if (p.behind > silence) {
    return (
      <span class="kept">
        <span aria-hidden="true">✕</span> silent for {span(p.behind)}
      </span>
    );
  }
  return (
    <span class="taken">
      <span aria-hidden="true">✓</span> alive
    </span>
  );
}
