import { useSyncExternalStore } from 'react'

/** Where rows are cards; the same width stands in table-cards.css. */
const narrow = matchMedia('(max-width: 40rem)')

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** Whether rows are cards, for want of width. */
export const useNarrow = () => useSyncExternalStore(subscribe, () => narrow.matches)
