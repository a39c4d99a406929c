import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { findEngineAddress, parseEngineAddress } from '#/engines/docker/engine-address.ts'

/** The engine without the adapter in between: what tests check the adapter with, and clean up with. */
export const engineAddress = findEngineAddress(process.env.DOCKER_HOST)

export interface EngineQuestion {
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as a tar archive instead. */
  readonly archive?: Buffer
}

/**
 * One question to an engine's API.
 * @returns the answer's JSON, in the shape that the asker knows it has
 * @throws {Error} for a status of 400 and above
 */
export type AskEngine = <T = unknown>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  target: string,
  question?: EngineQuestion,
) => Promise<T>

/** @param address as in `DOCKER_HOST` */
export function connectTo(address: string): AskEngine {
  const { origin, ...where } = parseEngineAddress(address)
  const pool = new Pool(origin, where)
  return async <T>(method: string, target: string, { query, body, archive }: EngineQuestion = {}) => {
    const answer = await pool.request({
      method,
      path: query ? `${target}?${new URLSearchParams(query).toString()}` : target,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...(archive === undefined ? {} : { body: archive, headers: { 'content-type': 'application/x-tar' } }),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 400) throw new Error(`${method} ${target}: ${answer.statusCode} ${text}`)
    // A build tells its progress in many lines; whether it worked is in the last.
    return JSON.parse(text.trim().split('\n').at(-1) || 'null') as T
  }
}

/** The machine's own engine. */
export const askEngine = connectTo(engineAddress)

/** Name of the image that tests launch: a web server of busybox that answers with the files of its home. */
const image = 'berth-test-web:1'

/**
 * A tiny image made from Debian's static busybox, without any registry: `/home/berth` belongs to user 1000 and is
 * served on port 8080 by `httpd`. Built once per machine.
 */
export async function testImage(): Promise<string> {
  if (!(await imageExists(image))) await buildImage(image, dockerfile)
  return image
}

async function imageExists(name: string): Promise<boolean> {
  return askEngine('GET', `/images/${name}/json`).then(
    () => true,
    () => false,
  )
}

/** Builds an image whose `/bin` has busybox. @throws {Error} with the engine's words when it cannot be built */
export async function buildImage(name: string, recipe: string): Promise<void> {
  const busybox = findBusybox()
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-image-'))
  try {
    mkdirSync(path.join(folder, 'bin'))
    copyFileSync(busybox, path.join(folder, 'bin/busybox'))
    writeFileSync(path.join(folder, 'Dockerfile'), recipe)
    const { error } = await askEngine<{ error?: string }>('POST', '/build', {
      query: { t: name },
      archive: await archiveOf(folder),
    })
    if (error) throw new Error(`image ${name}: ${error}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns where Debian's static busybox is @throws {Error} where it is not installed */
export function findBusybox(): string {
  const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file))
  if (!busybox) throw new Error('busybox is not installed; npm test installs it, or: apt-get install busybox-static')
  return busybox
}

/** @returns a tar archive of everything in the folder */
export async function archiveOf(folder: string): Promise<Buffer> {
  const options = { encoding: 'buffer', maxBuffer: 64 * 1024 ** 2 } as const
  const { stdout } = await promisify(execFile)('tar', ['-c', '-C', folder, '.'], options)
  return stdout
}

const dockerfile = `FROM scratch
COPY bin /bin
RUN ["/bin/busybox", "sh", "-c", "/bin/busybox --install -s /bin && mkdir -p /home/berth /tmp && chown 1000:1000 /home/berth && chmod 1777 /tmp && echo hello > /home/berth/index.html"]
USER 1000:1000
WORKDIR /home/berth
EXPOSE 8080
CMD ["/bin/httpd", "-f", "-p", "8080", "-h", "/home/berth"]
`

/** Name of an installation that no other test has, also of a run beside this one at the same engine. */
export const newInstallation = () => `test-${randomBytes(4).toString('hex')}x`

/** Takes away everything that carries this installation's label: containers, volumes, networks. */
export async function removeInstallation(installation: string, ask: AskEngine = askEngine): Promise<void> {
  const query = { all: 'true', filters: JSON.stringify({ label: [`berth.instance=${installation}`] }) }
  const ofHelpers = { all: 'true', filters: JSON.stringify({ label: [`berth.helper=${installation}`] }) }
  // A process that was killed leaves helpers, which keep homes.
  const containers = await Promise.all(
    [query, ofHelpers].map((query) => ask<{ Id: string }[]>('GET', '/containers/json', { query })),
  )
  await removeAll(
    ask,
    containers.flat().map(({ Id }) => `/containers/${Id}`),
  )
  const { Volumes } = await ask<{ Volumes: { Name: string }[] | null }>('GET', '/volumes', { query })
  await removeAll(
    ask,
    (Volumes ?? []).map(({ Name }) => `/volumes/${Name}`),
  )
  const networks = await ask<{ Id: string }[]>('GET', '/networks', { query })
  await removeAll(
    ask,
    networks.map(({ Id }) => `/networks/${Id}`),
  )
}

/** A few at a time: hundreds at once keep the engine from answering anything else. */
async function removeAll(ask: AskEngine, targets: readonly string[]): Promise<void> {
  const query = { force: 'true', v: 'true' }
  const waiting = [...targets]
  const worker = async () => {
    for (let target = waiting.pop(); target !== undefined; target = waiting.pop())
      await ask('DELETE', target, { query }).catch(() => undefined)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}
