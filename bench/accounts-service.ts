import { startEnginelessBerth } from '../server/test/support/berth-without-engine.ts'

/**
 * A Berth in a process of its own, so that what it costs can be told from what the load costs: `accounts.ts` starts it
 * with a data folder and perhaps the URL of a store, hears its port, and asks how much CPU it has used. `web/` starts it
 * with the folder of the built front end, too.
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
// A run of the reconciler costs about a second of CPU with 100,000 people; it would fall into some turns and not into others.
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
process.send?.({ port: Number(new URL(berth.url).port) })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu: (user + system) / 1000 })
})
process.on('disconnect', () => void berth.close().then(() => process.exit(0)))
