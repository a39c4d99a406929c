import { useQuery } from '@tanstack/react-query'
import { useId, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Client } from '@berth/api/client.ts'
import type { Answer } from '@berth/api/endpoints.ts'
import type { AdminUser, BlockPreview } from '@berth/api/schemas/administration/admin.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Field } from '#/components/field.tsx'
import { TypeName } from '#/components/type-name.tsx'
import { pages } from '#/paths.ts'
import { sessionChannel } from '#/session/session-channel.ts'
import type { UserAction } from './user-actions.ts'

interface UserDialogProps {
  user: AdminUser
  /** Called after success with the updated user. */
  onDone(user: AdminUser): void
  /** Called when the user no longer exists. */
  onGone(): void
  onClose(): void
}

/** The dialogs about one user. Another signup link needs no confirmation. */
export type UserDialogName = Exclude<UserAction, 'resend'> | 'extraDisk'

const dialogs = {
  block: BlockDialog,
  unblock: UnblockDialog,
  takeOver: TakeOverDialog,
  promote: (props: UserDialogProps) => <RightsDialog {...props} action="promote" />,
  demote: (props: UserDialogProps) => <RightsDialog {...props} action="demote" />,
  delete: DeleteDialog,
  extraDisk: ExtraDiskDialog,
} as const satisfies Record<UserDialogName, unknown>

export function UserDialog({ name, ...props }: UserDialogProps & { name: UserDialogName }) {
  const Current = dialogs[name]
  return <Current {...props} />
}

function UnblockDialog(props: UserDialogProps) {
  const t = useTranslations('admin.users.unblock')
  const blocked = props.user.containers.filter(({ is_blocked }) => is_blocked)
  return (
    <UserActionDialog action="unblock" {...props}>
      <p>{t('text')}</p>
      {blocked.length === 0 ? (
        <p>{t('back', { count: 0 })}</p>
      ) : (
        <Types text={t('back', { count: blocked.length })} containers={blocked} />
      )}
    </UserActionDialog>
  )
}

function RightsDialog(props: UserDialogProps & { action: 'promote' | 'demote' }) {
  const t = useTranslations(`admin.users.${props.action}`)
  return (
    <UserActionDialog {...props}>
      <p>{t('text')}</p>
    </UserActionDialog>
  )
}

/**
 * The state of an account in a word, with its meaning on hover. A block comes first: "blocked" beside "active" would be
 * a contradiction.
 */
export function UserState({ user }: { user: Pick<AdminUser, 'state' | 'is_admin' | 'is_blocked'> }) {
  const t = useTranslations('admin.users')
  const { state, is_admin, is_blocked } = user
  const word = is_blocked ? (
    <span className="tag bad" title={t('stateMeanings.blocked')}>
      {t('badges.blocked')}
    </span>
  ) : (
    <span className={state === 'active' ? 'state' : 'state muted'} title={t(`stateMeanings.${state}`)}>
      {t(`states.${state}`)}
    </span>
  )
  if (!is_admin) return word
  return (
    <span className="tags">
      {word}
      <span className="tag busy">{t('badges.administrator')}</span>
    </span>
  )
}

/** Shows what blocking a user would do now, before it is done. */
function BlockDialog(props: UserDialogProps) {
  const t = useTranslations('admin.users.block')
  const preview = useQuery({
    queryKey: ['block-preview', props.user.id],
    queryFn: ({ signal }) => createApiClient(signal).previewBlock({ params: { id: String(props.user.id) } }),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <UserActionDialog action="block" {...props}>
      <Alert error={preview.error ?? undefined} />
      {preview.isPending && <p role="status">{t('looking')}</p>}
      {preview.data && <Preview preview={preview.data} />}
    </UserActionDialog>
  )
}

function Preview({ preview: { sessions, containers } }: { preview: BlockPreview }) {
  const t = useTranslations('admin.users.block')
  const already = containers.filter(({ is_blocked }) => is_blocked)
  const running = containers.filter(({ is_blocked, is_running }) => is_running && !is_blocked)
  const idle = containers.filter(({ is_blocked, is_running }) => !is_running && !is_blocked)
  return (
    <div className="preview">
      <p>{t('sessions', { count: sessions })}</p>
      {containers.length === 0 && <p>{t('none')}</p>}
      <Types text={t('running', { count: running.length })} containers={running} />
      <Types text={t('idle', { count: idle.length })} containers={idle} />
      <Types text={t('already', { count: already.length })} containers={already} />
      <p>{t('files')}</p>
    </div>
  )
}

/** Some containers of one user, by type. */
function Types({
  text,
  containers,
}: {
  text: string
  containers: readonly Pick<AdminUser['containers'][number], 'id' | 'container_type'>[]
}) {
  if (containers.length === 0) return null
  return (
    <div>
      <p>{text}</p>
      <ul className="types">
        {containers.map(({ id, container_type }) => (
          <li key={id} className="path">
            <TypeName type={container_type} />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Deletes an account after its address was typed: it cannot be undone. */
function DeleteDialog({ user, onGone, onClose }: UserDialogProps) {
  const t = useTranslations('admin.users.delete')
  const [typed, setTyped] = useState('')
  const [isPurge, setPurge] = useState(false)
  const field = useId()
  const isRight = typed.trim().toLowerCase() === user.email.toLowerCase()
  const isWrong = typed !== '' && !user.email.toLowerCase().startsWith(typed.trim().toLowerCase())

  async function run(signal: AbortSignal) {
    await createApiClient(signal).deleteUser({ params: { id: String(user.id) }, query: { purge: String(isPurge) } })
    onGone()
  }

  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      words={t}
      isOff={!isRight}
      isGrave
      run={run}
      onClose={onClose}
    >
      <p>{t('text', { count: user.containers.length })}</p>
      {!isPurge && <p>{t('files')}</p>}
      <label className="check-line">
        <input type="checkbox" checked={isPurge} onChange={(event) => setPurge(event.target.checked)} />
        {t('purge')}
      </label>
      <label htmlFor={field}>{t('type', { email: user.email })}</label>
      <input
        id={field}
        aria-describedby={`${field}-hint`}
        aria-invalid={isWrong}
        value={typed}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
      />
      <p className="hint" id={`${field}-hint`} role="status">
        {isWrong ? t('mismatch') : ''}
      </p>
    </ActionDialog>
  )
}

const gibibyte = 2 ** 30
/** Max of the field in GiB. Source: the API, `ExtraDiskBody`. */
const maxExtraDisk = 2 ** 20

/** Lets the homes of one user have more than the disk limits allow, or takes that away. */
function ExtraDiskDialog({ user, onDone, onClose }: UserDialogProps) {
  const t = useTranslations('admin.users.extraDisk')
  const [typed, setTyped] = useState(String((user.extra_disk_bytes ?? 0) / gibibyte))
  const amount = typed.trim() === '' ? Number.NaN : Number(typed)

  async function run(signal: AbortSignal) {
    const body = { bytes: Math.round(amount * gibibyte) }
    onDone((await createApiClient(signal).setExtraDisk({ params: { id: String(user.id) }, body })).user)
  }

  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      words={t}
      isOff={!(amount >= 0 && amount <= maxExtraDisk)}
      run={run}
      onClose={onClose}
    >
      <Field label={t('field')} hint={t('hint')} className={null}>
        {(control) => (
          <input
            {...control}
            type="number"
            min={0}
            max={maxExtraDisk}
            step="any"
            value={typed}
            autoFocus
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
    </ActionDialog>
  )
}

/** Max length of the reason. Source: the API, `TakeoverBody`. */
const maxReasonLength = 500

/** Asks for a reason, starts a takeover, and opens the user's pages. */
function TakeOverDialog({ user, onClose }: UserDialogProps) {
  const t = useTranslations('admin.users.takeOver')
  const [reason, setReason] = useState('')

  async function run(signal: AbortSignal) {
    const body = { reason: reason.trim(), in_browser: true }
    await createApiClient(signal).takeOver({ params: { id: String(user.id) }, body })
    sessionChannel.announce()
    // A real navigation: the next document is the user's and has the banner. Also when the dialog is closed by then:
    // this browser acts for the user already, and this page's requests would fail.
    location.assign(pages.home)
  }

  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      words={t}
      isOff={reason.trim() === ''}
      run={run}
      onClose={onClose}
    >
      <p>{t('text')}</p>
      <p>{t('limits')}</p>
      <Field label={t('reason')} hint={t('reasonHint')} className={null}>
        {(control) => (
          <input
            {...control}
            value={reason}
            maxLength={maxReasonLength}
            required
            autoComplete="off"
            autoFocus
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
    </ActionDialog>
  )
}

type Action = 'block' | 'unblock' | 'promote' | 'demote'

interface UserActionDialogProps extends Pick<UserDialogProps, 'user' | 'onDone' | 'onClose'> {
  /** Names the endpoint and the texts in `admin.users`. */
  action: Action
  children: ReactNode
}

const endpointOf = {
  block: 'blockUser',
  unblock: 'unblockUser',
  promote: 'promoteUser',
  demote: 'demoteUser',
} as const satisfies Record<Action, keyof Client>

/** Asks for confirmation of an action whose response is the updated user. */
function UserActionDialog({ action, user, onDone, onClose, children }: UserActionDialogProps) {
  const t = useTranslations(`admin.users.${action}`)
  async function run(signal: AbortSignal) {
    const answer: Answer<(typeof endpointOf)[Action]> = await createApiClient(signal)[endpointOf[action]]({
      params: { id: String(user.id) },
    })
    onDone(answer.user)
  }
  return (
    <ActionDialog title={t('title', { email: user.email })} words={t} run={run} onClose={onClose}>
      {children}
    </ActionDialog>
  )
}
