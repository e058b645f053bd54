// How the servers that share the store are, for the screen Nodes and for Home.

export interface Node {
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

export interface Nodes {
  items: Node[];
  storeBytes?: number;
  queuedCalls: number; // of the server that answers
  unready?: string[]; // why the server that answers is not ready
}

const silence = 3000; // ms without a sign, after which a node counts as gone; they give one three times a second

export interface Health {
  /** How long a node has been silent, in ms; 0: it is alive. */
  silent: (n: Node) => number;
  alive: number;
  gone: number; // silent nodes
  versions: string[]; // of those alive
  calls: number; // in flight, of those alive
  queued: number;
  unready: string[];
}

export function healthOf({ items, queuedCalls, unready = [] }: Nodes): Health {
  // The one that answers has just given a sign: what counts is how far behind it the others are.
  const newest = Math.max(...items.map((n) => Date.parse(n.seen)));
  const silent = (n: Node) => {
    const behind = newest - Date.parse(n.seen);
    return behind > silence ? behind : 0;
  };
  const alive = items.filter((n) => !silent(n));
  return {
    silent,
    alive: alive.length,
    gone: items.length - alive.length,
    versions: [...new Set(alive.map((n) => n.version || "none"))].sort(),
    calls: alive.reduce((sum, n) => sum + n.calls, 0),
    queued: queuedCalls,
    unready,
  };
}
