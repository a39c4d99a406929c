import { useSyncExternalStore } from 'react'

/** The width below which rows are cards; the same as in table-cards.css. */
const narrow = matchMedia('(max-width: 40rem)')

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** Whether rows are cards. */
export const useNarrow = () => useSyncExternalStore(subscribe, () => narrow.matches)
