import { useCallback, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import { AdminPage } from '#/admin/admin-page.tsx'
import { focusRows } from '#/admin/table/use-row-focus.ts'
import type { ListKind } from '#/admin/list/list-kind.ts'
import { ListPage } from '#/admin/list/list-page.tsx'
import { useListText } from '#/admin/list/use-list-text.ts'
import { useView } from '#/admin/list/use-view.ts'
import { UserDialog, type UserDialogName } from '#/admin/users/dialogs.tsx'
import { InviteDialog } from '#/admin/users/invite/invite-dialog.tsx'
import { useUserActions } from '#/admin/users/use-user-actions.ts'
import { useUserBulk } from '#/admin/users/use-user-bulk.ts'
import { useUserChoices } from '#/admin/users/use-user-choices.ts'
import { useUserColumns } from '#/admin/users/use-user-columns.tsx'
import { userSource, usersView } from '#/admin/users/user-list.ts'
import { Button } from '#/components/button.tsx'
import { useMe } from '#/session/use-me.ts'
import { pages } from '#/paths.ts'

/** The open dialog. */
type Open = { readonly name: UserDialogName; readonly user: AdminUser } | { readonly name: 'invite' }

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
    <AdminPage title={shell('users')}>
      <ListPage kind={kind} view={view}>
        <Button variant="small" onPress={() => setOpen({ name: 'invite' })}>
          {t('invite.open')}
        </Button>
      </ListPage>
      {open?.name === 'invite' && <InviteDialog onClose={close} />}
      {open && open.name !== 'invite' && (
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
