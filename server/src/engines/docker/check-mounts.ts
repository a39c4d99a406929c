import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { mountPointOf, mountsIn, type Mount } from '#/machine/mounts.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import type { BoundFolder } from './bound-folders.ts'
import { labelFilter } from './labels.ts'
import { inspectOwn } from './container-lookup.ts'

interface Mounting {
  readonly Names: readonly string[]
  readonly Mounts?: readonly { readonly Type: string; readonly Source?: string; readonly RW: boolean }[] | null
}

/**
 * Before a start: each folder that will be mounted is the one that was checked, and nothing that runs could change that. Nothing is asked
 * for a container without folders of the host.
 * @throws {RuntimeError} `failed` naming the path, and the container that may write above it
 */
export async function requireSafeFolders(
  engine: EngineContext,
  id: string,
  folders: readonly BoundFolder[],
  signal?: AbortSignal,
): Promise<void> {
  if (folders.length === 0) return
  await requireNoWriter(engine, id, folders, signal)
  await engine.boundFolders.requireSame(folders, `start ${id}`)
}

/**
 * Templates in which one mount lies below a writable one are refused, but containers of an earlier version may still run, or be of
 * templates that are no more.
 */
async function requireNoWriter(
  { client, installation }: EngineContext,
  id: string,
  folders: readonly BoundFolder[],
  signal?: AbortSignal,
): Promise<void> {
  const above = new Map(folders.flatMap((each) => ancestorsOf(each.path).map((folder) => [folder, each.path] as const)))
  const filters = JSON.stringify({ label: labelFilter(installation), volume: [...above.keys()] })
  const what = `start ${id}`
  const call = {
    what,
    method: 'GET',
    path: '/containers/json',
    query: { filters },
    timeout: callTimeouts.list,
  } as const
  const reasons: string[] = []
  await client.each<Mounting>({ ...call, signal }, (items) => {
    for (const { Names, Mounts } of items)
      for (const { Type, Source = '', RW } of Mounts ?? []) {
        const below = Type === 'bind' && RW ? above.get(Source) : undefined
        if (below !== undefined && reasons.length === 0) reasons.push(reasonOf(below, Source, Names[0] ?? ''))
      }
  })
  if (reasons[0] !== undefined) throw new RuntimeError('failed', `${what}: ${reasons[0]}`)
}

const reasonOf = (mount: string, above: string, name: string) =>
  `its mount ${mount} is below ${above}, to which ${name.slice(1)} may write; stop that one, or update the containers of its template`

/** Folders above one, the root first. */
function ancestorsOf(file: string): string[] {
  const above = path.dirname(file)
  return above === file ? [] : [...ancestorsOf(above), above]
}

/**
 * After a start: what the engine mounted is what was checked, as far as it can be told from here; else the container is killed. Its program
 * has run for some milliseconds by then, which the check of templates and the one before the start are for.
 * @throws {RuntimeError} `failed` when something else was mounted
 */
export async function requireMounted(
  engine: EngineContext,
  id: string,
  folders: readonly BoundFolder[],
): Promise<void> {
  if (folders.length === 0) return
  const found = await inspectOwn(engine, id)
  if (!found) return
  const started = { id, pid: found.State.Pid ?? 0, runtime: found.HostConfig.Runtime }
  const missing = await missingFolder(folders, started)
  if (missing === undefined || missing === null) return
  const what = `start ${id}`
  const [method, stop] = ['POST', `/containers/${id}/stop`] as const
  await engine.client.ask({ what, method, path: stop, query: { t: '0' }, timeout: callTimeouts.stop })
  throw new RuntimeError(
    'failed',
    `${what}: something else was mounted in place of ${missing}, which was replaced meanwhile; the container was stopped`,
  )
}

/** OCI runtimes whose containers are processes of the host with the mounts that the app has; in a sandbox these are others. */
const nativeRuntimes = new Set(['runc', 'io.containerd.runc.v2', 'crun', 'nvidia'])

interface Started {
  readonly id: string
  /** 0 when it has ended. */
  readonly pid: number
  readonly runtime: string | undefined
}

/**
 * Which of the folders a running container does not have, because the engine mounted something else under their names. Compared are file
 * system and path in it: the kernel tells of what was mounted, not of what its name leads to by now.
 * @returns undefined when it cannot be told: the container has ended, its processes cannot be seen from here, or run in a sandbox
 */
async function missingFolder(
  folders: readonly BoundFolder[],
  { id, pid, runtime }: Started,
): Promise<string | null | undefined> {
  if (pid === 0 || runtime === undefined || !nativeRuntimes.has(runtime)) return undefined
  const [own, theirs] = await Promise.all([mountsOf('self'), mountsOf(String(pid))])
  // A number is another process where the engine has processes of its own, and when the container has ended meanwhile.
  if (!own || !theirs || !(await isOf(id, pid))) return undefined
  return missingOf(
    folders.map((each) => each.path),
    own,
    theirs,
  )
}

/**
 * @param own mounts of the process that the paths are of, as text of `mountinfo`
 * @param theirs those of the container
 * @returns the first path whose folder the container does not have mounted, null when it has all; the same folder at two places in the
 *   container has to be there twice
 */
export function missingOf(paths: readonly string[], own: string, theirs: string): string | null {
  const mounts = mountsIn(own)
  const mounted = mountsIn(theirs).map(keyOf)
  for (const each of paths) {
    const expected = keyOfPath(each, mounts)
    const at = expected === undefined ? -1 : mounted.indexOf(expected)
    if (at < 0) return each
    mounted.splice(at, 1)
  }
  return null
}

async function isOf(id: string, pid: number): Promise<boolean> {
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return groups.includes(id)
}

const mountsOf = (process: string) => readFile(`/proc/${process}/mountinfo`, 'utf8').catch(() => undefined)

/** What tells a folder from others of the machine: its path in its file system. */
const keyOf = ({ device, root, type, source }: Mount) => `${device} ${/^nfs4?$/.test(type) ? source : root}`

/** As `keyOf`, of a path of this process: of mounts at the same place the last one counts. */
function keyOfPath(file: string, mounts: readonly Mount[]): string | undefined {
  const place = mountPointOf(
    file,
    mounts.map((each) => each.place),
  )
  const mount = mounts.findLast((each) => each.place === place)
  return mount && path.join(keyOf(mount), path.relative(place, file))
}
