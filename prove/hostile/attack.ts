/** What an attack is: something untrusted, as it would arrive, and what is done with it. All of it can be sent to a process. */

export type Attack =
  /** A machine as text. */
  | { readonly kind: "text"; readonly text: string }
  /** A machine as JSON, with events to send once it runs. */
  | { readonly kind: "machine"; readonly json: string; readonly events: string }
  /** An SCXML document. */
  | { readonly kind: "scxml"; readonly text: string }
  /** An expression, and the context and event it looks at. */
  | { readonly kind: "expression"; readonly text: string; readonly values: "small" | "large" }
  /** A JSON Schema and a value to check, both as JSON. */
  | { readonly kind: "schema"; readonly schema: string; readonly value: string };

/** How large an attack is: what must be read takes time that grows with it. */
export function sizeOf(attack: Attack): number {
  return Object.values(attack).reduce((size, part) => size + part.length, 0);
}
