import { api, get } from "../api";
import { useTitle } from "../app";
import { bytes, number, span } from "../parts/format";
import { Loading, PageHead } from "../parts/head";
import { Icon } from "../parts/icon";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Ago } from "../parts/when";
import { useNowAndThen } from "./definitions";
import { healthOf, type Nodes as NodeList } from "./nodes-health";
import "./nodes.css";

const most = 200; // nodes that are shown

export function Nodes() {
  useTitle("Nodes");
  const nodes = useLoad((signal) => get<NodeList>(api("nodes"), signal), []);
  useNowAndThen(2000, nodes.again);
  return (
    <>
      <PageHead title="Nodes">Servers that share this store and its work.</PageHead>
      <ProblemBox error={nodes.error} again={nodes.again} />
      {nodes.data ? <Servers nodes={nodes.data} /> : !nodes.error && <Loading />}
    </>
  );
}

function Servers(p: { nodes: NodeList }) {
  const list = p.nodes.items;
  const { silent, alive, gone, versions, calls, queued, unready } = healthOf(p.nodes);
  const free = list.length > 0 ? list[0]!.of - list.reduce((sum, n) => sum + n.shards, 0) : 0;
  const concerns: string[] = [
    ...unready.map((why) => `The server that answers is not ready: ${why}.`),
    ...(gone > 0 ? [`${number(gone)} of ${number(list.length)} are silent; what they did, others take over.`] : []),
    ...(versions.length > 1 ? [`${versions.length} versions run at the same time: ${versions.join(", ")}.`] : []),
    ...(free > 0 ? [`${number(free)} shards have no node now: another takes them within a second or two.`] : []),
  ];
  return (
    <>
      <dl class="node-figures">
        <Figure name="Alive" value={`${number(alive)} of ${number(list.length)}`} bad={gone > 0} />
        <Figure name="Store" value={p.nodes.storeBytes === undefined ? "in memory" : bytes(p.nodes.storeBytes)} />
        <Figure name="Calls in flight" value={number(calls)} />
        <Figure name="Calls queued here" value={number(queued)} bad={queued > 0} />
        <Figure name="Version" value={versions.length === 1 ? versions[0]! : `${versions.length} different`} bad={versions.length > 1} />
      </dl>
      {concerns.length > 0 && (
        <div class="told none node-concerns" role="status">
          {concerns.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      <table class="stack">
        <caption class="unseen">Servers that share the store</caption>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Health</th>
            <th scope="col">Started</th>
            <th scope="col" class="number">
              Shards
            </th>
            <th scope="col" class="number">
              Calls in flight
            </th>
            <th scope="col">Version</th>
          </tr>
        </thead>
        <tbody>
          {list.slice(0, most).map((n) => (
            <tr key={n.id ?? n.name}>
              <th scope="row">
                {n.name}
                {n.address && <div class="address">{n.address}</div>}
              </th>
              <td>
                <Alive silent={silent(n)} unready={list.length === 1 && unready.length > 0} />
              </td>
              <td data-label="started">
                <Ago time={n.since} />
              </td>
              <td class="number" data-label="shards">
                <span class="node-share">
                  <meter min={0} max={n.of} value={n.shards} aria-label="Shards" /> {n.shards} of {n.of}
                </span>
              </td>
              <td class="number" data-label="calls">{number(n.calls)}</td>
              <td data-label="version">
                {n.version}
                {versions.length > 1 && n.version !== versions[versions.length - 1] && <span class="status waiting">differs</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.length > most && <p class="quiet">{number(list.length - most)} more are not shown.</p>}
      {list.length === 1 && !list[0]!.id && <p class="quiet">Only this server uses the store. Several servers can share a PostgreSQL database.</p>}
    </>
  );
}

function Figure(p: { name: string; value: string; bad?: boolean }) {
  return (
    <div class={p.bad ? "figure concern" : "figure"}>
      <dt>{p.name}</dt>
      <dd>{p.value}</dd>
    </div>
  );
}

function Alive(p: { silent: number; unready: boolean }) {
  if (p.silent) {
    return (
      <span class="status failed">
        <Icon name="failed" size={12} /> silent for {span(p.silent)}
      </span>
    );
  }
  if (p.unready) {
    return (
      <span class="status waiting">
        <Icon name="info" size={12} /> not ready
      </span>
    );
  }
  return (
    <span class="status completed">
      <Icon name="completed" size={12} /> alive
    </span>
  );
}
