import { createServer } from 'node:net'
import { rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Loaded into both measured processes of Berth (`--import`). It listens on `FLEET_PROBES/{pid}.sock`, and answers one
 * line with one line of JSON: `begin`; `end` → the event loop delays since then; `profile <file>` starts a CPU profile
 * that `profiled` writes; `heap` → sizes after a collection, if that is exposed. It samples only on request.
 */

/** In ms; the delay is how late a timer of this length fires. */
const resolution = 5
const folder = process.env.FLEET_PROBES
const delay = monitorEventLoopDelay({ resolution })
let session: Session | undefined
let profile = ''

if (folder !== undefined) {
  const socket = `${folder}/${process.pid}.sock`
  const server = createServer((connection) => {
    connection.unref()
    connection.on('error', () => undefined)
    connection.on('data', (chunk) => {
      void answer(String(chunk).trim()).then((message) => connection.end(`${JSON.stringify(message)}\n`))
    })
  })
  server.listen(socket).unref()
  process.once('exit', () => rmSync(socket, { force: true }))
}

async function answer(words: string): Promise<object> {
  const [what, file = ''] = words.split(' ')
  if (what === 'begin') {
    delay.reset()
    delay.enable()
  }
  if (what === 'end') return readDelay()
  if (what === 'heap') return { ...process.memoryUsage() }
  if (what === 'profile') {
    profile = file
    session = new Session()
    session.connect()
    session.post('Profiler.enable')
    session.post('Profiler.start')
  }
  if (what === 'profiled') await writeProfile()
  return {}
}

/** In ms, without the timer's own length. */
function readDelay(): object {
  delay.disable()
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution)
  return { p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max) }
}

function writeProfile(): Promise<void> {
  return new Promise((resolve) => {
    session?.post('Profiler.stop', (_error, result) => {
      writeFileSync(profile, JSON.stringify(result.profile))
      session?.disconnect()
      resolve()
    })
  })
}
