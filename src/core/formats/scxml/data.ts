/** `<datamodel>`: the variables of a document and what they start with. */
import { attribute, childElements, originOf, requiredAttribute } from "./element.ts";
import type { ImportScope } from "./scope.ts";
import type { DataItem, ValueSource } from "./source.ts";
import { expression, fault, inlineValue, textValue } from "./value.ts";
import { refuse, type XmlElement } from "./xml.ts";

/** The `<data>` elements of a `<datamodel>`. */
export function dataItems(datamodel: XmlElement, scope: ImportScope): DataItem[] {
  return childElements(datamodel, ["data"]).map((element) => {
    const value = dataValue(element, scope);
    const item = { id: requiredAttribute(element, "id"), at: originOf(element) };
    return value === undefined ? item : { ...item, value };
  });
}

function dataValue(element: XmlElement, scope: ImportScope): ValueSource | undefined {
  const text = attribute(element, "expr");
  const src = attribute(element, "src");
  const inline = inlineValue(element);
  if ([text, src, inline].filter((one) => one !== undefined).length > 1)
    refuse("<data> has more than one of expr, src and content", element);
  if (text !== undefined) return expression(text, originOf(element));
  if (src === undefined) return inline;
  const loaded = scope.load(src);
  return loaded === undefined
    ? fault(`The data ${JSON.stringify(src)} could not be loaded`, element)
    : textValue(loaded);
}
