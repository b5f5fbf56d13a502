/**
 * XML inside the sandbox: a small document object model, as SCXML wants for XML in data and events (B.2). This text is
 * run in the sandbox, once, when the first piece of XML comes in. Reading and writing XML text is the host's work
 * (`parse`, `write`), so that there is one parser and one set of bounds.
 */
export const domSource = /* js */ `(function (parse, write, frame) {
"use strict";
const { JSON, String, TypeError } = frame.globals;
class Node {
  parentNode = null;
  childNodes = [];
  get firstChild() { return this.childNodes[0] ?? null; }
  get lastChild() { return this.childNodes.at(-1) ?? null; }
  get nextSibling() { return sibling(this, 1); }
  get previousSibling() { return sibling(this, -1); }
  get nodeValue() { return null; }
  get textContent() { return this.childNodes.map((child) => child.textContent).join(""); }
  set textContent(text) {
    for (const child of this.childNodes.slice()) this.removeChild(child);
    if (String(text) !== "") this.appendChild(new Text(text));
  }
  hasChildNodes() { return this.childNodes.length > 0; }
  appendChild(child) { return this.insertBefore(child, null); }
  insertBefore(child, next) {
    if (!(child instanceof Node) || child instanceof Document || child.contains(this)) throw new TypeError("This node cannot be put here");
    child.parentNode?.removeChild(child);
    const index = next === null ? this.childNodes.length : this.childNodes.indexOf(next);
    if (index < 0) throw new TypeError("The node to insert before is not a child of this node");
    this.childNodes.splice(index, 0, child);
    child.parentNode = this;
    return child;
  }
  removeChild(child) {
    const index = this.childNodes.indexOf(child);
    if (index < 0) throw new TypeError("The node to remove is not a child of this node");
    this.childNodes.splice(index, 1);
    child.parentNode = null;
    return child;
  }
  contains(node) {
    for (let one = node; one; one = one.parentNode) if (one === this) return true;
    return false;
  }
  getElementsByTagName(name) {
    return this.childNodes.flatMap((child) => {
      if (!(child instanceof Element)) return [];
      const below = child.getElementsByTagName(name);
      return name === "*" || child.tagName === name ? [child, ...below] : below;
    });
  }
  get children() { return this.childNodes.filter((child) => child instanceof Element); }
  get firstElementChild() { return this.children[0] ?? null; }
  toJSON() { return this.toString(); }
}
class Text extends Node {
  constructor(data) { super(); this.data = String(data); }
  get nodeType() { return 3; }
  get nodeName() { return "#text"; }
  get nodeValue() { return this.data; }
  get textContent() { return this.data; }
  set textContent(text) { this.data = String(text); }
  toString() { return this.data; }
}
class Element extends Node {
  constructor(tree) {
    super();
    this.prefix = tree.prefix;
    this.localName = tree.name;
    this.namespaceURI = tree.namespace;
    this.attributes = tree.attributes.map((one) => ({ ...one, get nodeName() { return qualified(one.prefix, one.name); } }));
    for (const child of tree.children) this.appendChild(typeof child === "string" ? new Text(child) : new Element(child));
  }
  get nodeType() { return 1; }
  get tagName() { return qualified(this.prefix, this.localName); }
  get nodeName() { return this.tagName; }
  get id() { return this.getAttribute("id") ?? ""; }
  getAttribute(name) { return this.attributes.find((one) => one.nodeName === name)?.value ?? null; }
  hasAttribute(name) { return this.getAttribute(name) !== null; }
  setAttribute(name, value) {
    this.removeAttribute(name);
    this.attributes.push({ prefix: "", name: String(name), namespace: "", value: String(value), nodeName: String(name) });
  }
  removeAttribute(name) { this.attributes = this.attributes.filter((one) => one.nodeName !== name); }
  toString() { return write(JSON.stringify(treeOf(this))); }
}
class Document extends Node {
  get nodeType() { return 9; }
  get nodeName() { return "#document"; }
  get documentElement() { return this.firstElementChild; }
  createElement(name) { return new Element({ prefix: "", name: String(name), namespace: "", attributes: [], children: [] }); }
  createTextNode(text) { return new Text(text); }
  getElementById(id) { return this.getElementsByTagName("*").find((one) => one.id === String(id)) ?? null; }
  toString() { return this.documentElement?.toString() ?? ""; }
}
function sibling(node, step) {
  const all = node.parentNode?.childNodes ?? [];
  return all[all.indexOf(node) + step] ?? null;
}
function qualified(prefix, name) { return prefix === "" ? name : prefix + ":" + name; }
function treeOf(node) {
  if (node instanceof Text) return node.data;
  return {
    prefix: node.prefix,
    name: node.localName,
    namespace: node.namespaceURI,
    attributes: node.attributes.map(({ prefix, name, namespace, value }) => ({ prefix, name, namespace, value })),
    children: node.childNodes.map(treeOf),
  };
}
frame.xmlKind = (value) => (value instanceof Document ? "xml" : value instanceof Node ? "element" : undefined);
return {
  read(text) {
    const document = new Document();
    document.appendChild(new Element(JSON.parse(parse(text))));
    return document;
  },
};
})`;
