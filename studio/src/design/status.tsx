/**
 * How a run stands, told by shape as well as by colour: a wave moves, a bust waits for a person, two bars stand still, a
 * tick is done, a triangle failed, a dash was cancelled.
 */
import "./status.css";

export type Standing = "active" | "person" | "parked" | "done" | "failed" | "cancelled";

const words: Readonly<Record<Standing, string>> = {
  active: "active",
  person: "waits for a person",
  parked: "parked",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
};

const shapes: Readonly<Record<Standing, React.ReactNode>> = {
  active: <path d="M2 9c2-3.500 4-3.500 6 0s4 3.500 6 0M2 5.500c2-3 4-3 6 0s4 3 6 0" opacity={1} />,
  person: (
    <>
      <circle cx="8" cy="5.200" r="2.700" />
      <path d="M2.800 13.500c.6-3 2.300-4.300 5.200-4.300s4.600 1.300 5.200 4.300" />
    </>
  ),
  parked: <path d="M5.300 3.500v9M10.700 3.500v9" strokeWidth={2.6} />,
  done: <path d="m2.800 8.500 3.600 3.600 6.800-7.600" />,
  failed: <path d="M8 2.200 14.500 13.500h-13zM8 6.500v3.200M8 11.700v.01" />,
  cancelled: <path d="M3.200 8h9.600" strokeWidth={2.4} />,
};

export function StatusShape({
  standing,
  size = 14,
}: {
  readonly standing: Standing;
  readonly size?: number;
}) {
  return (
    <svg
      className="status-shape"
      data-standing={standing}
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {shapes[standing]}
    </svg>
  );
}

/** The shape with its word. */
export function Status({ standing }: { readonly standing: Standing }) {
  return (
    <span className="status" data-standing={standing}>
      <StatusShape standing={standing} />
      {words[standing]}
    </span>
  );
}
