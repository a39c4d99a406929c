import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useCopy } from '#/components/clipboard.ts'
import { CloseButton, ConfirmDialog, Dialog } from '#/components/dialog.tsx'
import { Field, Options } from '#/components/field.tsx'
import { Icon } from '#/components/icon.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { more, play, stopped } from '#/icons/icons.ts'
import { calendar, folder as folderIcon, key, link, plus } from '#/icons/late-icons.ts'
import { pages } from '#/paths.ts'
import { AddMembersDialog } from './add-members-dialog.tsx'
import { ClassLinkDialog } from './class-link-dialog.tsx'
import { FolderDialog } from './folder-dialog.tsx'
import { HoursDialog } from './hours-dialog.tsx'
import { QrCode } from './qr-code.tsx'
import { hasEnded, useMembersChanged } from './use-members.ts'

const calls = { stop: 'stopGroup', block: 'blockGroup', unblock: 'unblockGroup' } as const
/** The server waits for stops for some seconds only. */
const timeout = 60_000

interface GroupActionsProps {
  managed: ManagedGroupResponse
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
}

/** Start and stop of all members' containers, ways into the group, block and end; what stops something asks before. */
export function GroupActions({ managed, isOff, isReadOnly }: GroupActionsProps) {
  const { group, types, folder_path: folderPath } = managed
  const t = useTranslations('groups')
  const id = String(group.id)
  const { busy, error, run } = useTask()
  const [dialog, setDialog] = useState<'start' | 'stop' | 'add' | 'code' | 'hours' | 'link' | 'folder' | 'rare'>()
  const [outcome, setOutcome] = useState<string>()
  const status = useRef<HTMLParagraphElement>(null)
  const changed = useMembersChanged(id)
  const close = () => setDialog(undefined)

  function perform(work: (signal: AbortSignal) => Promise<string>) {
    setOutcome(undefined)
    void run(async (signal) => {
      setOutcome(await work(signal))
      await changed()
      // A group that has ended has no button to end it.
      if (document.activeElement === document.body) status.current?.focus({ preventScroll: true })
    })
  }
  const params = { id }
  const act = (action: keyof typeof calls) =>
    perform(async (signal) => (await createApiClient(signal, timeout)[calls[action]]({ params })).message)
  const start = (container_type: string) =>
    perform(
      async (signal) =>
        (await createApiClient(signal, timeout).startGroup({ params, body: { container_type } })).message,
    )
  const end = () =>
    perform(async (signal) => {
      await createApiClient(signal, timeout).endGroup({ params })
      return t('act.ended')
    })
  const isEnded = hasEnded(group)
  const tool = (name: Exclude<typeof dialog, undefined>, icon: string, label: string, isDisabled = isOff) => (
    <Button variant="small" isOff={isDisabled} onPress={() => setDialog(name)}>
      <Icon path={icon} size={18} />
      {label}
    </Button>
  )
  return (
    <>
      <div className="group-bar" role="group" aria-label={t('act.title')}>
        {types.length > 0 && !isEnded && (
          <Button variant="primary" isOff={isOff || busy} onPress={() => setDialog('start')}>
            <Icon path={play} size={18} />
            {t('act.start')}
          </Button>
        )}
        {tool('stop', stopped, t('act.stop'), isOff || busy)}
        <span className="group-gap" />
        {!isReadOnly && tool('add', plus, t('add.title'))}
        {!isReadOnly && !isEnded && tool('code', key, t('code.title'))}
        {types.length > 0 && !isEnded && tool('hours', calendar, t('hours.title'))}
        {(folderPath !== null || group.folder) && tool('folder', folderIcon, t('folder.title'))}
        {types.length > 0 && !isEnded && tool('link', link, t('act.link'), false)}
        <button type="button" className="button small" aria-disabled={isOff} onClick={() => isOff || setDialog('rare')}>
          <Icon path={more} size={18} />
          <span className="visually-hidden">{t('act.rare')}</span>
        </button>
      </div>
      <Alert error={error} />
      {/* Always there: a live region that comes with its text is not heard. */}
      <div className={busy || outcome !== undefined ? 'group-status' : 'visually-hidden'}>
        <p role="status" ref={status} tabIndex={-1}>
          {busy ? t('act.busy') : outcome}
        </p>
        {!busy && outcome !== undefined && <CloseButton onPress={() => setOutcome(undefined)} />}
      </div>
      {dialog === 'start' && <StartDialog types={types} onStart={start} onClose={close} />}
      {dialog === 'add' && <AddMembersDialog id={id} onClose={close} />}
      {dialog === 'hours' && <HoursDialog id={id} types={types} onClose={close} />}
      {dialog === 'folder' && <FolderDialog managed={managed} onClose={close} />}
      {dialog === 'code' && <JoinCodeDialog id={id} onClose={close} />}
      {dialog === 'link' && <ClassLinkDialog types={types} onClose={close} />}
      {dialog === 'stop' && <Ask action="stop" onConfirm={() => act('stop')} onClose={close} />}
      {dialog === 'rare' && (
        <EndSheet
          isOff={isOff || busy}
          isEnded={isEnded}
          onAct={(action) => (action === 'end' ? end() : act(action))}
          onClose={close}
        />
      )}
    </>
  )
}

interface AskProps {
  action: 'stop' | 'block' | 'end'
  onConfirm(): void
  onClose(): void
}

const asks = { stop: 'askStop', block: 'askBlock', end: 'askEnd' } as const

function Ask({ action, onConfirm, onClose }: AskProps) {
  const t = useTranslations('groups.act')
  return (
    <ConfirmDialog title={t(`${asks[action]}.title`)} confirm={t(action)} onConfirm={onConfirm} onClose={onClose}>
      <p>{t(`${asks[action]}.effect`)}</p>
    </ConfirmDialog>
  )
}

interface EndSheetProps {
  isOff: boolean
  isEnded: boolean
  onAct(action: 'block' | 'unblock' | 'end'): void
  onClose(): void
}

/** What is rare, and stops the containers of all members: a block, its end, and the end of the group. */
function EndSheet({ isOff, isEnded, onAct, onClose }: EndSheetProps) {
  const t = useTranslations('groups.act')
  const [asks, setAsks] = useState<'block' | 'end'>()
  return (
    <Dialog title={t('rare')} variant="sheet" onClose={onClose}>
      {(close) => (
        <>
          <section className="sheet-part">
            <p>{t('askBlock.effect')}</p>
            <div className="actions">
              <Button isOff={isOff} onPress={() => setAsks('block')}>
                {t('block')}
              </Button>
            </div>
          </section>
          <section className="sheet-part">
            <p>{t('unblockEffect')}</p>
            <div className="actions">
              <Button
                isOff={isOff}
                onPress={() => {
                  close()
                  onAct('unblock')
                }}
              >
                {t('unblock')}
              </Button>
            </div>
          </section>
          {!isEnded && (
            <section className="sheet-part">
              <p>{t('askEnd.effect')}</p>
              <div className="actions">
                <Button isOff={isOff} onPress={() => setAsks('end')}>
                  {t('end')}
                </Button>
              </div>
            </section>
          )}
          {asks && (
            <Ask
              action={asks}
              onConfirm={() => {
                close()
                onAct(asks)
              }}
              onClose={() => setAsks(undefined)}
            />
          )}
        </>
      )}
    </Dialog>
  )
}

interface StartDialogProps {
  types: ManagedGroupResponse['types']
  onStart(type: string): void
  onClose(): void
}

/** Asks which type of the group is to be started for all members. */
function StartDialog({ types, onStart, onClose }: StartDialogProps) {
  const t = useTranslations('groups.act')
  const field = useRef<HTMLSelectElement>(null)
  const [first] = types
  if (!first) return null
  return (
    <ConfirmDialog
      title={t('askStart.title')}
      confirm={t('start')}
      onConfirm={() => onStart(field.current?.value ?? first.type)}
      onClose={onClose}
    >
      <p>{t('askStart.effect')}</p>
      {types.length > 1 && (
        <Field label={t('askStart.type')} className="group-form group-field">
          {(control) => (
            <select {...control} ref={field} defaultValue={first.type}>
              <Options of={types.map(({ type, display_name: name }) => [type, name])} />
            </select>
          )}
        </Field>
      )}
    </ConfirmDialog>
  )
}

/** The join code of a group, large enough for a projector. */
function JoinCodeDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useTranslations('groups.code')
  const { busy, error, run } = useTask()
  const client = useQueryClient()
  const [isRemoved, setRemoved] = useState(false)
  const params = { id }
  const queryKey = ['join-code', id]
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => createApiClient(signal).readJoinCode({ params }),
    gcTime: 0,
  })
  const { code, expires_at: endsAt } = query.data ?? { code: null, expires_at: null }
  const { shown, label, said, copy, forget } = useCopy<HTMLParagraphElement>(code ?? '')
  const [isMade, setMade] = useState(false)
  const copying = useRef<HTMLButtonElement>(null)
  // The key that made a code must not replace it while the class enters it.
  useEffect(() => {
    if (isMade) copying.current?.focus()
  }, [isMade])

  function make() {
    setRemoved(false)
    forget()
    void run(async (signal) => {
      client.setQueryData(queryKey, await createApiClient(signal).createJoinCode({ params }))
      setMade(true)
    })
  }
  function remove() {
    void run(async (signal) => {
      await createApiClient(signal).deleteJoinCode({ params })
      client.setQueryData(queryKey, { code: null, expires_at: null })
      setMade(false)
      setRemoved(true)
    })
  }
  const address = code && `${location.origin}${pages.groups}?code=${code}`
  return (
    <Dialog title={t('title')} variant="sheet" onClose={onClose}>
      {() => (
        <>
          <p className="hint">{t('lead')}</p>
          <div role="status" className="join-code-view">
            {code && endsAt && (
              <>
                <div>
                  <p className="join-code" ref={shown}>
                    {code}
                  </p>
                  <p className="hint">{t.rich('ends', { at: rich.time(endsAt) })}</p>
                </div>
                {address && <QrCode text={address} label={t('qr')} />}
              </>
            )}
            {!code && endsAt && <p>{t.rich('active', { at: rich.time(endsAt) })}</p>}
            {isRemoved && <p>{t('removed')}</p>}
          </div>
          {address && (
            <p className="hint">
              <a className="path" href={address}>
                {t('link')}
              </a>
            </p>
          )}
          <Alert error={error ?? query.error ?? undefined} />
          <div className="actions">
            {/* A code that the class is entering must not end by a press that was meant for the next one. */}
            {code && (
              <Button ref={copying} variant="primary" onPress={copy}>
                {label}
              </Button>
            )}
            <Button variant={code ? undefined : 'primary'} isOff={busy} onPress={make}>
              {busy ? t('busy') : t('make')}
            </Button>
            <Button isOff={busy || endsAt === null} onPress={remove}>
              {t('remove')}
            </Button>
            <span role="status" className="hint">
              {said}
            </span>
          </div>
        </>
      )}
    </Dialog>
  )
}
