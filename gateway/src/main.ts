import { fork } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Gateway } from '#/port/gateway.ts'
import { createNetGateway } from './net-gateway.ts'
import { apiProgram, apiNode } from '#/supervisor/api-program.ts'
import {
  Supervisor,
  connectApiProcess,
  drainTimeout,
  replacementArgument,
  stopTimeout,
  type ApiProcessHandle,
} from '#/supervisor/supervisor.ts'
import { collectGarbageOnce } from '#/supervisor/collect-garbage.ts'
import { makeRunFolder, removeRunFolder } from '#/supervisor/run-folder.ts'
import { logLine } from '#/basics/log-destination.ts'

/**
 * The gateway process: what `npm start` ends in. It owns the listener and every connection, and keeps one API process
 * beside it, which has the store, the engine and the keys and may come and go. See docs/explanation/decisions/014.
 * It imports little: everything that it loads, it holds in memory and can be broken by.
 */

/**
 * The API process is idle most of the time. One malloc arena that gives back what it does not use keeps it small, and so
 * does a young generation of 8 MB, half of the gateway's. Blocks above 32 KB have mappings of their own: those of the
 * compiler, 25 MB during the start, otherwise leave 5 MB of holes. Not `--optimize-for-size`: with 100,000 users it
 * tripled the CPU time of the start, by collecting garbage all the time, and saved nothing in an idle process. The heap
 * grows by half of what is in use, not by more; after the start by less, see `limitHeapGrowth`.
 */
const apiFlags = ['--max-semi-space-size=8', '--heap-growing-percent=50']
const apiEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '65536',
  MALLOC_MMAP_THRESHOLD_: '32768',
  ...process.env,
}

await main()

async function main(): Promise<void> {
  // The reader of our output may end first, which must not close the connections of all users.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const folder = makeRunFolder()
  process.once('exit', () => removeRunFolder(folder))
  const gateway = createNetGateway()
  const report = (problem: string) => logLine('error', problem)
  const supervisor = new Supervisor({
    begin: (isReplacement) => startApiProcess(path.join(folder, 'api.sock'), isReplacement, gateway, report),
    announce: (words) => {
      process.stdout.write(words)
      collectGarbageOnce()
    },
    logLine,
  })
  const stop = async () => {
    await gateway.drain()
    const timer = setTimeout(() => process.exit(1), stopTimeout)
    // Requests under way may be the API's, so it goes last.
    await gateway.close(drainTimeout)
    await supervisor.stop(stopTimeout)
    clearTimeout(timer)
  }
  handleSignals(stop, () => void supervisor.replace())
  process.on('SIGUSR2', () => gateway.reopenAccessLog())
  process.exit(await supervisor.run())
}

/** All have the same socket, one after the other: requests that wait for an API that is away find the next one there. */
function startApiProcess(
  socket: string,
  isReplacement: boolean,
  gateway: Gateway,
  report: (problem: string) => void,
): ApiProcessHandle {
  // A release is started by the name of a link, which leads to another version after an upgrade.
  const root = process.env.BERTH_ROOT
  const options = { execPath: apiNode(root), execArgv: apiFlags, env: apiEnvironment }
  const child = fork(apiProgram(root), isReplacement ? [socket, replacementArgument] : [socket], options)
  const run = connectApiProcess(child, gateway, report)
  const start = () => {
    // Not before: one that finds its settings wrong ends while the socket is that of the old one, which goes on.
    child.once('exit', () => rmSync(socket, { force: true }))
    run.start()
  }
  return { ...run, start }
}

/** SIGTERM and SIGINT: the first drains, a later one does not wait. SIGHUP: another API process. */
function handleSignals(stop: () => Promise<void>, replaceApi: () => void): void {
  let stoppingSince: number | undefined
  const onSignal = (signal: string) => {
    // Ctrl-C under npm arrives twice: from the terminal, and once more from npm.
    if (stoppingSince !== undefined && performance.now() - stoppingSince < 1_000) return
    if (stoppingSince !== undefined) process.exit(1)
    stoppingSince = performance.now()
    logLine('info', `stopping, because of ${signal}; containers go on running`)
    stop().catch((error: unknown) => {
      logLine('error', `stopping failed: ${String(error)}`)
      process.exit(1)
    })
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('SIGHUP', () => (isTerminalGone() ? onSignal('SIGHUP') : replaceApi()))
}

/** A terminal that is closed says SIGHUP, too, and means the end. */
function isTerminalGone(): boolean {
  if (!process.stdout.isTTY) return false
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return false
  } catch {
    return true
  }
}
