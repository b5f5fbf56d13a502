/** XML being written: elements as values, and their text with one element per line. */

export interface Markup {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Content[];
}

/** An element, text, or XML that was written already. */
export type Content = Markup | string | { readonly xml: string };

/** An element; attributes that are undefined are left out. */
export function markup(
  tag: string,
  attributes: Readonly<Record<string, string | undefined>> = {},
  children: readonly Content[] = [],
): Markup {
  const given = Object.entries(attributes).filter((one): one is [string, string] => one[1] !== undefined);
  return { tag, attributes: Object.fromEntries(given), children };
}

/** The element as text. */
export function writeMarkup({ tag, attributes, children }: Markup, indent = ""): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const open = `${indent}<${tag}${named.join("")}`;
  if (children.length === 0) return `${open}/>\n`;
  if (children.every((child) => typeof child === "string"))
    return `${open}>${children.map(escaped).join("")}</${tag}>\n`;
  const inner = children.map((child) => {
    if (typeof child === "string") return `${indent}  ${escaped(child)}\n`;
    return "xml" in child ? `${indent}  ${child.xml}\n` : writeMarkup(child, `${indent}  `);
  });
  return `${open}>\n${inner.join("")}${indent}</${tag}>\n`;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** White space in attributes would be read as plain spaces, and characters XML cannot hold are shown as what they are. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => escapes[character] as string)
    .replace(/[\t\n\r]/g, (space) => `&#${space.charCodeAt(0)};`)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
}
