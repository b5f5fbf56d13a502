/** Where there is nothing yet: what would be here, and the command that makes it so. */
import type { ReactNode } from "react";
import { CopyButton } from "./copy.tsx";
import "./empty.css";

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly command?: string;
}

export function Empty({ title, children, command }: EmptyProps) {
  return (
    <div className="empty">
      <svg viewBox="0 0 120 64" width="120" height="64" aria-hidden="true" className="empty-drawing">
        <path d="M60 4c-7 9 7 15 0 27M60 31c-4 12-22 8-30 23M60 31c0 10-9 12-10 24M60 31c1 10 9 11 10 24M60 31c5 12 22 8 31 22" />
        <path className="empty-rock" d="M14 58c14-8 28-2 44-3s30-6 48 2" />
      </svg>
      <h2>{title}</h2>
      <div className="quiet">{children}</div>
      {command === undefined ? null : (
        <p className="empty-command">
          <code>{command}</code>
          <CopyButton text={command} what="command" />
        </p>
      )}
    </div>
  );
}
