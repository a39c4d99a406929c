import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { BoundFolder } from './bound-folders.ts'

/** A line of `/proc/<pid>/mountinfo`: see proc_pid_mountinfo(5). */
interface MountLine {
  /** Major and minor number of the file system. */
  readonly device: string
  /** Path of what is mounted, in its file system. */
  readonly root: string
  readonly target: string
}

/** OCI runtimes whose containers are processes of the host with the mounts that the app has; in a sandbox these are others. */
const nativeRuntimes = new Set(['runc', 'io.containerd.runc.v2', 'crun', 'nvidia'])

/** A container that was started. */
export interface Started {
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
export async function missingFolder(
  folders: readonly BoundFolder[],
  { id, pid, runtime }: Started,
): Promise<string | null | undefined> {
  if (pid === 0 || runtime === undefined || !nativeRuntimes.has(runtime)) return undefined
  const [own, theirs] = await Promise.all([mountsOf('self'), mountsOf(String(pid))])
  // A number is another process where the engine has processes of its own, and when the container has ended meanwhile.
  if (!own || !theirs || !(await isOf(id, pid))) return undefined
  const mounted = theirs.map(keyOf)
  for (const each of folders) {
    const expected = locate(each.path, own)
    const at = expected === undefined ? -1 : mounted.indexOf(keyOf(expected))
    if (at < 0) return each.path
    // The same folder at two places in the container has to be there twice.
    mounted.splice(at, 1)
  }
  return null
}

async function isOf(id: string, pid: number): Promise<boolean> {
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return groups.includes(id)
}

async function mountsOf(process: string): Promise<MountLine[] | undefined> {
  const text = await readFile(`/proc/${process}/mountinfo`, 'utf8').catch(() => undefined)
  return text?.split('\n').flatMap((line) => {
    const [, , device, root, target] = line.split(' ')
    return device && root && target ? [{ device, root: unescape(root), target: unescape(target) }] : []
  })
}

/** Space, tab, line feed and backslash are written as octal numbers. */
const unescape = (text: string) =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

const keyOf = ({ device, root }: Pick<MountLine, 'device' | 'root'>) => `${device} ${root}`

/** Where a path of this process is: of mounts at the same place the last one counts. */
function locate(file: string, mounts: readonly MountLine[]): Pick<MountLine, 'device' | 'root'> | undefined {
  const isAbove = ({ target }: MountLine) => target === '/' || file === target || file.startsWith(`${target}/`)
  const mount = mounts
    .filter(isAbove)
    .reduce<MountLine | undefined>(
      (best, each) => (best && best.target.length > each.target.length ? best : each),
      undefined,
    )
  return mount && { device: mount.device, root: path.join(mount.root, path.relative(mount.target, file)) }
}
