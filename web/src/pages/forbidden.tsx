import type { ReactNode } from 'react'
import { boot } from '#/api/api-client.ts'
import { StatusPage } from '#/components/page/status-page.tsx'
import { useMe } from '#/session/use-me.ts'

/**
 * Shows its content to administrators. The boot data counts until the API has answered: the role may have changed
 * since. The API refuses every other user, whatever is shown.
 */
export function ForAdministrators({ children }: { children: ReactNode }) {
  const isAdmin = useMe()?.is_admin ?? (boot.isAdmin || undefined)
  if (isAdmin === undefined) return null
  return isAdmin ? children : <StatusPage why="forbidden" />
}
