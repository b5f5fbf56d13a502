/** Values in a document: expressions, content written inline or loaded, parameters. */
import type { Json } from "../../json.ts";
import {
  attribute,
  childElements,
  exclusiveAttribute,
  names,
  onlyChild,
  originOf,
  requiredAttribute,
} from "./element.ts";
import type { FaultSource, LocationSource, Origin, ParamsSource, ValueSource } from "./source.ts";
import { isElement, parseXml, refuse, writeXml, type XmlElement } from "./xml.ts";

export function expression(text: string, at: Origin): ValueSource {
  return { scxml: "expression", text, at };
}

export function constant(value: Json): ValueSource {
  return { scxml: "constant", value };
}

/** A value that fails when it is needed. */
export function fault(reason: string, element: XmlElement): FaultSource {
  return { scxml: "fault", reason, at: originOf(element) };
}

export function locationOf(text: string, element: XmlElement): LocationSource {
  return { scxml: "location", text: text.trim(), at: originOf(element) };
}

/** A constant or an expression, from the pair of attributes SCXML has for both. */
export function textAttribute(
  element: XmlElement,
  constantName: string,
  expressionName: string,
): ValueSource | undefined {
  const given = exclusiveAttribute(element, [constantName, expressionName]);
  if (given === undefined) return undefined;
  return given.name === constantName ? constant(given.value) : expression(given.value, originOf(element));
}

type Dynamic = Extract<ValueSource, { scxml: "expression" }>;

export function isDynamic(value: ValueSource | undefined): value is Dynamic {
  return value?.scxml === "expression";
}

export function constantText(value: ValueSource | undefined): string | undefined {
  return value?.scxml === "constant" ? String(value.value) : undefined;
}

/**
 * Content as a value: JSON or XML if it is that, else text with its white space normalised.
 * https://www.w3.org/TR/scxml/#ecmascript-profile (B.2.3 and B.2.4 want the same for `<data>`, `<assign>`, `<content>`)
 */
export function textValue(text: string): ValueSource {
  const trimmed = text.trim();
  try {
    return constant(JSON.parse(trimmed));
  } catch {
    // Not JSON: that is no error, it is only not JSON.
  }
  if (trimmed.startsWith("<")) {
    try {
      return { scxml: "xml", text: writeXml(parseXml(trimmed)) };
    } catch {
      // Nor is it XML.
    }
  }
  return constant(trimmed.replace(/\s+/g, " "));
}

/** What stands between an element's tags; undefined if there is nothing but white space. */
export function inlineValue(element: XmlElement): ValueSource | undefined {
  const elements = element.children.filter(isElement);
  const text = element.children.filter((child) => typeof child === "string").join("");
  const [only, second] = elements;
  if (only === undefined) return text.trim() === "" ? undefined : textValue(text);
  if (second !== undefined || text.trim() !== "")
    refuse(`<${element.name}> holds mixed content; write one XML element, or text`, second ?? only);
  return { scxml: "xml", text: writeXml(only) };
}

/** The value of `<content>`: its expression, or what it holds. */
export function contentValue(content: XmlElement): ValueSource {
  const text = attribute(content, "expr");
  const inline = inlineValue(content);
  if (text !== undefined && inline !== undefined) refuse("<content> has both expr and content", content);
  return text === undefined ? (inline ?? constant("")) : expression(text, originOf(content));
}

/** A namelist and `<param>` elements as one object; undefined if there are none. */
export function paramsOf(
  element: XmlElement,
  children: readonly XmlElement[],
  lenient: boolean,
): ParamsSource | undefined {
  const listed = names(attribute(element, "namelist")).map((name) => ({
    name,
    value: expression(name, originOf(element)),
  }));
  const params = children
    .filter((child) => child.name === "param")
    .map((param) => ({ name: requiredAttribute(param, "name"), value: paramValue(param) }));
  const all = [...listed, ...params];
  return all.length === 0 ? undefined : { scxml: "params", params: all, lenient };
}

function paramValue(param: XmlElement): ValueSource {
  childElements(param, []);
  const given =
    exclusiveAttribute(param, ["expr", "location"]) ?? refuse("<param> needs expr or location", param);
  return expression(given.value, originOf(param));
}

/** What a `<send>` carries or a `<donedata>` gives: `<content>`, or parameters. */
export function payloadOf(
  element: XmlElement,
  children: readonly XmlElement[],
  lenient: boolean,
): ValueSource | ParamsSource | undefined {
  const content = onlyChild(element, children, "content");
  const params = paramsOf(element, children, lenient);
  if (content === undefined) return params;
  if (params !== undefined) refuse(`<${element.name}> has both <content> and parameters`, content);
  return contentValue(content);
}
