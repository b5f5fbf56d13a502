/**
 * XML as a small tree: what the importer reads documents into, and what XML values in a data model are made from.
 * Hostile text is assumed. Document types are refused outright (they are how entities and external references come
 * in), size and depth are bounded, and whatever is wrong is reported with its line and column.
 */
import { SaxesParser } from "saxes";
import { HoldfastError } from "../../../errors.ts";

export const xmlLimits = {
  /** Characters of one document. A chart of this size could not be read by a person, and parsing it stays under a second. */
  charactersMax: 4_000_000,
  /** Nesting of elements. States may nest 64 deep; the rest is room for what stands inside them and for child documents. */
  depthMax: 256,
} as const;

/** A place in a document, counted from 1 as editors do. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface XmlAttribute {
  readonly prefix: string;
  readonly name: string;
  readonly namespace: string;
  readonly value: string;
}

/** An element, wherever it comes from. */
export interface XmlTree {
  readonly prefix: string;
  /** The name without its prefix. */
  readonly name: string;
  readonly namespace: string;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly (XmlTree | string)[];
}

/** An element of a document, with its place in it. */
export interface XmlElement extends XmlTree, Place {
  readonly children: readonly XmlNode[];
}

export type XmlNode = XmlElement | string;

export function isElement(node: XmlNode): node is XmlElement {
  return typeof node !== "string";
}

/** Refuses a document, naming the place. */
export function refuse(message: string, place: Place): never {
  throw new HoldfastError(
    "SCXML_INVALID",
    `${message} (line ${place.line}, column ${place.column}). Mend the document there.`,
    { details: { reason: message, line: place.line, column: place.column } },
  );
}

/** The root element of a well-formed document; comments and processing instructions are left out. */
export function parseXml(text: string): XmlElement {
  if (text.length > xmlLimits.charactersMax)
    refuse(`The document has ${text.length} characters; ${xmlLimits.charactersMax} are allowed`, start);
  const parser = new SaxesParser({ xmlns: true });
  const here = (): Place => ({ line: parser.line, column: parser.column + 1 });
  const open: Opened[] = [];
  let root: Opened | undefined;
  let place: Place = start;

  parser.on("error", (error) =>
    refuse(`Not well-formed XML: ${error.message.replace(/^\d+:\d+: |\.$/g, "")}`, here()),
  );
  parser.on("doctype", () => refuse("A document type is not allowed, nor are entities of one's own", here()));
  const locate = locator(text);
  parser.on("opentagstart", () => {
    place = locate(text.lastIndexOf("<", parser.position - 1));
  });
  parser.on("opentag", (tag) => {
    if (open.length === xmlLimits.depthMax) refuse(`Elements nest deeper than ${xmlLimits.depthMax}`, place);
    const element: Opened = {
      prefix: tag.prefix,
      name: tag.local,
      namespace: tag.uri,
      attributes: Object.values(tag.attributes)
        .filter((attribute) => attribute.uri !== xmlnsNamespace)
        .map(({ prefix, local, uri, value }) => ({ prefix, name: local, namespace: uri, value })),
      children: [],
      ...place,
    };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  const addText = (piece: string): void => {
    const parent = open.at(-1);
    if (parent === undefined) return;
    const last = parent.children.length - 1;
    const before = parent.children[last];
    if (typeof before === "string") parent.children[last] = before + piece;
    else parent.children.push(piece);
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => open.pop());
  parser.write(text).close();
  // The parser has refused a document without an element by now.
  return root as unknown as XmlElement;
}

/** The element as text that parses back to the same tree, wherever it stood before. */
export function writeXml(element: XmlTree, known: Readonly<Record<string, string>> = {}): string {
  const scope: Record<string, string> = { ...known };
  let declarations = "";
  const declare = (prefix: string, namespace: string): void => {
    if (prefix === "xml" || (scope[prefix] ?? "") === namespace) return;
    scope[prefix] = namespace;
    declarations += ` ${prefix === "" ? "xmlns" : `xmlns:${prefix}`}="${escaped(namespace)}"`;
  };
  declare(element.prefix, element.namespace);
  let attributes = "";
  for (const attribute of element.attributes) {
    if (attribute.prefix !== "") declare(attribute.prefix, attribute.namespace);
    attributes += ` ${qualified(attribute)}="${escaped(attribute.value)}"`;
  }
  const name = qualified(element);
  const inner = element.children
    .map((child) => (typeof child === "string" ? escaped(child) : writeXml(child, scope)))
    .join("");
  return inner === ""
    ? `<${name}${declarations}${attributes}/>`
    : `<${name}${declarations}${attributes}>${inner}</${name}>`;
}

/** All text inside an element, in document order. */
export function textOf(element: XmlElement): string {
  return element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
}

type Opened = Omit<XmlElement, "children"> & { readonly children: XmlNode[] };

const start: Place = { line: 1, column: 1 };
const xmlnsNamespace = "http://www.w3.org/2000/xmlns/";

/** Where an index lies. Must be asked in ascending order, so that each line is counted once. */
function locator(text: string): (index: number) => Place {
  let line = 1;
  let lineStart = 0;
  return (index) => {
    for (
      let end = text.indexOf("\n", lineStart);
      end !== -1 && end < index;
      end = text.indexOf("\n", lineStart)
    ) {
      line++;
      lineStart = end + 1;
    }
    return { line, column: index - lineStart + 1 };
  };
}

function qualified(named: { readonly prefix: string; readonly name: string }): string {
  return named.prefix === "" ? named.name : `${named.prefix}:${named.name}`;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
function escaped(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => escapes[character]!)
    .replace(/[\t\n\r]/g, (space) => `&#${space.charCodeAt(0)};`);
}
