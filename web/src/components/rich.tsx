import type { ReactNode } from 'react'
import { Link } from '#/components/link.tsx'
import { Time } from '#/time/time.tsx'

/** The elements of the tags of a message (`t.rich`). */
export const rich = {
  /** An e-mail address or URL, which may break anywhere. */
  address: (text: ReactNode) => <b className="address">{text}</b>,
  path: (text: ReactNode) => <span className="path">{text}</span>,
  link: (to: string, state?: unknown) => (text: ReactNode) => (
    <Link to={to} state={state}>
      {text}
    </Link>
  ),
  /** A point in time (ISO 8601), for a tag without text. */
  time: (at: string) => () => <Time at={at} />,
  /** For a tag without text, which marks a position. */
  inPlace: (node: ReactNode) => () => node,
} as const
