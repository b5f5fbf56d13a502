/** Where a request comes from, as far as its connection tells. What a header says of that is anybody's word, and not asked. */

export interface Remote {
  /** The address of the other end: of a client, or of the proxy before it. */
  readonly address?: string | undefined;
}

/**
 * Who is counted for an address. One subscriber has 2^64 addresses of IPv6, so those with the same first half are one; an
 * address of IPv4 is the same however it is written. All whose address is unknown are one.
 */
export function neighbourhoodOf({ address = "" }: Remote): string {
  const [, plain] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (plain !== undefined) return plain;
  if (!address.includes(":")) return address;
  const [head = "", tail] = (address.split("%")[0] as string).toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  // What `::` leaves out are zeros.
  while (tail !== undefined && groups.length + after.length < 8) groups.push("0");
  return [...groups, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
