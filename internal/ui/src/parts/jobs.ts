// Jobs that ended in a state of the group FAILED have completed as far as the engine knows, and
// failed as far as people do. The statistics count them as completed; here they are counted apart.
import { get } from "../api";
import { quote } from "./filter";
import { useLive } from "./live";
import { useLoad, type Loaded } from "./load";

/** The filter for the failed jobs of a workflow, or of all. */
export function failedJobs(workflow?: string): string {
  return (workflow === undefined ? "" : `def:${quote(workflow)} `) + "group:FAILED";
}

/** How many jobs of each workflow have failed; without workflows, of all together, under "". */
export function useFailedJobs(workflows?: string[]): Loaded<Map<string, number>> {
  const list = useLoad(
    async (signal) => {
      const out = new Map<string, number>();
      for (const w of workflows ?? [undefined]) {
        const { count } = await get<{ count: number }>("/api/v1/instances/count?" + new URLSearchParams({ q: failedJobs(w) }), signal);
        out.set(w ?? "", count);
      }
      return out;
    },
    [workflows?.join("\n")],
  );
  useLive(5000, () => workflows === undefined || workflows.length > 0, list.again);
  return list;
}
