// How the page writes numbers: as English does, since its words are English, in every browser.

const full = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A number with all its digits: 12,345. */
export function number(n: number): string {
  return full.format(n);
}

/** A number in few letters: 12.3K. */
export function brief(n: number): string {
  return n < 10_000 ? number(n) : compact.format(n);
}

/** So many bytes, in a unit that leaves few digits. */
export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}
