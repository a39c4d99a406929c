import { startEnginelessBerth } from '../server/test/support/berth-without-engine.ts'
import { serveParent } from './service-process.ts'

/**
 * Runs Berth in its own process, so that its cost is measured apart from the load's: `accounts.ts` starts it with a
 * data folder and optionally the URL of a store, receives its port, and requests its CPU time. `web/` also passes the
 * folder of the built front end.
 */
const [dataDir = '', databaseUrl = '', webDir = ''] = process.argv.slice(2)
const env = {
  LOG_LEVEL: 'error',
  MAGIC_LINK_RATE_LIMIT: '100000',
  MAGIC_LINK_TOKEN_EXPIRY: '172800',
  JWT_ACCESS_TOKEN_EXPIRES: '86400',
  ...(databaseUrl === '' ? {} : { DATABASE_URL: databaseUrl }),
}
const mailer = { send: async () => undefined, close: () => undefined }
// A run of the reconciler costs about a second of CPU with 100,000 users; it would fall into some rounds only.
const pace = { every: 3_600_000 }
const berth = await startEnginelessBerth(
  { after: () => undefined },
  {
    dataDir,
    env,
    mailer,
    pace,
    ...(webDir === '' ? {} : { webDir }),
  },
)
serveParent(berth)
