import { useMemo } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import { RelativeTime, Day } from '#/admin/relative-time.tsx'
import { columnsFor, type Columns } from '#/admin/table/columns.ts'
import { UserState } from './user-state.tsx'

const column = columnsFor<AdminUser>()

/** @param onOpen opens the details of a user; the same function at every render, or all rows render again */
export function useUserColumns(myId: number | undefined, onOpen: (user: AdminUser) => void): Columns<AdminUser> {
  const t = useTranslations('admin.users')
  return useMemo(
    () =>
      [
        column.accessor('email', {
          meta: { label: t('columns.email'), isRowHeader: true },
          cell: ({ row: { original } }) => (
            <>
              {/* By keyboard the row menu opens the details, so that each row is one tab stop. */}
              <button type="button" className="link-button name" tabIndex={-1} onClick={() => onOpen(original)}>
                {original.email}
              </button>
              {original.id === myId && <span className="tag">{t('badges.you')}</span>}
            </>
          ),
        }),
        column.accessor('state', {
          meta: { label: t('columns.state') },
          enableSorting: false,
          cell: ({ row: { original } }) => <UserState user={original} />,
        }),
        column.accessor('containers', {
          meta: { label: t('columns.containers') },
          enableSorting: false,
          cell: ({ row: { original } }) => <ContainerCount user={original} />,
        }),
        column.accessor('last_used', {
          meta: { label: t('columns.last_used') },
          sortDescFirst: true,
          cell: ({ row: { original } }) => <RelativeTime at={original.last_used} />,
        }),
        column.accessor('created_at', {
          meta: { label: t('columns.created_at') },
          sortDescFirst: true,
          cell: ({ row: { original } }) => <Day at={original.created_at} />,
        }),
      ] as Columns<AdminUser>,
    [t, myId, onOpen],
  )
}

function ContainerCount({ user: { containers } }: { user: AdminUser }) {
  const t = useTranslations('admin.users')
  const count = containers.length
  const blocked = containers.filter(({ is_blocked }) => is_blocked).length
  if (blocked > 0) return t('containersBlocked', { count, blocked })
  return <span className={count === 0 ? 'muted' : undefined}>{t('containers', { count })}</span>
}
