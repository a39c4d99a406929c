import { createNetGateway } from './net-gateway.ts'
import { ApiConnections } from '#/supervisor/api-connections.ts'
import { collectGarbageOnce } from '#/supervisor/collect-garbage.ts'
import { prepareLinkFolder } from '#/supervisor/run-folder.ts'
import { drainTimeout, stopTimeout } from '#/supervisor/supervisor.ts'
import { logLine } from '#/basics/log-destination.ts'

/**
 * The gateway as a service of its own, without store, engine and keys: `berth gateway`, beside `berth api`, with the folder
 * BERTH_LINK_DIR in common. See docs/explanation/decisions/014.
 */

const folder = process.env.BERTH_LINK_DIR
if (folder === undefined) fail('BERTH_LINK_DIR names the folder that gateway and API share; it is not set.')
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const gateway = createNetGateway()
const announce = (words: string) => {
  process.stdout.write(words)
  collectGarbageOnce()
}
const connections = new ApiConnections({ gateway, announce, logLine })
let isStopping = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
// Settings are the API's: it is restarted.
process.on('SIGHUP', () => logLine('warn', 'SIGHUP does nothing here: send it to the API'))
process.on('SIGUSR2', () => gateway.reopenAccessLog())
await connections.listen(await socketIn(folder))
logLine('info', `the gateway waits for an API process in ${folder}`)

async function socketIn(folder: string): Promise<string> {
  try {
    return await prepareLinkFolder(folder)
  } catch (error) {
    return fail((error as Error).message)
  }
}

function fail(words: string): never {
  process.stderr.write(`${words}\n`)
  process.exit(1)
}

/** The first signal drains, a second does not wait. */
async function stop(signal: string): Promise<void> {
  if (isStopping) process.exit(1)
  isStopping = true
  logLine('info', `stopping, because of ${signal}; containers go on running`)
  await gateway.drain()
  setTimeout(() => process.exit(1), stopTimeout)
  // Requests under way may be the API's, so its connection goes last.
  await gateway.close(drainTimeout)
  connections.close()
  process.exit(0)
}
