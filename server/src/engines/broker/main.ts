import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { readAllowances } from './create-check.ts'
import { createEngineBroker } from './broker.ts'
import { InstallationLock } from './installation-objects.ts'
import { PulledImages } from './pulled-images.ts'
import { acceptErrors } from '@berth/gateway/basics/bind.ts'
import { findEngineAddress, parseEngineAddress } from '#/engines/docker/engine-address.ts'
import { logLine } from '@berth/gateway/basics/log-destination.ts'

/**
 * The broker of the engine's socket as a service of its own, without a network, store or keys: `berth engine-broker`.
 * It alone has the socket of the engine; the API has that of the broker. See docs/explanation/decisions/067.
 */

/** In ms: what is in progress may end. */
const stopTimeout = 19_000

const { BROKER_SOCKET, BROKER_STATE, BROKER_ALLOW = '', ALLOWED_MOUNT_ROOTS = '', DOCKER_HOST } = process.env
if (BROKER_SOCKET === undefined || BROKER_STATE === undefined)
  end(
    'BROKER_SOCKET names the socket to listen on, and BROKER_STATE a file that keeps the name of the installation; one is not set.',
  )
const socket = BROKER_SOCKET
try {
  const broker = createEngineBroker({
    engine: parseEngineAddress(findEngineAddress(DOCKER_HOST)),
    allowances: readAllowances(BROKER_ALLOW),
    mountRoots: ALLOWED_MOUNT_ROOTS.split(',').filter((each) => each !== ''),
    installation: new InstallationLock(BROKER_STATE),
    pulled: new PulledImages(`${BROKER_STATE}.images`),
    log: (line) => logLine('warn', line),
  })
  mkdirSync(path.dirname(socket), { recursive: true, mode: 0o750 })
  rmSync(socket, { force: true })
  const fail = (error: Error) => end(`the broker cannot listen on ${socket}: ${error.message}`)
  broker.once('error', fail)
  broker.listen(socket, () => {
    broker.removeListener('error', fail).on(
      'error',
      acceptErrors((problem) => logLine('error', problem)),
    )
    // Its folder says who reaches it.
    chmodSync(socket, 0o666)
    logLine('info', `the broker of the engine's socket listens on ${socket}`)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      setTimeout(() => process.exit(1), stopTimeout).unref()
      broker.close(() => process.exit(0))
      broker.closeIdleConnections()
      // Followed logs and events never end by themselves.
      setTimeout(() => broker.closeAllConnections(), 1_000).unref()
    })
} catch (error) {
  end(error instanceof Error ? error.message : String(error))
}

function end(words: string): never {
  process.stderr.write(`${words}\n`)
  process.exit(1)
}
