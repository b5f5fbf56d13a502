/** The icons, drawn on a grid of sixteen with one line width. They carry no meaning alone: a text stands beside each. */
import type { ReactNode } from "react";

const drawings = {
  runs: <path d="M2 4.500h12M2 8h8M2 11.500h10" />,
  inbox: <path d="M2 9.500 4 3h8l2 6.500V13H2zM2 9.500h3.500l1 1.800h3l1-1.800H14" />,
  machines: (
    <path d="M2.500 3h4v3.500h-4zM9.500 9.500h4V13h-4zM6.500 4.800h4.200c.6 0 .8.300.8.900v3.800M4.500 6.500V11c0 .500.300.800.800.800h4.200" />
  ),
  dashboard: <path d="M2 13.500h12M4 11V8.500M7 11V5M10 11V7M13 11V3" />,
  theme: <path d="M8 2.500a5.500 5.500 0 1 0 5.500 6.700A4.500 4.500 0 0 1 8 2.500z" />,
  search: <path d="M7 2.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM10.400 10.400 14 14" />,
  keys: <path d="M1.500 4.500h13v7h-13zM4 7h.01M6.500 7h.01M9 7h.01M11.500 7h.01M5 9.500h6" />,
  copy: <path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" />,
  fork: <path d="M4.500 2v12M4.500 9.500c4.500 0 6.500-1.500 6.500-5.500M11 4 9 6M11 4l2 2" />,
  back: <path d="M6 3 2.500 6.500 6 10M2.500 6.500H10a3.500 3.500 0 0 1 0 7H7" />,
  cancel: <path d="M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM5.700 5.700l4.600 4.600M10.300 5.700l-4.600 4.600" />,
  retry: <path d="M13 8a5 5 0 1 1-1.600-3.700M13 2v3h-3" />,
  pause: <path d="M5.500 3.500v9M10.500 3.500v9" />,
  play: <path d="M5 3.200v9.600L12.500 8z" />,
  step: <path d="M4 3.200v9.600L10.500 8zM12.500 3.500v9" />,
  send: <path d="M2 8 14 2.500 11 13.500 7.500 9.500zM7.500 9.500 14 2.500" />,
  diff: <path d="M5 2.500v5M2.500 5h5M3 12.500h4.500M13.500 2.500 7.500 13.500" />,
  clock: <path d="M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 4.500V8l2.500 1.500" />,
  person: (
    <path d="M8 2.500a2.500 2.500 0 1 1 0 5 2.500 2.500 0 0 1 0-5zM3 13.500c.4-3 2.200-4.500 5-4.500s4.600 1.500 5 4.500" />
  ),
  activity: <path d="M1.500 8h3l2-5 3 10 2-5h3" />,
  event: <path d="M9 1.500 3.500 9H8l-1 5.500L12.500 7H8z" />,
  child: <path d="M3 2.500h4v3H3zM9 10.500h4v3H9zM5 5.500V10c0 1.200.6 2 2 2h2" />,
  check: <path d="m3 8.500 3.300 3.300L13 4.800" />,
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  down: <path d="m4 6 4 4 4-4" />,
  right: <path d="m6 4 4 4-4 4" />,
  left: <path d="m10 4-4 4 4 4" />,
  chat: <path d="M2 3h12v8H8l-3 2.800V11H2z" />,
  tool: (
    <path d="M9.500 2.500a3.500 3.500 0 0 0-1 5L3 13l.8.8h1.200L10 8.500a3.500 3.500 0 0 0 3.700-4.800L11.500 6l-1.800-.3L9.400 4z" />
  ),
  eye: (
    <path d="M1.500 8C3 5 5.300 3.500 8 3.500S13 5 14.500 8C13 11 10.700 12.500 8 12.500S3 11 1.500 8zM8 6.200a1.800 1.800 0 1 1 0 3.600 1.800 1.800 0 0 1 0-3.600z" />
  ),
  more: <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" strokeWidth={2.4} />,
  edit: <path d="m10.500 3 2.500 2.500L6 12.500l-3.200.700.700-3.200zM9 4.500 11.500 7" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof drawings;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {drawings[name]}
    </svg>
  );
}
