import { createContext, useCallback, useContext, useState, type ReactNode } from 'react'

type Announce = (sentence: string) => void

const AnnounceContext = createContext<Announce>(() => undefined)

/**
 * Says a sentence to users of screen readers: what an action of theirs led to, and how many members a filter leaves.
 * What changes by itself is not said: a class that launches would never be silent.
 */
export const useAnnounce = () => useContext(AnnounceContext)

/** The live region of what is below it; the latest sentence replaces the one before. */
export function Announcements({ children }: { children: ReactNode }) {
  const [sentence, setSentence] = useState('')
  // The same sentence is said again only if its text differs.
  const announce = useCallback<Announce>((next) => setSentence((now) => (now === next ? `${next}\u00a0` : next)), [])
  return (
    <AnnounceContext value={announce}>
      {children}
      <p role="status" className="visually-hidden">
        {sentence}
      </p>
    </AnnounceContext>
  )
}
