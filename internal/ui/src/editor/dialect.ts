/** The dialect of a document that may not be readable at the moment. */
export function likelyDialect(text: string): string {
  if (/^[\s{]*"?document"?\s*:/m.test(text)) return "sw10";
  if (/^\s*("?transitions"?\s*:)/m.test(text)) return "wfx";
  return /^[\s{]*"?specVersion"?\s*:|\$\{/m.test(text) ? "sw08" : "sw05";
}
