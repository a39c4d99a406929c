import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lifetime } from '../../support/berth.ts'
import { connectTo, testImage, type AskEngine } from '../../support/engine/engine.ts'
import { copyImage, dockerdOptions } from '../../support/engine/own-engine.ts'
import type { Machines } from './machines.ts'

/** An engine on a machine of its own, whose containers all other machines reach. */
export interface EngineMachine {
  readonly socket: string
  /** The router to containers. */
  readonly address: string
  readonly image: string
  readonly ask: AskEngine
}

/** How long dockerd may take to answer and to end, in ms. */
const limit = 60_000
const name = 'engine'

export async function startEngineMachine(lifetime: Lifetime, machines: Machines): Promise<EngineMachine> {
  const image = await testImage()
  const address = await machines.add(name, 2)
  // Short: paths of sockets have 107 characters at most.
  const folder = mkdtempSync('/tmp/berth-engine-')
  const at = (file: string) => path.join(folder, file)
  const words = dockerdOptions(folder, { 'shutdown-timeout': '10' })
  const log = openSync(at('dockerd.log'), 'a')
  const dockerd = machines.spawn(name, 'setpriv', ['--pdeathsig', 'TERM', 'dockerd', ...words], {
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const ask = connectTo(`unix://${at('docker.sock')}`)
  lifetime.after(async () => {
    const containers = await ask<{ Id: string }[]>('GET', '/containers/json', { query: { all: 'true' } }).catch(
      () => [],
    )
    for (const { Id } of containers)
      await ask('DELETE', `/containers/${Id}`, { query: { force: 'true', v: 'true' } }).catch(() => undefined)
    if (dockerd.exitCode === null) {
      const ended = once(dockerd, 'exit', { signal: AbortSignal.timeout(limit) })
      dockerd.kill('SIGTERM')
      await ended
    }
    await rm(folder, { recursive: true, force: true })
  })
  for (const end = performance.now() + limit; !(await ask('GET', '/info').then(Boolean, () => false)); await sleep(100))
    if (dockerd.exitCode !== null || performance.now() > end)
      throw new Error(`dockerd did not start: ${readFileSync(at('dockerd.log'), 'utf8').slice(-2_000)}`)
  await copyImage(image, `unix://${at('docker.sock')}`)
  // Docker forwards nothing to its networks by itself.
  await machines.run(name, 'iptables', '-w', '-I', 'DOCKER-USER', '-i', 'eth0', '-j', 'ACCEPT')
  return { socket: at('docker.sock'), address, image, ask }
}
