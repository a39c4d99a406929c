import { useEffect, useRef, type RefObject } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from './button.tsx'

/** Pages that are shown at most: each row costs, and a filter leads further. */
export const maxPages = 20

interface PageOfList {
  readonly next_cursor: string | null
}

/**
 * Options of `useInfiniteQuery` for a list that the API gives page by page. A list that is opened again begins with its
 * first page.
 * @param read reads the page after the cursor, or the first one without it
 */
export const pagedQuery = <P extends PageOfList>(
  queryKey: readonly unknown[],
  read: (after: { readonly cursor?: string }, signal: AbortSignal) => Promise<P>,
) => ({
  queryKey,
  queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
    read(pageParam === undefined ? {} : { cursor: pageParam }, signal),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor }: P, pages: readonly P[]) => (pages.length < maxPages ? next_cursor : null),
  gcTime: 0,
})

interface PagedQuery {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  fetchNextPage(): Promise<unknown>
}

/** Fetches the next page of the list before it; not on the page when there is none. */
export function NextPageButton({ query }: { query: PagedQuery }) {
  const t = useTranslations('frame')
  const place = useRef<HTMLParagraphElement>(null)
  const fetchNext = useNextPage(query, place)
  if (!query.hasNextPage) return null
  return (
    <p ref={place}>
      <Button isOff={query.isFetchingNextPage} onPress={fetchNext}>
        {t(query.isFetchingNextPage ? 'loading' : 'more')}
      </Button>
    </p>
  )
}

/**
 * Fetches the next page. The button goes away with the last page, and the focus would go to the top of the document:
 * the first new row takes it, or the last row where the new ones follow later.
 * @param place element of the button, right behind the list
 */
export function useNextPage(query: PagedQuery, place: RefObject<HTMLElement | null>): () => void {
  const { hasNextPage, isFetchingNextPage } = query
  const last = useRef<Element>(undefined)

  useEffect(() => {
    if (isFetchingNextPage || !last.current) return
    const row = last.current.nextElementSibling ?? last.current
    last.current = undefined
    if (hasNextPage || document.activeElement !== document.body || !(row instanceof HTMLElement)) return
    row.tabIndex = -1
    row.focus({ preventScroll: true })
  }, [hasNextPage, isFetchingNextPage])

  return () => {
    last.current = place.current?.previousElementSibling?.lastElementChild ?? undefined
    void query.fetchNextPage()
  }
}
