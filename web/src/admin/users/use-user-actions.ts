import { useRef } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import { createApiClient } from '#/api/api-client.ts'
import type { RowAction } from '#/components/menu.tsx'
import { undoLabelFor } from '#/admin/bulk/run-bulk.ts'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { useErrorMessage } from '#/i18n/i18n-provider.tsx'
import type { UserDialogName } from './user-dialogs.tsx'
import { actionsFor } from './user-actions.ts'
import { showUserGone, showUsers } from './user-list.ts'

/** A block of a user cascades to their containers. */
const subjectsOf = ({ id, containers }: AdminUser) => [
  `user:${id}`,
  ...containers.map((container) => `container:${container.id}`),
]

interface UserActions {
  /** The entries of a user's row menu. */
  of(user: AdminUser): readonly RowAction[]
  /** The same without the details. */
  inSheet(user: AdminUser): readonly RowAction[]
  /** Shows the updated user, and offers undo where possible. @param name of the dialog that changed the user */
  done(name: string, user: AdminUser): Promise<void>
  gone(user: AdminUser): Promise<void>
}

/** The actions on one user, from their row menu. @param open opens a dialog first */
export function useUserActions(
  myId: number | undefined,
  open: (name: UserDialogName | 'details', user: AdminUser) => void,
): UserActions {
  const t = useTranslations('admin.users')
  const { notify } = useBulkJobs()
  const sentenceOf = useErrorMessage()
  /** Ids of users to whom a link is being mailed. */
  const mailed = useRef(new Set<number>())

  /**
   * Goes on when the page is left, and beside that of another user: the menu says nothing while a mail is under way.
   */
  async function resend({ id, email }: AdminUser) {
    if (mailed.current.has(id)) return
    mailed.current.add(id)
    try {
      await createApiClient(new AbortController().signal).resendVerificationTo({ params: { id: String(id) } })
      notify({ title: t('notice.resent', { email }) })
    } catch (error) {
      // There is no dialog that could show the error.
      notify({ title: sentenceOf(error) })
    } finally {
      mailed.current.delete(id)
    }
  }

  const inSheet = (user: AdminUser): readonly RowAction[] =>
    actionsFor(user, myId).map(({ action, obstacle }) => ({
      key: action,
      label: t(`actions.${action}`),
      obstacle: obstacle && t(`obstacles.${obstacle}`),
      isGrave: action === 'delete',
      run: () => (action === 'resend' ? void resend(user) : open(action, user)),
    }))

  const of = (user: AdminUser): readonly RowAction[] => [
    { key: 'details', label: t('actions.details'), run: () => open('details', user) },
    ...inSheet(user),
  ]

  /** Reverses a block or an unblock. */
  async function undoBlock({ id }: AdminUser, isBlocked: boolean) {
    const api = createApiClient(new AbortController().signal)
    try {
      const answer = await (isBlocked ? api.unblockUser : api.blockUser)({ params: { id: String(id) } })
      await showUsers([answer.user])
      notify(isBlocked ? unblockedToast(answer.user) : blockedToast(answer.user))
    } catch (error) {
      notify({ title: sentenceOf(error) })
    }
  }

  const blockedToast = (user: AdminUser) => ({
    title: t('notice.blocked', { email: user.email }),
    subjects: subjectsOf(user),
  })

  /** Unblocked containers do not start automatically, as an undo might suggest. */
  const unblockedToast = (user: AdminUser) => ({
    title: t('notice.unblocked', { email: user.email }),
    lines: user.containers.length === 0 ? [] : [t('notice.staysStopped')],
    subjects: subjectsOf(user),
  })

  async function done(name: string, user: AdminUser) {
    const { email } = user
    await showUsers([user])
    const undo = { label: undoLabelFor(name === 'block'), run: () => void undoBlock(user, name === 'block') }
    if (name === 'block') notify({ ...blockedToast(user), undo })
    if (name === 'unblock') notify({ ...unblockedToast(user), undo })
    if (name === 'promote') notify({ title: t('notice.promoted', { email }) })
    if (name === 'demote') notify({ title: t('notice.demoted', { email }) })
    if (name === 'extraDisk') notify({ title: t('notice.extraDisk', { email }) })
  }

  async function gone(user: AdminUser) {
    await showUserGone(user.id)
    notify({ title: t('notice.deleted', { email: user.email }) })
  }

  return { of, inSheet, done, gone }
}
