import type { ReactNode } from 'react'
import { Link } from '#/components/link.tsx'

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
  /** For a tag without text, which marks a position. */
  inPlace: (node: ReactNode) => () => node,
} as const
