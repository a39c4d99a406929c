import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { fillPath } from '@berth/api/client.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { boot, canAct, createApiClient, launchTimeout } from '#/api/api-client.ts'
import { anySignal } from '#/api/retry.ts'
import { Alert } from '#/components/alert.tsx'
import { AskButton } from '#/components/ask-button.tsx'
import { ButtonMenu } from '#/components/button-menu.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { ConfirmDialog } from '#/components/dialog.tsx'
import { downloadFrom } from '#/components/download-file.ts'
import { useTask } from '#/components/use-task.ts'
import { containersKey, useContainers } from '#/containers/use-containers.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { files } from '#/messages/files.ts'
import { snapshots } from '#/messages/snapshots.ts'
import { Page } from '#/page/page.tsx'
import { SwitchedOff } from '#/page/status-page.tsx'
import '#/groups/groups.css'
import './snapshots.css'
import { FilesDialog } from './files-dialog.tsx'
import { SnapshotRow } from './snapshot-row.tsx'
import { UploadDialog, UploadProgress, uploadFile, type Upload } from './upload.tsx'

/** Snapshots of the user's homes: make one, restore one beside what is there, remove one. */
export const Snapshots = withTexts({ snapshots, files }, () =>
  boot.hasSnapshots ? <SnapshotsPage /> : <SwitchedOff of="snapshots" />,
)

function SnapshotsPage() {
  const t = useTranslations('snapshots')
  const { containers, problem } = useContainers()
  // Undefined until it is known: a page that cannot read the list must not say that nothing was launched.
  const launched = containers?.filter(({ created_at: at }) => at !== null)
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <Alert error={problem} />
      {launched?.map((entry) => (
        <HomeSnapshots key={entry.type} entry={entry} isOff={!canAct()} />
      ))}
      {launched?.length === 0 && <p className="empty">{t('nothingLaunched')}</p>}
    </Page>
  )
}

/** A large home takes minutes. */
const timeout = 900_000

/** Snapshots of the home of one container, and what can be done with them and the home. */
function HomeSnapshots({ entry, isOff }: { entry: ContainerEntry; isOff: boolean }) {
  const t = useTranslations('snapshots')
  const id = useId()
  const client = useQueryClient()
  const { busy, error, run } = useTask()
  const [outcome, setOutcome] = useState<string>()
  const [upload, setUpload] = useState<Upload>()
  const status = useRef<HTMLParagraphElement>(null)
  const cancelling = useRef<AbortController>(undefined)
  const { type, display_name: name } = entry
  const params = { container_type: type }
  const queryKey = ['snapshots', type]
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => createApiClient(signal).listSnapshots({ params }),
  })

  function act(work: (signal: AbortSignal) => Promise<{ readonly message: string }>) {
    setOutcome(undefined)
    void run(async (signal) => {
      setOutcome((await work(signal)).message)
      await client.invalidateQueries({ queryKey })
    })
  }
  function send(file: File) {
    act(async (signal) => {
      const cancel = (cancelling.current = new AbortController())
      const show = (sent: number) => setUpload({ name: file.name, size: file.size, sent })
      show(0)
      try {
        const answer = await uploadFile({
          path: fillPath(endpoints.uploadHome.path, params),
          type: file.name.endsWith('.tar') ? 'application/x-tar' : 'application/gzip',
          file,
          signal: anySignal(signal, cancel.signal),
          onProgress: show,
        })
        return answer as { message: string }
      } finally {
        setUpload(undefined)
      }
    })
  }
  /** Before the button that has the focus goes away with its row, note or upload. */
  function moveFocus() {
    status.current?.focus({ preventScroll: true })
  }
  function cancelUpload() {
    moveFocus()
    cancelling.current?.abort()
  }
  return (
    <section className="part" aria-labelledby={id}>
      <h2 id={id}>{name}</h2>
      <Alert error={error ?? query.error ?? undefined} />
      <p role="status" ref={status} tabIndex={-1}>
        {busy && !upload ? t('busy') : outcome}
      </p>
      {upload && <UploadProgress upload={upload} onCancel={cancelUpload} />}
      {query.data?.snapshots.length === 0 && <p className="hint">{t('none')}</p>}
      <ul className="rows">
        {query.data?.snapshots.map((snapshot) => (
          <SnapshotRow
            key={snapshot.id}
            snapshot={snapshot}
            isOff={isOff || busy}
            onRestore={(path) =>
              act((signal) =>
                createApiClient(signal, timeout).restoreSnapshot({
                  params: { ...params, id: snapshot.id },
                  body: path === '' ? {} : { path },
                }),
              )
            }
            onDownload={() =>
              act(async (signal) => {
                const { path } = await createApiClient(signal).downloadSnapshot({
                  params: { ...params, id: snapshot.id },
                })
                downloadFrom(path)
                return { message: t('downloading') }
              })
            }
            onRemove={() => {
              moveFocus()
              act((signal) => createApiClient(signal).removeSnapshot({ params: { ...params, id: snapshot.id } }))
            }}
          />
        ))}
      </ul>
      {(entry.status === 'running' || entry.status === 'paused') && (
        <RunningNote
          name={name}
          isOff={isOff || busy}
          onStop={() => {
            moveFocus()
            act(async (signal) => {
              const answer = await createApiClient(signal, launchTimeout).stopOwnContainer({ params })
              await client.invalidateQueries({ queryKey: containersKey })
              return answer
            })
          }}
        />
      )}
      <HomeActions
        entry={entry}
        isOff={isOff || busy}
        hasStarterFiles={query.data?.has_starter_files === true}
        onTake={() => act((signal) => createApiClient(signal, timeout).takeSnapshot({ params }))}
        onUpload={send}
        onReset={() => act((signal) => createApiClient(signal, timeout).resetHome({ params }))}
      />
    </section>
  )
}

interface HomeActionsProps {
  entry: ContainerEntry
  isOff: boolean
  /** Whether a reset leads to files of the template: without any there is nothing to reset to. */
  hasStarterFiles: boolean
  onTake(): void
  onUpload(file: File): void
  onReset(): void
}

/** What can be done with a home. */
function HomeActions({ entry, isOff, hasStarterFiles, onTake, onUpload, onReset }: HomeActionsProps) {
  const t = useTranslations('snapshots')
  const words = useTranslations('files')
  const [open, setOpen] = useState<'upload' | 'files' | 'reset'>()
  const { display_name: name } = entry
  const close = () => setOpen(undefined)
  const item = (key: NonNullable<typeof open>, [text, full]: readonly [string, string], isItemOff = isOff) => ({
    key,
    text,
    label: <ShortLabel text={text} name={full} />,
    isOff: isItemOff,
    run: () => setOpen(key),
  })
  return (
    <>
      <p className="actions">
        <Button isOff={isOff} onPress={onTake}>
          <ShortLabel text={t('take')} name={t('takeThis', { name })} />
        </Button>
        <ButtonMenu
          label={t('more', { name })}
          actions={[
            item('files', [words('open'), words('openThis', { name })], false),
            item('upload', [t('upload.open'), t('upload.openThis', { name })]),
            ...(hasStarterFiles ? [item('reset', [t('resetHome'), t('resetThis', { name })])] : []),
          ]}
        />
      </p>
      {open === 'upload' && <UploadDialog entry={entry} onClose={close} onUpload={onUpload} />}
      {open === 'files' && <FilesDialog name={name} type={entry.type} onClose={close} />}
      {open === 'reset' && (
        <ConfirmDialog
          title={t('askReset.title', { name })}
          confirm={t('askReset.confirm')}
          onConfirm={onReset}
          onClose={close}
        >
          <p>{t('askReset.effect')}</p>
        </ConfirmDialog>
      )}
    </>
  )
}

interface RunningNoteProps {
  name: string
  isOff: boolean
  onStop(): void
}

/** Says that nothing can be done with the home of a container that runs, and offers to stop it. */
function RunningNote({ name, isOff, onStop }: RunningNoteProps) {
  const t = useTranslations('snapshots')
  const words = useTranslations('dashboard.confirm')
  return (
    <div className="note">
      <p>{t('running')}</p>
      <AskButton
        text={t('stop')}
        name={t('stopThis', { name })}
        isOff={isOff}
        title={words('stop.title', { name })}
        onConfirm={onStop}
      >
        {/* Not the dialog of the cards: shared with this page, it would be a file of its own that the first page loads. */}
        <p>
          <b>{words('stop.keeps')}</b> {words('stop.loses')}
        </p>
      </AskButton>
    </div>
  )
}
