import { checkStore } from '@berth/server/store/check-store.ts'
import type { CheckContext, Finding } from './check.ts'

/** Whether the database answers. */
export async function checkStoreAnswers({ config }: CheckContext): Promise<Finding[]> {
  const failure = await checkStore(config.databaseUrl, config.dataDir).then(
    () => undefined,
    (error: unknown) => error as Error,
  )
  if (!failure) return []
  const { message, cause } = failure
  return [
    {
      level: 'critical',
      what: `The store does not answer (${cause instanceof Error ? cause.message : message}): Berth answers every request with 503.`,
      fix:
        config.databaseUrl === null
          ? `restore a backup: berth restore (see docs/how-to/back-up-and-restore.md)`
          : 'systemctl start postgresql; check DATABASE_URL',
    },
  ]
}
