import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { UpdateContainersBody } from '@berth/api/schemas/administration/admin.ts'
import { canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { ConfirmDialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { environmentsKey } from './use-environments.ts'

/** Owners that are named. */
const maxNamed = 10
/** Between two looks, in ms: containers are replaced one after the other. */
const pollInterval = 10_000

const modes = ['when_stopped', 'ask', 'now'] as const satisfies readonly UpdateContainersBody['mode'][]

/** Who runs an older version of an environment, and what is done about it. */
export function OlderContainers({ name }: { name: string }) {
  const t = useTranslations('environments.older')
  const client = useQueryClient()
  const task = useTask()
  const [said, setSaid] = useState('')
  const [isAsking, setAsking] = useState(false)
  const key = [...environmentsKey, 'older', name]
  const { data, error } = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => (await createApiClient(signal).listOlder({ params: { name } })).older,
    refetchInterval: pollInterval,
    gcTime: 0,
  })
  const update = (mode: (typeof modes)[number]) =>
    void task.run(async (signal) => {
      const { message } = await createApiClient(signal).updateOlder({ params: { name }, body: { mode } })
      setSaid(message)
      await client.invalidateQueries({ queryKey: key })
    })
  const updatable = data?.filter((each) => !each.may_not_launch).length ?? 0
  return (
    <div className="older">
      <Alert error={task.error ?? error ?? undefined} />
      <p role="status">{said !== '' ? said : data && t('count', { count: data.length })}</p>
      {data && data.length > 0 && (
        <>
          <ul className="dotted hint" aria-label={t('owners', { name })}>
            {data.slice(0, maxNamed).map(({ container_id, email, is_asked, may_not_launch }) => (
              <li key={container_id} className="address">
                {may_not_launch ? t('mayNotLaunch', { email }) : is_asked ? t('asked', { email }) : email}
              </li>
            ))}
            {data.length > maxNamed && <li>{t('more', { count: String(data.length - maxNamed) })}</li>}
          </ul>
          {updatable > 0 && (
            <p className="actions">
              {modes.map((mode) => (
                <Button
                  key={mode}
                  variant="small"
                  isOff={task.busy || !canAct()}
                  onPress={() => (mode === 'now' ? setAsking(true) : update(mode))}
                >
                  <ShortLabel text={t(mode)} name={t(`${mode}This`, { name })} />
                </Button>
              ))}
            </p>
          )}
        </>
      )}
      {isAsking && (
        <ConfirmDialog
          title={t('title', { count: updatable })}
          confirm={t('now')}
          onConfirm={() => update('now')}
          onClose={() => setAsking(false)}
        >
          <p>{t('effect')}</p>
        </ConfirmDialog>
      )}
    </div>
  )
}
