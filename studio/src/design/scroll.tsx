/** A part of the page that scrolls by itself, and so can be reached by keyboard. */
import type { ReactNode, Ref } from "react";

interface ScrollProps {
  readonly ref?: Ref<HTMLElement>;
  readonly className: string;
  readonly label: string;
  readonly children: ReactNode;
}

export const Scroll = ({ ref, className, label, children }: ScrollProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it only those with a mouse could scroll.
  <section ref={ref} className={className} aria-label={label} tabIndex={0}>
    {children}
  </section>
);
