import { useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { openLink } from '@berth/api/open-link.ts'
import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, SubmitButton } from '#/components/button.tsx'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { Field, Options } from '#/components/field.tsx'
import { useTask } from '#/components/use-task.ts'
import { useSize } from '#/snapshots/use-size.ts'
import { useMembersChanged } from './use-members.ts'

interface FolderDialogProps {
  managed: ManagedGroupResponse
  onClose(): void
}

const rights = ['read', 'write'] as const

/** The folder of a group: its name, and what members may do in it. What is in it outlives that it is taken away. */
export function FolderDialog({ managed, onClose }: FolderDialogProps) {
  const { group, folder_path: path, folder_bytes: bytes, folder_type: type } = managed
  const t = useTranslations('groups.folder')
  const size = useSize()
  const { folder } = group
  const [name, setName] = useState(folder?.name ?? '')
  const [members, setMembers] = useState<(typeof rights)[number]>(folder?.members ?? 'read')
  const { busy, error, run } = useTask()
  const changed = useMembersChanged(String(group.id))
  const params = { id: String(group.id) }

  const perform = (work: (signal: AbortSignal) => Promise<unknown>, close: () => void) =>
    void run(async (signal) => {
      await work(signal)
      await changed()
      close()
    })
  function save(event: FormEvent, close: () => void) {
    event.preventDefault()
    perform((signal) => createApiClient(signal).setGroupFolder({ params, body: { name, members } }), close)
  }
  return (
    <Dialog title={t('title')} variant="sheet" onClose={onClose}>
      {(close) => (
        <form className="group-form" onSubmit={(event) => save(event, close)}>
          <p className="hint">{t('lead', { path: `${path ?? ''}/${name || '…'}` })}</p>
          {folder && (
            <p>
              {bytes === null ? t('unmeasured') : t('size', { size: size(bytes) })}{' '}
              {type !== null && <a href={openLink(location.origin, { type, path: '' })}>{t('open')}</a>}
            </p>
          )}
          <Field label={t('name')} className={null}>
            {(control) => (
              <input
                {...control}
                value={name}
                onChange={({ target }) => setName(target.value)}
                pattern="[a-z0-9][a-z0-9\-]{0,38}"
                title={t('nameRule')}
                maxLength={39}
                autoComplete="off"
                required
              />
            )}
          </Field>
          <Field label={t('members')} className={null}>
            {(control) => (
              <select
                {...control}
                value={members}
                onChange={({ target }) => setMembers(rights.find((each) => each === target.value) ?? 'read')}
              >
                <Options of={rights.map((each) => [each, t(each)])} />
              </select>
            )}
          </Field>
          <p className="hint">{t('next')}</p>
          <Alert error={error} />
          <div className="actions end">
            {folder && (
              <Button
                isOff={busy}
                onPress={() =>
                  perform((signal) => createApiClient(signal).removeGroupFolder({ params, query: {} }), close)
                }
              >
                {t('remove')}
              </Button>
            )}
            <EndButton word="cancel" onPress={close} />
            <SubmitButton isOff={busy}>{t('save')}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}
