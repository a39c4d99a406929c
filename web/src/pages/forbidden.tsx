import type { ReactNode } from 'react'
import { boot } from '#/api/api-client.ts'
import { StatusPage } from '#/components/page/status-page.tsx'
import { useMe } from '#/session/use-me.ts'

/**
 * Shows its content to administrators. What the document was told counts until the API has answered: somebody may have
 * become one since, or none. The API refuses everybody else whatever is shown.
 */
export function ForAdministrators({ children }: { children: ReactNode }) {
  const isAdmin = useMe()?.is_admin ?? (boot.isAdmin || undefined)
  if (isAdmin === undefined) return null
  return isAdmin ? children : <StatusPage why="forbidden" />
}
