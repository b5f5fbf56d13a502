/** A plot of values over time, with what they are where the pointer is, or else now. Its colours are the page's. */
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { time } from "../design/words.ts";
import { useShownTheme } from "../shell/theme.ts";
import { optionsOf, type PlotProps, plotHeight } from "./plot-options.ts";

const dataOf = ({ times, series }: PlotProps): uPlot.AlignedData =>
  [times.map((at) => at / 1_000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData;

export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const theme = useShownTheme();
  const names = props.series.map(({ name }) => name).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a plot is made anew for other colours and other series; data only goes into it.
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const made = new uPlot(
      optionsOf(props, element.clientWidth, (index) => setPointed(index)),
      dataOf(props),
      element,
    );
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: plotHeight }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      made.destroy();
    };
  }, [theme, names]);
  useEffect(() => plot.current?.setData(dataOf(props)));
  return (
    <>
      <div ref={box} className="plot" role="img" aria-label={props.label} />
      <Legend {...props} pointed={pointed} />
    </>
  );
}

function Legend({
  times,
  series,
  format = String,
  pointed,
}: PlotProps & { readonly pointed: number | undefined }) {
  // What was pointed at may be gone: old samples are left out as new ones come.
  const index = pointed !== undefined && pointed < times.length ? pointed : times.length - 1;
  const at = times[index];
  return (
    <ul className="plot-legend">
      {series.map(({ name, colour, values, dash }) => {
        const value = values[index];
        return (
          <li key={name}>
            <svg width="18" height="4" aria-hidden="true">
              <path
                d="M0 2H18"
                stroke={`var(--${colour})`}
                strokeWidth="3"
                strokeDasharray={dash?.join(" ")}
              />
            </svg>
            {name} <b className="numbers">{value === undefined || value === null ? "–" : format(value)}</b>
          </li>
        );
      })}
      <li className="push numbers">{pointed === undefined || at === undefined ? "newest" : time(at)}</li>
    </ul>
  );
}
