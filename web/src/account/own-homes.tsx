import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useFormatter, useTranslations } from 'use-intl/react'
import type { OwnHome } from '@berth/api/schemas/features/snapshots.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskButton } from '#/components/ask-button.tsx'
import { Button } from '#/components/button.tsx'
import { downloadFrom } from '#/components/download-file.ts'
import { useTypeName } from '#/components/type-name.tsx'
import { useTask } from '#/components/use-task.ts'
import { useSize } from '#/snapshots/use-size.ts'

const key = ['own-homes']

/** Homes that several types share, and former ones, each with its download; nothing where there are none. */
export function OwnHomes() {
  const t = useTranslations('data.homes')
  const query = useQuery({ queryKey: key, queryFn: ({ signal }) => createApiClient(signal).listOwnHomes() })
  const homes = query.data?.homes ?? []
  if (homes.length === 0) return null
  return (
    <section className="part" aria-labelledby="data-homes">
      <h2 id="data-homes">{t('title')}</h2>
      <p className="hint">{t('lead')}</p>
      <ul className="rows">
        {homes.map((home) => (
          <HomeRow key={home.id} home={home} />
        ))}
      </ul>
    </section>
  )
}

function HomeRow({ home }: { home: OwnHome }) {
  const t = useTranslations('data.homes')
  const format = useFormatter()
  const client = useQueryClient()
  const nameOf = useTypeName()
  const { busy, error, run } = useTask()
  const params = { id: home.id }
  const size = useSize()
  const names = format.list(home.types.map((type) => nameOf(type)))
  const download = () =>
    void run(async (signal) => {
      downloadFrom((await createApiClient(signal).downloadHome({ params })).path)
    })
  const remove = () =>
    void run(async (signal) => {
      await createApiClient(signal).removeFormerHome({ params })
      await client.invalidateQueries({ queryKey: key })
    })
  return (
    <li className="row">
      <p>
        {home.is_former ? t('former', { names: names || t('shared') }) : t('of', { names })}{' '}
        {home.bytes !== null && t('size', { size: size(home.bytes) })}
      </p>
      <div className="actions">
        <Button variant="small" isOff={busy} onPress={download}>
          {t('download')}
        </Button>
        {home.is_former && (
          <AskButton text={t('remove')} isOff={busy} title={t('ask')} onConfirm={remove}>
            <p>{t('effect')}</p>
          </AskButton>
        )}
      </div>
      <Alert error={error} />
    </li>
  )
}
