import { useDeferredValue, useEffect, useState } from 'react'
import { rewriteQuery, useLocation } from '#/router/router.ts'
import { filters, type Filter } from './member-view.ts'

/** Between a key and its place in the address, in ms: browsers refuse more than some changes a second. */
const delay = 300

/** Which members are shown, as the address says it: a reload, and a link to it, show the same. */
export interface ListFilter {
  /** What the field and the buttons show. */
  readonly wanted: string
  readonly chosen: Filter
  /** What the rows follow: they take longer than a frame, in a rendering that field and buttons interrupt. */
  readonly text: string
  readonly filter: Filter
  want(text: string): void
  choose(filter: Filter): void
}

/** The filter of this page's address, and its changes. */
export function useListFilter(): ListFilter {
  const { query } = useLocation()
  const [wanted, want] = useState(() => query.get('find') ?? '')
  const [chosen, choose] = useState<Filter>(() => filters.find((each) => each === query.get('show')) ?? 'all')
  useEffect(() => {
    rewriteQuery({ show: chosen === 'all' ? '' : chosen })
  }, [chosen])
  useEffect(() => {
    const timer = setTimeout(() => rewriteQuery({ find: wanted.trim() }), delay)
    return () => clearTimeout(timer)
  }, [wanted])
  return {
    wanted,
    chosen,
    text: useDeferredValue(wanted.trim().toLowerCase()),
    filter: useDeferredValue(chosen),
    want,
    choose,
  }
}
