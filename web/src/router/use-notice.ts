import { useEffect, useState } from 'react'
import { clearHistoryState, useLocation } from '#/router/router.ts'

/** A sentence that one page leaves for the next, in the history entry. */
export interface Notice {
  readonly notice: string
}

/** The notice that the previous page left for this one. It is shown once: after a reload it is gone. */
export function useNotice(): string | undefined {
  const { state } = useLocation()
  const [notice] = useState(() => noticeIn(state))
  useEffect(() => {
    if (notice !== undefined) clearHistoryState()
  }, [notice])
  return notice
}

function noticeIn(state: unknown): string | undefined {
  const hasNotice = typeof state === 'object' && state !== null && 'notice' in state && typeof state.notice === 'string'
  return hasNotice ? (state as Notice).notice : undefined
}
