import type { ReactNode } from 'react'
import { boot } from '#/api.ts'
import { NothingToSee } from '#/components/nothing-to-see.tsx'
import { useMe } from '#/hooks/use-me.ts'

/**
 * Shows its content to administrators. What the document was told counts until the API has answered: somebody may have
 * become one since, or none. The API refuses everybody else whatever is shown.
 */
export function ForAdministrators({ children }: { children: ReactNode }) {
  const isAdmin = useMe()?.is_admin ?? (boot.isAdmin || undefined)
  if (isAdmin === undefined) return null
  return isAdmin ? children : <NothingToSee why="forbidden" />
}
