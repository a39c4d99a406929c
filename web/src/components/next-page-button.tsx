import type { ReactNode } from 'react'
import { Button } from '#/components/button.tsx'

interface NextPageButtonProps {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    fetchNextPage(): Promise<unknown>
  }
  /** Its text while the next page is fetched. */
  readonly fetching: ReactNode
  readonly children: ReactNode
}

/** Fetches the next page of a list; not on the page when there is none. */
export function NextPageButton({ query, fetching, children }: NextPageButtonProps) {
  if (!query.hasNextPage) return null
  return (
    <p>
      <Button isOff={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? fetching : children}
      </Button>
    </p>
  )
}
