import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Lifetime } from '../berth.ts'

/**
 * A small network for tests of networks (RFC 2544), so that they use up none of the engine's own addresses: 16 of them, by
 * chance, because another test may ask at the same moment.
 */
export const testSubnet = () => `198.19.${randomInt(256)}.${randomInt(16) * 16}/28`

/** A machine beyond this one, that containers reach over the host as they reach the internet. */
export interface OuterNetwork {
  /** An address like any other, and a link-local one as clouds have it for their metadata; both serve on ports 80 and 53. */
  readonly internet: string
  readonly linkLocal: string
}

/**
 * Makes one in a network namespace of its own, with a web server that answers with `words`.
 * @returns a sentence instead where this process may not make any
 */
export async function openOuterNetwork(lifetime: Lifetime, words: string): Promise<OuterNetwork | string> {
  const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file))
  if (!busybox) return 'there is no busybox'
  const name = `berth-${process.pid}-${randomInt(10_000)}`
  // For tests of networks (RFC 2544); four addresses of it, by chance, because another test may do the same.
  const net = `198.18.${randomInt(256)}.${randomInt(64) * 4}`.split('.')
  const [near, far] = [1, 2].map((each) => [...net.slice(0, 3), Number(net[3]) + each].join('.')) as [string, string]
  const linkLocal = `169.254.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const [outside, inside] = [`bt${randomInt(1e9)}a`, `bt${randomInt(1e9)}b`]
  const problem = await ip('netns', 'add', name).then(
    () => undefined,
    (error: Error) => error.message,
  )
  if (problem !== undefined) return problem
  const servers: ChildProcess[] = []
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-outer-'))
  lifetime.after(async () => {
    for (const server of servers) server.kill('SIGKILL')
    // The cable and its route go with it.
    await ip('netns', 'delete', name)
    await rm(folder, { recursive: true })
  })
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name)
  await ip('address', 'add', `${near}/30`, 'dev', outside)
  await ip('link', 'set', outside, 'up')
  await ip('-n', name, 'address', 'add', `${far}/30`, 'dev', inside)
  await ip('-n', name, 'address', 'add', `${linkLocal}/32`, 'dev', inside)
  await ip('-n', name, 'link', 'set', inside, 'up')
  await ip('route', 'add', `${linkLocal}/32`, 'via', far, 'dev', outside)
  writeFileSync(path.join(folder, 'index.html'), words)
  for (const port of ['80', '53']) {
    const server = spawn('ip', ['netns', 'exec', name, busybox, 'httpd', '-f', '-p', port, '-h', folder], {
      stdio: 'ignore',
    })
    await once(server, 'spawn')
    servers.push(server)
  }
  return { internet: far, linkLocal }
}

const ip = (...words: string[]) => promisify(execFile)('ip', words)
