/** Reading the elements of an SCXML document: attributes, children by name, and complaints that say where. */
import type { Origin } from "./source.ts";
import { isElement, refuse, type XmlElement } from "./xml.ts";

const scxmlNamespace = "http://www.w3.org/2005/07/scxml";

/** Whether an element belongs to SCXML. Fragments without any namespace are taken for it, as people write them so. */
export function isScxml(element: XmlElement): boolean {
  return element.namespace === scxmlNamespace || element.namespace === "";
}

/** An attribute's value; undefined if it is absent. Foreign attributes are not seen. */
export function attribute(element: XmlElement, name: string): string | undefined {
  return element.attributes.find((one) => one.namespace === "" && one.name === name)?.value;
}

export function requiredAttribute(element: XmlElement, name: string): string {
  return attribute(element, name) ?? refuse(`<${element.name}> needs the attribute ${name}`, element);
}

/** The one of several attributes that is present; more than one of them is refused. */
export function exclusiveAttribute<Name extends string>(
  element: XmlElement,
  names: readonly Name[],
): { readonly name: Name; readonly value: string } | undefined {
  const present = names.flatMap((name) => {
    const value = attribute(element, name);
    return value === undefined ? [] : [{ name, value }];
  });
  if (present.length > 1)
    refuse(`<${element.name}> has ${names.join(" and ")}, which exclude each other`, element);
  return present[0];
}

/** Names separated by white space. */
export function names(list: string | undefined): string[] {
  return list?.split(/\s+/).filter((name) => name !== "") ?? [];
}

/** The SCXML children. Elements of other namespaces are for other tools and are passed over; stray ones are refused. */
export function childElements(element: XmlElement, allowed: readonly string[]): XmlElement[] {
  const children = element.children.filter(isElement).filter(isScxml);
  const stray = children.find((child) => !allowed.includes(child.name));
  if (stray !== undefined) refuse(`<${stray.name}> is not allowed in <${element.name}>`, stray);
  return children;
}

/** The only child of that name; undefined if there is none. */
export function onlyChild(
  element: XmlElement,
  children: readonly XmlElement[],
  name: string,
): XmlElement | undefined {
  const [first, second] = children.filter((child) => child.name === name);
  if (second !== undefined) refuse(`<${element.name}> may have only one <${name}>`, second);
  return first;
}

/** The place of an element, as error events tell it. */
export function originOf(element: XmlElement): Origin {
  return { tag: element.name, line: element.line, column: element.column };
}
