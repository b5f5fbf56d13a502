/** `<send>`, with whatever it names outright worked out here and the rest left to the data model. */
import type { Action, SendParts } from "../../definition.ts";
import { addressOf, httpProcessor, processorOf } from "./address.ts";
import { delayMs } from "./delay.ts";
import { childElements, exclusiveAttribute, originOf } from "./element.ts";
import type { DelaySource, ProcessorSource, ValueSource } from "./source.ts";
import {
  constant,
  constantText,
  expression,
  fault,
  isDynamic,
  locationOf,
  payloadOf,
  textAttribute,
} from "./value.ts";
import { refuse, type XmlElement } from "./xml.ts";

/** The action a `<send>` element is. https://www.w3.org/TR/scxml/#send */
export function sendAction(element: XmlElement): Action {
  const children = childElements(element, ["param", "content"]);
  const at = originOf(element);
  const event = exclusiveAttribute(element, ["event", "eventexpr"]);
  const id = exclusiveAttribute(element, ["id", "idlocation"]);
  const delay = delayOf(element);
  const data = payloadOf(element, children, false);
  const parts: SendParts = {
    ...(event && { type: event.name === "event" ? event.value : expression(event.value, at) }),
    ...(data && { data }),
    ...routeOf(element),
    ...(delay !== undefined && { delay }),
    ...(id?.name === "id" && { id: id.value }),
    ...(id?.name === "idlocation" && { idLocation: locationOf(id.value, element) }),
  };
  return { send: parts };
}

/** Where it goes and by which processor. */
function routeOf(element: XmlElement): Pick<SendParts, "to" | "via"> {
  const at = originOf(element);
  const target = textAttribute(element, "target", "targetexpr");
  const type = textAttribute(element, "type", "typeexpr");
  if (isDynamic(target) || isDynamic(type)) {
    const to = { scxml: "address", ...(target && { target }), ...(type && { type }), at } as const;
    const via = viaOf(type, element);
    return via === undefined ? { to } : { to, via };
  }
  const processor = processorOf(constantText(type));
  if (processor === undefined)
    return { to: fault(`The send type ${constantText(type)} is not supported`, element) };
  const to = addressOf(constantText(target), processor);
  if (to === undefined) return { to: fault(`The send target ${constantText(target)} is not legal`, element) };
  return {
    ...(to !== "self" && { to: typeof to === "string" ? to : constant(to) }),
    ...(processor === httpProcessor && { via: processor }),
  };
}

function viaOf(type: ValueSource | undefined, element: XmlElement): string | ProcessorSource | undefined {
  if (isDynamic(type)) return { scxml: "processor", type, at: originOf(element) };
  return processorOf(constantText(type)) === httpProcessor ? httpProcessor : undefined;
}

function delayOf(element: XmlElement): number | DelaySource | undefined {
  const given = exclusiveAttribute(element, ["delay", "delayexpr"]);
  if (given === undefined) return undefined;
  if (given.name === "delayexpr") {
    const at = originOf(element);
    return { scxml: "delay", value: expression(given.value, at), at };
  }
  return (
    delayMs(given.value) ??
    refuse(`${JSON.stringify(given.value)} is not a delay; write 500ms or 1.5s`, element)
  );
}
