import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileReason, isBelow, walkPath } from './allowed-paths.ts'

/** What is mounted somewhere: a line of `/proc/<pid>/mountinfo`, proc_pid_mountinfo(5). */
export interface Mount {
  /** Major and minor number of the file system. */
  readonly device: string
  /** Path of what is mounted, in its file system; of NFS the kernel writes `/` for each. */
  readonly root: string
  /** Where it is mounted. */
  readonly place: string
  readonly type: string
  /** Of NFS the server and the path of what is mounted there; of others a disk, or any word. */
  readonly source: string
}

/** @param text of the whole file; lines that are none are left out */
export function mountsIn(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [mount = '', system = ''] = line.split(' - ')
    const [, , device, root, place] = mount.split(' ').map(unescape)
    const [type, source] = system.split(' ').map(unescape)
    const isWhole = device && root && place && type && source !== undefined
    return isWhole ? [{ device, root, place, type, source }] : []
  })
}

/** Space, tab, line feed and backslash are written as octal numbers. */
const unescape = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

const types = /^(nfs4?|cifs|smb3|smbfs|ceph|9p|afs|lustre|beegfs|gpfs|glusterfs|fuse(\..+)?)$/

/** Whether the answers of its file system come from a server or a program, and may not come; those of others do. */
export const isAnsweredElsewhere = ({ type }: Mount): boolean => types.test(type)

/** The longest one that the path is in. */
export function mountPointOf(file: string, mounts: readonly string[]): string {
  const isIn = (mount: string) => mount === '/' || file === mount || file.startsWith(`${mount}/`)
  return mounts.filter(isIn).reduce((longest, each) => (each.length > longest.length ? each : longest), '/')
}

/** How long a file system may take to answer, in ms. */
const timeout = 5_000

/**
 * Mount points on the way of paths that do not answer within 5 s, or only with an error such as that of a stale handle, with the
 * reason. For programs that start, and look at paths synchronously: the question is another process's, which may hang. Nothing is
 * asked where all file systems are local.
 */
export function unusableMounts(files: readonly string[]): ReadonlyMap<string, string> {
  const mounts = readMounts()
  const points = mounts.map(({ place }) => place)
  const asked = new Map(
    mounts.filter(isAnsweredElsewhere).map(({ place }) => [place, null as string | null | undefined]),
  )
  const unusable = new Map<string, string>()
  if (asked.size === 0) return unusable
  for (const file of files)
    placeOnTheWay(file, (entry) => {
      const place = mountPointOf(entry, points)
      if (asked.get(place) === null) {
        const reason = reasonOf(place)
        asked.set(place, reason)
        if (reason !== undefined) unusable.set(place, reason)
      }
      return unusable.has(place) ? place : undefined
    })
  return unusable
}

/** The unusable place that a path leads to, links followed up to it; undefined for none. */
export function unusableMountOf(file: string, places: Iterable<string>): string | undefined {
  const all = [...places]
  return all.length === 0 ? undefined : placeOnTheWay(file, (entry) => all.find((place) => isBelow(entry, place)))
}

function placeOnTheWay(file: string, placeOf: (entry: string) => string | undefined): string | undefined {
  const walk = walkPath(path.resolve(file))
  for (let step = walk.next(); !step.done;) {
    const place = placeOf(step.value)
    if (place !== undefined) return place
    step = walk.next(linkOf(step.value))
  }
  return undefined
}

/** Undefined when it can be used, or an account without the right to asks. */
function reasonOf(place: string): string | undefined {
  // The shell is killed in time; what it waits for may not be before its file system answers. `stat -f` asks the file system itself:
  // of a file the kernel answers from what it remembers, for up to a minute after the server is gone.
  const script = '{ stat -f "$1" || [ -e "$1" ]; } >/dev/null 2>&1 & wait "$!"'
  const { error } = spawnSync('/bin/sh', ['-c', script, 'sh', place], {
    stdio: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
  })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT') return 'ETIMEDOUT'
  try {
    statSync(place)
    return undefined
  } catch (error) {
    const reason = fileReason(error)
    return reason === 'EACCES' ? undefined : reason
  }
}

function linkOf(entry: string): string | undefined {
  try {
    return readlinkSync(entry)
  } catch {
    return undefined
  }
}

/** None on a machine that does not tell: proc_pid_mountinfo(5). */
function readMounts(): Mount[] {
  try {
    return mountsIn(readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return []
  }
}
