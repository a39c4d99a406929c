import { useMemo } from 'react'
import { useLocation } from '#/router/router.ts'
import { readView, type View, type ViewSpec } from './view.ts'

/** The view in the URL of this page; the same object while the URL is the same. */
export function useView(spec: ViewSpec): View {
  const { query } = useLocation()
  return useMemo(() => readView(query, spec), [query, spec])
}
