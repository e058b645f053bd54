// Files from the reader's machine, and bundles of them for the server.
import type { Files } from "../editor/files";

const text = 1 << 20; // files up to this size are shown as text

/** What people drop or choose, by path in the folder. */
export async function filesOf(list: { path: string; file: File }[]): Promise<Files> {
  const top = commonFolder(list.map((f) => f.path));
  const out: Files = {};
  for (const { path, file } of [...list].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const name = path.slice(top.length);
    if (name.split("/").some((part) => part.startsWith(".") || part === "node_modules")) continue; // no part of a definition
    out[name] = await contentOf(file);
  }
  return out;
}

/** A text, or what is none as it is. */
export async function contentOf(file: Blob): Promise<string | Blob> {
  if (file.size > text) return file;
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return content.includes("\0") ? file : content;
  } catch {
    return file;
  }
}

/** The folder that all files are in, with its slash. */
function commonFolder(paths: string[]): string {
  const first = paths[0] ?? "";
  const folder = first.slice(0, first.indexOf("/") + 1);
  return folder && paths.every((p) => p.startsWith(folder)) ? folder : "";
}

/** The files of an input, with their paths where a folder was chosen. */
export function chosen(list: FileList | null): { path: string; file: File }[] {
  return [...(list ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** The files of a drop, those in folders too. */
export async function dropped(data: DataTransfer): Promise<{ path: string; file: File }[]> {
  const entries = [...data.items].map((i) => i.webkitGetAsEntry()).filter((e) => e !== null);
  if (!entries.length) return chosen(data.files);
  const out: { path: string; file: File }[] = [];
  for (const entry of entries) await walk(entry, "", out);
  return out;
}

const mostFiles = 5000; // that are looked at; the server refuses fewer

async function walk(entry: FileSystemEntry, above: string, out: { path: string; file: File }[]): Promise<void> {
  const path = above + entry.name;
  if (out.length >= mostFiles || (above && entry.name.startsWith(".")) || entry.name === "node_modules") return;
  if (entry.isFile) {
    out.push({ path, file: await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail)) });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail)); // some at a time
    if (!part.length) return;
    for (const inner of part) await walk(inner, path + "/", out);
  }
}

/** The body of a request that deploys files. Without definitions, the server recognizes them. */
export function bundleOf(files: Files, definitions: string[] = []): FormData {
  const form = new FormData();
  for (const name of definitions) form.append("definition", name);
  for (const [path, content] of Object.entries(files)) form.append(path, typeof content === "string" ? new Blob([content]) : content, "file");
  return form;
}
