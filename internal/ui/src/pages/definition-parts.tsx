import { api, ask, get, type DefinitionFile, type Page } from "../api";
import { Editor } from "../editor/lazy";
import { amend, place } from "../router";
import { number } from "../parts/format";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";

const shownText = 1 << 20; // bytes of a file that are shown

/** The files that a definition was deployed with. */
export function FilesTab(p: { id: string; of: string; digest: string }) {
  const files = useLoad((signal) => get<Page<DefinitionFile>>(api("definitions", p.id, "files") + p.of, signal), [p.id, p.of, p.digest]);
  if (files.error) return <ProblemBox error={files.error} again={files.again} />;
  if (!files.data) return <p class="quiet">Loading…</p>;
  const { items } = files.data;
  const chosen = items.find((f) => f.path === place.value.query.get("file"));
  return (
    <>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col">Size</th>
              <th scope="col">SHA-256</th>
              <th scope="col"></th>
            </tr>
          </thead>
          <tbody>
            {items.map((f) => (
              <tr key={f.path}>
                <td class="breaks">
                  <button type="button" class="plain mono" aria-pressed={chosen === f} onClick={() => amend({ file: f.path })}>
                    {f.path}
                  </button>
                </td>
                <td class="nowrap">{number(f.bytes)} B</td>
                <td>
                  <code class="quiet" title={f.digest}>
                    {f.digest.slice(0, 12)}
                  </code>
                </td>
                <td class="quiet">{f.document ? "the definition" : f.remote ? "from the network, as it was when this was deployed" : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {chosen && <FileText key={chosen.digest} id={p.id} of={p.of} file={chosen} />}
    </>
  );
}

function FileText(p: { id: string; of: string; file: DefinitionFile }) {
  const { file } = p;
  const path = api("definitions", p.id, "source") + p.of + (p.of ? "&" : "?") + "file=" + encodeURIComponent(file.path);
  const large = file.bytes > shownText;
  const text = useLoad(async (signal) => (large ? "" : (await ask<string>(path, { signal, text: true })).data), [path]);
  return (
    <div class="definition-source">
      <h2>
        <code>{file.path}</code>
      </h2>
      <p>
        <a href={path} download={file.path.split("/").pop()}>
          Download
        </a>
      </p>
      <ProblemBox error={text.error} again={text.again} />
      {large ? (
        <p class="quiet">It is too large to be shown.</p>
      ) : text.data?.includes("\0") ? (
        <p class="quiet">This file is not text.</p>
      ) : (
        text.data !== undefined && <Editor label={file.path} readOnly value={text.data} />
      )}
    </div>
  );
}

interface Function {
  name: string;
  kind: string;
  target?: string;
  places: number;
  callable: boolean;
  reason?: string;
}

/** What a definition calls, and whether this server can. */
export function FunctionsTab(p: { id: string; of: string; digest: string }) {
  const list = useLoad((signal) => get<Page<Function>>(api("definitions", p.id, "functions") + p.of, signal), [p.id, p.of, p.digest]);
  if (list.error) return <ProblemBox error={list.error} again={list.again} />;
  if (!list.data) return <p class="quiet">Loading…</p>;
  if (!list.data.items.length) return <p class="quiet">It calls no function.</p>;
  return (
    <div class="scroll-x">
      <table>
        <thead>
          <tr>
            <th scope="col">Function</th>
            <th scope="col">Kind</th>
            <th scope="col">Target</th>
            <th scope="col">Places</th>
            <th scope="col">Can be called</th>
          </tr>
        </thead>
        <tbody>
          {list.data.items.map((f) => (
            <tr key={f.name}>
              <td class="breaks">{f.name}</td>
              <td>{f.kind}</td>
              <td class="mono breaks">{f.target}</td>
              <td>{f.places}</td>
              <td>
                {f.callable ? (
                  <>
                    <span aria-hidden="true">✓</span> yes
                  </>
                ) : (
                  <span class="field-error">
                    <span aria-hidden="true">✕</span> no: {f.reason}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
