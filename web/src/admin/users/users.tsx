import { useCallback, useMemo, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import { AdminPage } from '#/admin/admin-page.tsx'
import type { BulkKind } from '#/admin/bulk/bulk-jobs.tsx'
import { Day, RelativeTime } from '#/admin/instants.tsx'
import { useBulkText, useListText, useView, type ListKind } from '#/admin/list/list-kind.ts'
import { ListPage } from '#/admin/list/list-page.tsx'
import { useBlockedFilter, yesNoFilter, type Choice } from '#/admin/list/toolbar.tsx'
import { columnsFor, type Columns } from '#/admin/table/columns.ts'
import { focusRows } from '#/admin/table/use-row-focus.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Button } from '#/components/button.tsx'
import { pages } from '#/paths.ts'
import { useMe } from '#/session/use-me.ts'
import { InviteDialog } from './invite-dialog.tsx'
import { lastUseOf } from './user-actions.ts'
import { useUserActions } from './use-user-actions.ts'
import { UserSheet } from './user-sheet.tsx'
import { UserDialog, UserState, type UserDialogName } from './user-dialogs.tsx'
import { showUsers, userSource, userStates, usersView } from './user-list.ts'

/** The open dialog. */
type Open = { readonly name: UserDialogName | 'details'; readonly user: AdminUser } | { readonly name: 'invite' }

/** All users: search, filter, sort, block, unblock, and every action on one. */
export function Users() {
  const t = useTranslations('admin.users')
  const shell = useTranslations('admin.shell')
  const words = useListText('admin.users')
  const view = useView(usersView)
  const me = useMe()
  const [open, setOpen] = useState<Open>()
  const details = useCallback((user: AdminUser) => setOpen({ name: 'details', user }), [])
  const columns = useUserColumns(me?.id, details)
  const choices = useUserChoices()
  const bulk = useUserBulk()
  const actions = useUserActions(me?.id, (name, user) => setOpen({ name, user }))

  const kind: ListKind<AdminUser> = {
    path: pages.adminUsers,
    className: 'users',
    source: userSource,
    columns,
    choices,
    bulk,
    targetOf: ({ id, email, is_blocked }) => ({ id, name: email, isBlocked: is_blocked }),
    isLeftOut: (id) => id === me?.id,
    actionsOf: actions.of,
    text: {
      ...words,
      noMatch: [t('noMatch'), t('noMatchHint')],
      none: [t('noMatch'), t('noMatchHint')],
    },
  }

  function close() {
    setOpen(undefined)
    focusRows()
  }

  return (
    <AdminPage
      title={shell('users')}
      actions={
        <Button variant="primary" onPress={() => setOpen({ name: 'invite' })}>
          {t('invite.open')}
        </Button>
      }
    >
      <ListPage kind={kind} view={view} />
      {open?.name === 'invite' && <InviteDialog onClose={close} />}
      {open?.name === 'details' && (
        <UserSheet
          user={open.user}
          actions={actions.inSheet(open.user)}
          onExtraDisk={() => setOpen({ name: 'extraDisk', user: open.user })}
          onClose={close}
        />
      )}
      {open && open.name !== 'invite' && open.name !== 'details' && (
        <UserDialog
          name={open.name}
          user={open.user}
          onDone={(user) => void actions.done(open.name, user)}
          onGone={() => void actions.gone(open.user)}
          onClose={close}
        />
      )}
    </AdminPage>
  )
}

const column = columnsFor<AdminUser>()

/** @param onOpen opens the details of a user; the same function at every render, or all rows render again */
function useUserColumns(myId: number | undefined, onOpen: (user: AdminUser) => void): Columns<AdminUser> {
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
          cell: ({ row: { original } }) => <RelativeTime at={lastUseOf(original)} />,
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
  const blocked = containers.filter(({ is_blocked }) => is_blocked).length
  return (
    <span className="tags">
      <span className={containers.length === 0 ? 'muted' : undefined}>
        {t('containers', { count: containers.length })}
      </span>
      {blocked > 0 && <span className="tag bad">{t('containersBlocked', { blocked })}</span>}
    </span>
  )
}

/** The filters of the page of users. */
function useUserChoices(): readonly Choice[] {
  const t = useTranslations('admin.users')
  const blockedFilter = useBlockedFilter()
  return [
    {
      name: 'state',
      label: t('filters.state'),
      options: [['', t('filters.anyState')], ...userStates.map((state) => [state, t(`states.${state}`)] as const)],
    },
    yesNoFilter('is_admin', t('filters.role'), t('filters.anyRole'), t('filters.administrators'), t('filters.others')),
    blockedFilter,
  ]
}

/** Timeout in ms: all running containers of a thousand users have to stop. */
const timeout = 120_000

/** Blocks and unblocks many users. */
function useUserBulk(): BulkKind {
  const text = useBulkText('admin.users')
  return {
    send: async (ids, wanted) => {
      const api = createApiClient(new AbortController().signal, timeout)
      const answer = await (wanted ? api.bulkBlockUsers : api.bulkUnblockUsers)({ body: { user_ids: ids } })
      await showUsers(answer.users)
      return { done: answer.users.map(({ id }) => id), notFound: answer.not_found, refused: answer.refused }
    },
    text,
    subjectOf: (id) => `user:${id}`,
  }
}
