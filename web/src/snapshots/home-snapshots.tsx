import { endpoints } from '@berth/api/endpoints.ts'
import { fillPath } from '@berth/api/client.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { anySignal } from '#/api/any-signal.ts'
import { createApiClient, launchTimeout } from '#/api/api-client.ts'
import { uploadFile } from '#/api/upload-file.ts'
import { Alert } from '#/components/alert.tsx'
import { downloadFrom } from '#/components/download-file.ts'
import { useTask } from '#/components/use-task.ts'
import { containersKey } from '#/containers/use-containers.ts'
import { HomeActions } from './home-actions.tsx'
import { RunningNote } from './running-note.tsx'
import { SnapshotRow } from './snapshot-row.tsx'
import { UploadProgress, type Upload } from './upload-progress.tsx'

/** A large home takes minutes. */
const timeout = 900_000

/** Snapshots of the home of one container, and what can be done with them and the home. */
export function HomeSnapshots({ entry, isOff }: { entry: ContainerEntry; isOff: boolean }) {
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
