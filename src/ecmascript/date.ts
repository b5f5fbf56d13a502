/**
 * `Date` for documents that use it: the same, except that now is the step's own time. This text is run in the sandbox;
 * documents that do not mention `Date` do not have it at all, and so no clock either.
 */
export const dateSource = /* js */ `(function (at) {
"use strict";
const HostDate = Date;
globalThis.Date = function Date(...parts) {
  return new.target === undefined
    ? new HostDate(at).toString()
    : Reflect.construct(HostDate, parts.length === 0 ? [at] : parts, new.target);
};
Object.assign(Date, { now: () => at, parse: HostDate.parse, UTC: HostDate.UTC, prototype: HostDate.prototype });
HostDate.prototype.constructor = Date;
})`;
