import type { RuntimeContainer } from '../../server/src/engines/runtime.ts'
import { openDatabase } from '../../server/src/store/database.ts'
import { startEnginelessBerth } from '../../server/test/support/berth-without-engine.ts'
import { emptyRuntime } from '../../server/test/support/engine/fake-engine.ts'
import { serveParent } from '../service-process.ts'
import { runningOfHundred } from './store.ts'

/**
 * Runs Berth in its own process, with an engine that has every container of the store and does nothing: `admin.ts`
 * starts it with a data folder and optionally the URL of a store, receives its port, and requests its CPU time.
 */
const [dataDir = '', url = ''] = process.argv.slice(2)
const containers = await readContainers()
const runtime = {
  ...emptyRuntime,
  list: async () => [...containers.values()],
  inspectId: async (id: string) => containers.get(id),
}
const env = { LOG_LEVEL: 'error', ...(url === '' ? {} : { DATABASE_URL: url }) }
const mailer = { send: async () => undefined, close: () => undefined }
// A run of the reconciler would fall into some measurements only.
const pace = { every: 3_600_000 }
const berth = await startEnginelessBerth({ after: () => undefined }, { dataDir, env, mailer, pace, runtime })
serveParent(berth)

async function readContainers(): Promise<Map<string, RuntimeContainer>> {
  const { db, close } = await openDatabase(url === '' ? null : url, dataDir)
  const rows = await db
    .selectFrom('user_containers')
    .innerJoin('users', 'users.id', 'user_containers.user_id')
    .select(['container_id', 'user_id', 'slug', 'container_type as type', 'user_containers.is_blocked'])
    .where('container_id', 'is not', null)
    .execute()
  await close()
  return new Map(
    rows.map(({ container_id, user_id, slug, type, is_blocked }, at) => {
      // A blocked container does not run, or the reconciler would try to stop it again and again.
      const isRunning = at % 100 < runningOfHundred && is_blocked === 0
      return [
        container_id ?? '',
        {
          id: container_id ?? '',
          name: `${slug}-${type}`,
          owner: { userId: user_id, slug, type },
          state: isRunning ? 'running' : 'exited',
          address: isRunning ? `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` : null,
          port: 8080,
          imageId: 'image',
          exitCode: isRunning ? null : 0,
          isOutOfMemory: false,
          startedAt: 0,
          endedAt: null,
          fingerprint: null,
        },
      ]
    }),
  )
}
