/** XML as a tree: what is read, what is refused and where, and that writing gives back what was read. */
import { describe, expect, test } from "vitest";
import type { HoldfastError } from "../../../errors.ts";
import { parseXml, textOf, writeXml, type XmlElement, xmlLimits } from "./xml.ts";

function refusal(text: string): HoldfastError {
  try {
    parseXml(text);
  } catch (error) {
    return error as HoldfastError;
  }
  throw new Error("nothing was refused");
}

/** A tree without places, for comparison. */
const bare = ({ line: _, column: __, children, ...rest }: XmlElement): unknown => ({
  ...rest,
  children: children.map((child) => (typeof child === "string" ? child : bare(child))),
});

describe("reading", () => {
  test("elements know their line and column, wherever their attributes stand", () => {
    const root = parseXml('<?xml version="1.0"?>\n<!-- note -->\n  <a>\n <b\n  c="1"/><d/></a>');
    const [b, d] = root.children.filter((child) => typeof child !== "string");
    expect(root).toMatchObject({ name: "a", line: 3, column: 3 });
    expect(b).toMatchObject({ name: "b", line: 4, column: 2, attributes: [{ name: "c", value: "1" }] });
    expect(d).toMatchObject({ name: "d", line: 5, column: 10 });
  });

  test("text and CDATA beside comments become one text", () => {
    const root = parseXml("<a>x &lt; <!-- no -->y<![CDATA[ & <z>]]></a>");
    expect(root.children).toEqual(["x < y & <z>"]);
    expect(textOf(parseXml("<a>1<b>2<c>3</c></b>4</a>"))).toBe("1234");
  });

  test("prefixes resolve to namespaces, and declarations are no attributes", () => {
    const root = parseXml('<p:a xmlns:p="urn:p" xmlns="urn:d" p:q="1" r="2"><b/></p:a>');
    expect(root).toMatchObject({ prefix: "p", name: "a", namespace: "urn:p" });
    expect(root.attributes).toEqual([
      { prefix: "p", name: "q", namespace: "urn:p", value: "1" },
      { prefix: "", name: "r", namespace: "", value: "2" },
    ]);
    expect(root.children[0]).toMatchObject({ name: "b", namespace: "urn:d" });
  });
});

describe("refusing", () => {
  test.each([
    ["a document type", '<!DOCTYPE a [<!ENTITY x "y">]>\n<a/>', "document type", 1],
    ["an external entity", '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type", 1],
    ["an entity nobody defined", "<a>\n&x;</a>", "undefined entity", 2],
    ["a tag left open", "<a>\n<b>", "unclosed tag", 2],
    ["two roots", "<a/>\n<b/>", "only one root", 2],
    ["a prefix nobody declared", "<a:b/>", "unbound namespace prefix", 1],
    ["nothing at all", "", "must contain a root", 1],
  ])("%s, with its line", (_, text, reason, line) => {
    const error = refusal(text);
    expect(error.code).toBe("SCXML_INVALID");
    expect(error.message.toLowerCase()).toContain(reason);
    expect(error.details.line).toBe(line);
    expect(error.details.column).toBeGreaterThan(0);
  });

  test("one element deeper than the bound, and not at it", () => {
    const nested = (depth: number): string => "<a>".repeat(depth) + "</a>".repeat(depth);
    expect(parseXml(nested(xmlLimits.depthMax)).name).toBe("a");
    expect(refusal(nested(xmlLimits.depthMax + 1)).message).toContain("nest deeper");
  });

  test("one character more than the bound, and not at it", () => {
    const long = (length: number): string => `<a>${" ".repeat(length - 7)}</a>`;
    expect(parseXml(long(xmlLimits.charactersMax)).name).toBe("a");
    expect(refusal(long(xmlLimits.charactersMax + 1)).message).toContain("characters");
  });
});

describe("writing", () => {
  test.each([
    "<a/>",
    "<a>x &amp; y &lt; z</a>",
    '<a b="1 &quot; &#10; 2"><c/>t<c/></a>',
    '<p:a xmlns:p="urn:p" p:q="1"><p:b/><c xmlns="urn:c"><d/></c></p:a>',
    '<a xmlns="urn:a"><b xmlns=""/></a>',
    '<a xml:lang="en"/>',
  ])("%s comes back the same", (text) => {
    const root = parseXml(text);
    expect(bare(parseXml(writeXml(root)))).toEqual(bare(root));
  });

  test("an element taken out of its document brings the namespaces it needs", () => {
    const inner = parseXml('<a xmlns="urn:a" xmlns:p="urn:p"><b p:c="1"/></a>').children[0] as XmlElement;
    expect(writeXml(inner)).toBe('<b xmlns="urn:a" xmlns:p="urn:p" p:c="1"/>');
  });
});
