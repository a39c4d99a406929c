import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileReason, isBelow, walkPath } from './allowed-paths.ts'
import { mountPointOf } from './answering-paths.ts'
import { isAnsweredElsewhere, mountsIn, type Mount } from './mount-info.ts'

/** How long one may take, in ms. */
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
