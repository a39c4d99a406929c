import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { SnapshotRow } from './snapshot-row.tsx'

/** A large home takes minutes. */
const timeout = 900_000

/** Snapshots of the home of one container, and a button that makes one. */
export function HomeSnapshots({ entry, isOff }: { entry: ContainerEntry; isOff: boolean }) {
  const t = useTranslations('snapshots')
  const id = useId()
  const client = useQueryClient()
  const { busy, error, run } = useTask()
  const [outcome, setOutcome] = useState<string>()
  const [isAsking, setAsking] = useState(false)
  const { type, display_name: name } = entry
  const params = { container_type: type }
  const queryKey = ['snapshots', type]
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await createApiClient(signal).listSnapshots({ params })).snapshots,
  })

  function act(work: (signal: AbortSignal) => Promise<{ readonly message: string }>) {
    setOutcome(undefined)
    void run(async (signal) => {
      setOutcome((await work(signal)).message)
      await client.invalidateQueries({ queryKey })
    })
  }
  return (
    <section className="part" aria-labelledby={id}>
      <h2 id={id}>{name}</h2>
      <Alert error={error ?? query.error ?? undefined} />
      <p role="status">{busy ? t('busy') : outcome}</p>
      {query.data?.length === 0 && <p className="hint">{t('none')}</p>}
      <ul className="rows">
        {query.data?.map((snapshot) => (
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
            onRemove={() =>
              act((signal) => createApiClient(signal).removeSnapshot({ params: { ...params, id: snapshot.id } }))
            }
          />
        ))}
      </ul>
      <p className="actions">
        <Button
          isOff={isOff || busy}
          onPress={() => act((signal) => createApiClient(signal, timeout).takeSnapshot({ params }))}
        >
          <span aria-hidden>{t('take')}</span>
          <span className="visually-hidden">{t('takeThis', { name })}</span>
        </Button>
        <Button variant="small" isOff={isOff || busy} onPress={() => setAsking(true)}>
          <span aria-hidden>{t('resetHome')}</span>
          <span className="visually-hidden">{t('resetThis', { name })}</span>
        </Button>
      </p>
      {isAsking && (
        <Dialog title={t('askReset.title', { name })} onClose={() => setAsking(false)}>
          {(close) => (
            <>
              <p>{t('askReset.effect')}</p>
              <ConfirmActions
                cancel={t('ask.cancel')}
                confirm={t('askReset.confirm')}
                close={close}
                onConfirm={() => act((signal) => createApiClient(signal, timeout).resetHome({ params }))}
              />
            </>
          )}
        </Dialog>
      )}
    </section>
  )
}
